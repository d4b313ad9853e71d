import { html } from "../ui.js";
export const TryView = () => html`<h1>try</h1>`;
