/** Strangers who come again: name them all at once, or ignore them for good. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { call, may } from "../api.js";
import { base, change, changes, hidden, href, named, unnamed } from "../state.js";
import { texts } from "../texts.js";
import { Empty, FacePicture, html } from "../ui.js";
import { askName } from "./people.js";

/** @typedef {import("../state.js").Person} Person */

const PAGE = 60;
const SHOWN = 4;

/** @param {{person: Person}} props */
function Group({ person }) {
  const [faces, setFaces] = useState(/** @type {string[] | null} */ (null));
  useEffect(() => {
    let ended = false;
    call("GET", base("/faces"), { query: { person: person.id, limit: SHOWN } })
      .then((page) => !ended && setFaces(page.faces.map((/** @type {any} */ one) => one.id)))
      .catch(() => null);
    return () => {
      ended = true;
    };
  }, [person.id, changes.value]);
  const away = hidden.value.has(person.id);
  return html`
    <li class="group">
      <a class="strip" href=${href("person", person.id)} aria-label=${`${texts.allFaces}, ${texts.nFaces(person.faces)}`}>
        ${faces === null
          ? Array.from({ length: Math.min(person.faces, SHOWN) }, (_, k) => html`<span key=${k} class="portrait"></span>`)
          : faces.map((id) => html`<${FacePicture} key=${id} id=${id} />`)}
      </a>
      <div class="row">
        <strong class="grow">${texts.nFaces(person.faces)}</strong>
        ${away && html`<span class="pill">${texts.ignoredPill}</span>`}
        ${may("write") && html`
          <button type="button" class="quiet" onClick=${() =>
            change(away ? texts.isShown(person.name) : texts.ignored(person.faces), () =>
              call("PUT", base(`/people/${person.id}/hidden`), { json: { hidden: !away } }))}>
            ${away ? texts.stopIgnoring : texts.ignore}
          </button>
          <button type="button" class="primary" onClick=${() => askName(person)}>${texts.whoIs}</button>
        `}
      </div>
    </li>
  `;
}

export function UnknownView() {
  const [singles, setSingles] = useState(false);
  const [ignored, setIgnored] = useState(false);
  const [most, setMost] = useState(PAGE);
  const everybody = unnamed.value;
  const away = hidden.value;
  const shown = useMemo(
    () =>
      everybody
        .filter((one) => (ignored || !away.has(one.id)) && (singles || one.faces > 1))
        .sort((a, b) => b.faces - a.faces),
    [everybody, away, singles, ignored],
  );
  const nSingle = everybody.filter((one) => one.faces <= 1 && !away.has(one.id)).length;
  const nIgnored = everybody.filter((one) => away.has(one.id)).length;
  return html`
    <header class="head"><h1>${texts.unknownPeople} <small>${texts.count(shown.length)}</small></h1></header>
    <div class="tools">
      <small>${texts.unknownHint}</small>
      <span class="grow"></span>
      ${nSingle > 0 && html`<label class="check"><input type="checkbox" checked=${singles} onChange=${() => setSingles(!singles)} /> ${texts.showSingles(nSingle)}</label>`}
      ${nIgnored > 0 && html`<label class="check"><input type="checkbox" checked=${ignored} onChange=${() => setIgnored(!ignored)} /> ${texts.showIgnored(nIgnored)}</label>`}
    </div>
    ${shown.length === 0
      ? everybody.length + named.value.length
        ? html`<${Empty} title=${texts.nobodyUnknown} detail=${texts.nobodyUnknownDetail} />`
        : html`<${Empty} title=${texts.nobody} detail=${texts.nobodyYet}><a class="button primary" href=${href("import")}>${texts.import}</a><//>`
      : html`
          <ul class="groups rows-plain">${shown.slice(0, most).map((person) => html`<${Group} key=${person.id} person=${person} />`)}</ul>
          ${shown.length > most && html`<p class="center"><button type="button" onClick=${() => setMost(most + PAGE)}>${texts.more}</button></p>`}
        `}
  `;
}
