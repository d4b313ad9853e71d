import { html } from "../ui.js";
export const UnknownView = () => html`<h1>unknown</h1>`;
