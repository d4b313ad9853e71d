/** Everybody: faces, names, counts; search, hide, merge. */

import { useMemo, useState } from "preact/hooks";
import { call, may } from "../api.js";
import { base, change, go, hidden, href, keepPictures, named, policy } from "../state.js";
import { texts } from "../texts.js";
import { Choice, dialog, Empty, html, Icon, PersonPicker, Portrait, useKeys, VirtualGrid } from "../ui.js";

/** @typedef {import("../state.js").Person} Person */

/** @param {Person} person @param {Person} into */
export const merge = (person, into) =>
  change(texts.merged(person.name, into.name), () =>
    call("POST", base(`/people/${person.id}/merge`), { json: { into: into.id } }));

/** @param {Person} person */
export function askMerge(person) {
  dialog.value = () => html`
    <${PersonPicker} title=${texts.mergeTitle(person.name)} verb=${texts.merge} apart=${[person.name]} allowNew=${false}
      onChoose=${(/** @type {string} */ _, /** @type {Person | null} */ into) => into && merge(person, into)} />
  `;
}

/** @param {Person} person @param {boolean} hide */
export const setHidden = (person, hide) =>
  change(hide ? texts.wasHidden(person.name) : texts.isShown(person.name), () =>
    call("PUT", base(`/people/${person.id}/hidden`), { json: { hidden: hide } }));

/** @param {Person} person @param {{onDone?: () => void}} [options] */
export function askName(person, { onDone } = {}) {
  dialog.value = () => html`
    <${PersonPicker} title=${texts.nameTitle} verb=${texts.giveName} apart=${[person.name]}
      onChoose=${async (/** @type {string} */ name, /** @type {Person | null} */ other) => {
        if (other) await merge(person, other);
        else {
          await change(texts.named(name), () => call("PATCH", base(`/people/${person.id}`), { json: { name } }));
        }
        onDone?.();
      }} />
  `;
}

/** @type {Record<string, (a: Person, b: Person) => number>} */
const ORDERS = {
  name: () => 0,
  count: (a, b) => b.faces - a.faces,
  newest: (a, b) => b.added - a.added,
};

let lastSearch = "";
let lastOrder = "name";

export function PeopleView() {
  const [search, setSearchText] = useState(lastSearch);
  const [order, setOrderName] = useState(lastOrder);
  const [showHidden, setShowHidden] = useState(false);
  const [dragged, setDragged] = useState(/** @type {Person | null} */ (null));
  const [over, setOver] = useState(/** @type {number | null} */ (null));
  const [doubts, setDoubts] = useState(/** @type {Map<number, number> | null} */ (null));
  const everybody = named.value;
  const away = hidden.value;
  /** @param {string} text */
  const setSearch = (text) => setSearchText((lastSearch = text));
  /** @param {string} name */
  const setOrder = async (name) => {
    setOrderName((lastOrder = name));
    if (name === "doubt") {
      const said = await call("GET", base("/doubts")).catch(() => null);
      if (said) setDoubts(new Map(said.people.map((/** @type {any} */ one) => [one.id, one.log_ratio ?? Infinity])));
    }
  };
  const shown = useMemo(() => {
    const wanted = search.trim().toLocaleLowerCase();
    const found = everybody.filter(
      (one) => (showHidden || !away.has(one.id)) && (!wanted || one.name.toLocaleLowerCase().includes(wanted)),
    );
    if (order === "doubt") {
      return found.sort((a, b) => (doubts?.get(a.id) ?? Infinity) - (doubts?.get(b.id) ?? Infinity));
    }
    return order === "name" ? found : found.sort(ORDERS[order]);
  }, [everybody, away, search, order, showHidden, doubts]);

  useKeys((event) => {
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("search")?.focus();
    }
  });

  if (!everybody.length) {
    return html`
      <${Empty} title=${texts.nobody} detail=${texts.nobodyDetail}>
        <a class="button primary" href=${href("import")}>${texts.import}</a>
      <//>
    `;
  }
  const write = may("write");
  return html`
    <header class="head">
      <h1>${texts.people} <small>${texts.count(everybody.length)}</small></h1>
      <label class="search">
        <${Icon} name="search" />
        <input id="search" type="search" placeholder=${texts.searchPeople} aria-label=${texts.searchPeople} value=${search}
          onInput=${(/** @type {InputEvent} */ event) => setSearch(/** @type {HTMLInputElement} */ (event.target).value)}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
            if (event.key === "Enter" && shown.length) go("person", shown[0].id);
          }} />
      </label>
    </header>
    <div class="tools">
      <${Choice} label=${texts.order} value=${order} onChange=${setOrder}
        choices=${[["name", texts.byName], ["count", texts.byCount], ["newest", texts.byNewest], ["doubt", texts.byDoubt]]} />
      ${away.size > 0 && html`
        <label class="check"><input type="checkbox" checked=${showHidden} onChange=${() => setShowHidden(!showHidden)} /> ${texts.showHidden(away.size)}</label>
      `}
      <span class="grow"></span>
      ${write && html`<small class="hint wide-only">${texts.peopleHint}</small>`}
    </div>
    ${policy.value?.thumbnails === false && may("admin") && html`
      <div class="panel row note">
        <span class="grow">${texts.picturesMissing}</span>
        <button type="button" onClick=${() => keepPictures(true)}>${texts.picturesKeep}</button>
      </div>
    `}
    ${shown.length === 0 && html`<p class="quiet-note">${texts.nothingFound}</p>`}
    <${VirtualGrid} items=${shown} itemKey=${(/** @type {Person} */ one) => one.id} label=${texts.people} minWidth=${148} extra=${54}
      onKey=${(/** @type {KeyboardEvent} */ event, /** @type {Person} */ person) => {
        if (!write || event.ctrlKey || event.metaKey || event.altKey) return;
        const act = { m: () => askMerge(person), h: () => setHidden(person, !away.has(person.id)), r: () => askName(person) }[event.key];
        if (act) {
          event.preventDefault();
          act();
        }
      }}
      render=${(/** @type {Person} */ person, /** @type {number} */ _, /** @type {boolean} */ focusable) => html`
        <a class=${`card ${away.has(person.id) ? "away" : ""} ${over === person.id ? "over" : ""}`} href=${href("person", person.id)}
          tabIndex=${focusable ? 0 : -1} draggable=${write}
          onDragStart=${(/** @type {DragEvent} */ event) => {
            event.dataTransfer?.setData("text/plain", String(person.id));
            setDragged(person);
          }}
          onDragEnd=${() => { setDragged(null); setOver(null); }}
          onDragOver=${(/** @type {DragEvent} */ event) => {
            if (!dragged || dragged.id === person.id) return;
            event.preventDefault();
            setOver(person.id);
          }}
          onDragLeave=${() => setOver((before) => (before === person.id ? null : before))}
          onDrop=${(/** @type {DragEvent} */ event) => {
            event.preventDefault();
            setOver(null);
            if (dragged && dragged.id !== person.id) merge(dragged, person);
            setDragged(null);
          }}>
          <${Portrait} person=${person} />
          <strong><bdi>${person.name}</bdi></strong>
          <small>${order === "doubt" && doubts ? texts.doubtOf(doubts.get(person.id)) : texts.nFaces(person.faces)}</small>
          ${away.has(person.id) && html`<span class="corner-mark"><${Icon} name="hide" size=${16} /><span class="visually-hidden">${texts.hidden}</span></span>`}
        </a>
      `} />
  `;
}

