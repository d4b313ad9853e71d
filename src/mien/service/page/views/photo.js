import { html } from "../ui.js";
export const PhotoView = () => html`<h1>photo</h1>`;
