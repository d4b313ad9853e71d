import { html } from "../ui.js";
/** @param {{person: import("../state.js").Person}} _ */
export const PersonTerms = (_) => html``;
