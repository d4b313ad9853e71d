import { html } from "../ui.js";
export const ImportView = () => html`<h1>import</h1>`;
