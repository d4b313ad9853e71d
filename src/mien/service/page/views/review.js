import { html } from "../ui.js";
export const ReviewView = () => html`<h1>review</h1>`;
