/** What a person agreed to, and until when their faces are kept. */

import { useEffect, useState } from "preact/hooks";
import { call, may } from "../api.js";
import { base, change, changes } from "../state.js";
import { texts } from "../texts.js";
import { html } from "../ui.js";

/** @typedef {import("../state.js").Person} Person */

/** @param {{person: Person}} props */
export function PersonTerms({ person }) {
  const [terms, setTerms] = useState(/** @type {any} */ (null));
  const [purpose, setPurpose] = useState("");
  const [until, setUntil] = useState("");
  useEffect(() => {
    call("GET", base(`/people/${person.id}/terms`))
      .then((said) => {
        setTerms(said);
        setPurpose(said.consent?.purpose ?? "");
        setUntil(said.retain_until ? new Date(1000 * said.retain_until).toISOString().slice(0, 10) : "");
      })
      .catch(() => null);
  }, [person.id, changes.value]);
  if (!terms) return null;
  const write = may("write");
  /** @param {string} text @param {unknown} json */
  const save = (text, json) => change(text, () => call("PATCH", base(`/people/${person.id}/terms`), { json }));
  const given = terms.consent ? texts.consentGiven(terms.consent.given) : texts.consentNone;
  const kept = terms.retain_until ? texts.keptUntil(terms.retain_until) : texts.keepForever;
  return html`
    <details class="terms">
      <summary>${texts.consent}: ${given}. ${kept}.</summary>
      <div class="panels">
        <form class="inline" onSubmit=${(/** @type {Event} */ event) => {
          event.preventDefault();
          save(texts.consentSaved, { consent: purpose.trim() ? { purpose: purpose.trim(), text: texts.consentBy } : null });
        }}>
          <label class="field"><span>${texts.consentNote}</span><input type="text" maxlength="1000" value=${purpose} disabled=${!write} onInput=${(/** @type {any} */ event) => setPurpose(event.target.value)} /></label>
          <button disabled=${!write}>${texts.consentSave}</button>
        </form>
        <form class="inline" onSubmit=${(/** @type {Event} */ event) => {
          event.preventDefault();
          save(texts.keepSaved, { retain_until: until ? Date.parse(until) / 1000 : null });
        }}>
          <label class="field"><span>${texts.keepUntil}</span><input type="date" value=${until} disabled=${!write} onInput=${(/** @type {any} */ event) => setUntil(event.target.value)} /></label>
          <button disabled=${!write}>${texts.keepSave}</button>
        </form>
      </div>
    </details>
  `;
}
