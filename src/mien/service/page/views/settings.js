/** Galleries, keys, rates, jobs, the trail and what is kept how long. */

import { useEffect, useState } from "preact/hooks";
import { call, may, signOut } from "../api.js";
import { base, change, changes, chooseGallery, galleries, gallery, readGalleries, say, trying } from "../state.js";
import { texts } from "../texts.js";
import { closeDialog, Confirm, Dialog, dialog, html, Icon, Waiting } from "../ui.js";
import { Jobs, KeepPictures } from "./import.js";

/** @param {{text: string}} props */
const Copied = ({ text }) => html`
  <div class="row">
    <code class="grow secret">${text}</code>
    <button type="button" onClick=${() => navigator.clipboard?.writeText(text).then(() => say(texts.copied)).catch(() => null)}>${texts.copy}</button>
  </div>
`;

/** Show something once. @param {string} title @param {string} detail @param {string} text */
function showOnce(title, detail, text) {
  dialog.value = () => html`<${Dialog} title=${title} onClose=${closeDialog}><p>${detail}</p><${Copied} text=${text} /><//>`;
}

function Galleries() {
  const [name, setName] = useState("");
  return html`
    <section class="panel">
      <h2>${texts.galleries}</h2>
      <ul class="rows">
        ${galleries.value?.map((one) => html`
          <li key=${one.name}>
            <span class="grow"><strong>${one.name}</strong><br /><small>${texts.nPeople(one.people)} · ${texts.engine} ${one.engine ?? "–"}${one.sealed ? ` · ${texts.sealed}` : ""}</small></span>
            ${one.name === gallery.value ? html`<span class="pill good">${texts.inUse}</span>` : html`<button type="button" onClick=${() => chooseGallery(one.name)}>${texts.open}</button>`}
          </li>
        `)}
      </ul>
      ${may("admin") && html`
        <form class="inline" onSubmit=${async (/** @type {Event} */ event) => {
          event.preventDefault();
          const done = await trying(() => call("POST", "/v1/galleries", { json: { name: name.trim() } }));
          if (!done) return;
          say(texts.galleryMade(name.trim()));
          await readGalleries();
          chooseGallery(name.trim());
          setName("");
        }}>
          <label class="field"><span>${texts.newGallery}</span><input type="text" value=${name} pattern="[A-Za-z0-9][A-Za-z0-9._\\-]{0,63}" onInput=${(/** @type {any} */ event) => setName(event.target.value)} /></label>
          <button disabled=${!name.trim()}>${texts.make}</button>
        </form>
      `}
    </section>
  `;
}

function Keys() {
  const [keys, setKeys] = useState(/** @type {any[] | null} */ (null));
  const [role, setRole] = useState("read");
  const [label, setLabel] = useState("");
  const [place, setPlace] = useState("*");
  const several = (galleries.value?.length ?? 0) > 1;
  const read = () => trying(() => call("GET", "/v1/keys")).then((said) => said && setKeys(said));
  useEffect(() => {
    read();
  }, []);
  return html`
    <section class="panel">
      <h2>${texts.keys}</h2>
      <p>${texts.keysDetail}</p>
      <ul class="rows">
        ${keys?.map((one) => html`
          <li key=${one.id}>
            <span class="grow"><bdi>${one.label || one.id}</bdi><br /><small>${one.role} · ${one.gallery} · ${texts.day(one.created)}</small></span>
            ${one.revoked || (one.expires && 1000 * one.expires < Date.now()) ? html`<span class="pill">${texts.revoked}</span>` : html`
              <button type="button" class="quiet" onClick=${() => trying(() => call("DELETE", `/v1/keys/${one.id}`)).then(() => { say(texts.keyRevoked); read(); })}>${texts.revoke}</button>
            `}
          </li>
        `)}
      </ul>
      <form class="inline" onSubmit=${async (/** @type {Event} */ event) => {
        event.preventDefault();
        const made = await trying(() => call("POST", "/v1/keys", { json: { role, label, gallery: place } }));
        if (!made) return;
        showOnce(texts.newKey, texts.keyShown, made.key);
        setLabel("");
        read();
      }}>
        <label class="field"><span>${texts.label}</span><input type="text" maxlength="200" value=${label} onInput=${(/** @type {any} */ event) => setLabel(event.target.value)} /></label>
        <label class="field"><span>${texts.role}</span>
          <select value=${role} onChange=${(/** @type {any} */ event) => setRole(event.target.value)}>
            <option value="read">${texts.roleRead}</option><option value="write">${texts.roleWrite}</option><option value="admin">${texts.roleAdmin}</option>
          </select>
        </label>
        ${several && html`
          <label class="field"><span>${texts.keyFor}</span>
            <select value=${place} onChange=${(/** @type {any} */ event) => setPlace(event.target.value)}>
              <option value="*">${texts.allGalleries}</option>
              ${galleries.value?.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}
            </select>
          </label>
        `}
        <button>${texts.newKey}</button>
      </form>
      <div class="row">
        <button type="button" onClick=${async () => {
          const made = await trying(() => call("POST", "/v1/session/links"));
          if (made) showOnce(texts.deviceLink, texts.deviceLinkDetail, `${location.origin}/#link=${made.link}`);
        }}><${Icon} name="key" size=${18} />${texts.deviceLink}</button>
        <button type="button" class="quiet" onClick=${signOut}>${texts.signOut}</button>
      </div>
    </section>
  `;
}

function Rates() {
  const [said, setSaid] = useState(/** @type {any} */ (null));
  useEffect(() => {
    setSaid(null);
    trying(() => call("GET", base("/rates"))).then((found) => found && setSaid(found));
  }, [gallery.value, changes.value]);
  return html`
    <section class="panel">
      <h2>${texts.rates}</h2>
      <p>${texts.ratesDetail}</p>
      ${!said && html`<${Waiting} />`}
      <ul class="rows">
        ${said?.rates.map((/** @type {any} */ one) => html`
          <li key=${one.fpir}>
            <span class="grow"><strong>${texts.rateInWords(one.fpir)}</strong><br /><small>${one.missed === null ? texts.ratesUnknown : texts.ratesCost(one.missed)}. ${texts.promise(one.promised)}</small></span>
            ${one.fpir === said.fpir && html`<span class="pill good">${texts.inUse}</span>`}
          </li>
        `)}
      </ul>
      <small>${texts.rateChange}</small> <code>mien serve --fpir 0.001</code>
    </section>
  `;
}

function Retention() {
  const [due, setDue] = useState(/** @type {any[]} */ ([]));
  const read = () => call("GET", base("/retention")).then((said) => setDue(said.due)).catch(() => null);
  useEffect(() => {
    read();
  }, [gallery.value, changes.value]);
  return html`
    <section class="panel">
      <h2>${texts.retention}</h2>
      <p>${due.length ? texts.retentionDetail : texts.retentionNone}</p>
      <${KeepPictures} />
      ${due.length > 0 && html`
        <ul class="rows short">${due.map((one) => html`<li key=${one.id}><span class="grow"><bdi>${one.name}</bdi></span><small>${texts.keptUntil(one.until)}</small></li>`)}</ul>
        <div><button type="button" class="danger" onClick=${() => {
          dialog.value = () => html`
            <${Confirm} title=${texts.purge(due.length)} verb=${texts.deleteForGood}
              onYes=${() => change(texts.purged, async () => { for (const one of due) await call("DELETE", base(`/people/${one.id}`)); }, { final: true }).then(read)}>
              <p>${texts.deleteLeaves}</p>
            <//>
          `;
        }}>${texts.purge(due.length)}</button></div>
      `}
    </section>
  `;
}

function Audit() {
  const [entries, setEntries] = useState(/** @type {any[] | null} */ (null));
  useEffect(() => {
    call("GET", base("/audit"), { query: { limit: 100 } }).then((said) => setEntries(said.entries)).catch(() => setEntries([]));
  }, [gallery.value, changes.value]);
  return html`
    <section class="panel">
      <h2>${texts.audit}</h2>
      <p>${entries?.length === 0 ? texts.noAudit : texts.auditDetail}</p>
      ${!entries && html`<${Waiting} />`}
      <ul class="rows short" tabindex="0" aria-label=${texts.audit}>
        ${entries?.map((one, k) => html`<li key=${k}><span class="grow">${texts.auditLine(one.action, one.people, one.faces)}</span><small>${texts.moment(one.time)}</small></li>`)}
      </ul>
    </section>
  `;
}

export function SettingsView() {
  const admin = may("admin");
  return html`
    <header class="head"><h1>${texts.settings}</h1></header>
    <div class="panels">
      <${Galleries} />
      ${gallery.value && html`<${Rates} />`}
      ${admin && html`<${Keys} />`}
      ${gallery.value && html`<${Retention} /><${Audit} /><${Jobs} />`}
    </div>
  `;
}
