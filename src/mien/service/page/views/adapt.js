/** What adapting to the people of the gallery would change, before it is accepted. */

import { useState } from "preact/hooks";
import { call } from "../api.js";
import { base, change, trying } from "../state.js";
import { texts } from "../texts.js";
import { html } from "../ui.js";

/** @param {{answered: number}} props */
export function AdaptPanel({ answered }) {
  const [said, setSaid] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const attempt = async () => {
    setBusy(true);
    const found = await trying(() => call("POST", base("/adaptation")));
    setBusy(false);
    if (found) setSaid(found);
  };
  const accept = () =>
    change(texts.adaptAccepted, () => call("PUT", base("/adaptation"), { json: { token: said.token } }), { back: () => call("DELETE", base("/adaptation")) })
      .then((done) => done && setSaid(null));
  return html`
    <section class="panel">
      <h2>${texts.adaptTitle}</h2>
      <p>${texts.adaptDetail}</p>
      ${said && html`
        <table class="numbers">
          <thead><tr><td></td><th scope="col">${texts.adaptBefore}</th><th scope="col">${texts.adaptAfter}</th></tr></thead>
          <tbody>${said.rows.map((/** @type {any} */ row) => html`<tr key=${row.name}><th scope="row">${row.name}</th><td>${row.before}</td><td>${row.after}</td></tr>`)}</tbody>
        </table>
        ${said.warnings.map((/** @type {string} */ one) => html`<p key=${one}>${one}</p>`)}
      `}
      <div class="row">
        <button type="button" disabled=${busy} class=${answered > 0 && !said ? "primary" : ""} onClick=${attempt}>${busy ? texts.loading : texts.adaptTry}</button>
        ${said?.token && html`<button type="button" class="primary" onClick=${accept}>${texts.adaptAccept}</button>`}
      </div>
    </section>
  `;
}
