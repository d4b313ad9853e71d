/** Where a session has ended or never began. */

import { useState } from "preact/hooks";
import { signIn } from "../api.js";
import { trying } from "../state.js";
import { texts } from "../texts.js";
import { html } from "../ui.js";

export function SignInView() {
  const [key, setKey] = useState("");
  return html`
    <main class="signin" id="main" tabindex="-1">
      <form onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        trying(() => signIn({ key: key.trim() }));
      }}>
        <img src="/page/icon.svg" alt="" width="56" height="56" />
        <h1>${texts.signIn}</h1>
        <p>${texts.signInDetail}</p>
        <label class="field">
          <span>${texts.key}</span>
          <input type="password" autocomplete="current-password" value=${key} required
            onInput=${(/** @type {InputEvent} */ event) => setKey(/** @type {HTMLInputElement} */ (event.target).value)} />
        </label>
        <button class="primary" disabled=${!key.trim()}>${texts.signInVerb}</button>
        <p><small>${texts.signInHint}</small> <code>mien keys link</code></p>
      </form>
    </main>
  `;
}
