import { html } from "../ui.js";
export const SettingsView = () => html`<h1>settings</h1>`;
