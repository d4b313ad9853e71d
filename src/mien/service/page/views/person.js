/** One person: all faces, what may be wrong with them, and what can be done about it. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { call, may } from "../api.js";
import { base, change, changes, go, hidden, href, isUnnamed, people, trying } from "../state.js";
import { texts } from "../texts.js";
import {
  Choice, Confirm, dialog, Empty, FacePicture, html, Icon, PersonPicker, Portrait, RatioBar, VirtualGrid, Waiting,
} from "../ui.js";
import { askMerge, askName, setHidden } from "./people.js";
import { PersonTerms } from "./terms.js";

/**
 * @typedef {import("../state.js").Person} Person
 * @typedef {import("../state.js").Face & {log_ratio?: number | null}} Face
 */

/**
 * All faces of a person, with what the other faces of the same person say about each.
 * @param {number} id @param {string | undefined} name
 */
function useFaces(id, name) {
  const [faces, setFaces] = useState(/** @type {Face[] | null} */ (null));
  const [threshold, setThreshold] = useState(/** @type {number | null} */ (null));
  useEffect(() => {
    let ended = false;
    const read = async () => {
      /** @type {Face[]} */
      let found = [];
      /** @type {string | null} */
      let cursor = null;
      const doubts = call("GET", base(`/people/${id}/doubts`)).catch(() => null);
      do {
        const page = await trying(() => call("GET", base("/faces"), { query: { person: id, limit: 1000, cursor } }));
        if (!page || ended) return;
        found = found.concat(page.faces);
        cursor = page.cursor;
      } while (cursor);
      const said = await doubts;
      if (ended) return;
      const ratios = new Map((said?.faces ?? []).map((/** @type {any} */ one) => [one.id, one.log_ratio]));
      setThreshold(said?.threshold ?? null);
      setFaces(found.map((one) => ({ ...one, log_ratio: ratios.get(one.id) ?? null })));
    };
    if (name !== undefined) read();
    return () => {
      ended = true;
    };
  }, [id, name, changes.value]);
  return { faces, threshold };
}

/** @param {{rest: string[]}} props */
export function PersonView({ rest }) {
  const id = Number(rest[0]);
  const person = people.value?.find((one) => one.id === id);
  const { faces, threshold } = useFaces(id, person?.name);
  const [order, setOrder] = useState("doubt");
  const [whole, setWhole] = useState("heads");
  const [chosen, setChosen] = useState(/** @type {Set<string>} */ (new Set()));
  const [anchor, setAnchor] = useState(0);
  const shown = useMemo(() => {
    const list = [...(faces ?? [])];
    if (order === "doubt") list.sort((a, b) => (a.log_ratio ?? 1e9) - (b.log_ratio ?? 1e9));
    else list.sort((a, b) => b.added - a.added);
    return list;
  }, [faces, order]);

  if (!person) {
    return html`
      <${Empty} title=${texts.noPerson} detail=${texts.noPersonDetail}><a class="button" href=${href("people")}>${texts.people}</a><//>
    `;
  }
  const write = may("write");
  const selected = shown.filter((one) => chosen.has(one.id));

  /** @param {Face} face @param {number} index @param {boolean} range */
  const toggle = (face, index, range) => {
    const next = new Set(chosen);
    if (range) {
      for (const one of shown.slice(Math.min(anchor, index), Math.max(anchor, index) + 1)) next.add(one.id);
    } else {
      if (!next.delete(face.id)) next.add(face.id);
      setAnchor(index);
    }
    setChosen(next);
  };
  /**
   * Do the same to all chosen faces, as one change.
   * @param {string} text @param {(ids: string[]) => Promise<unknown>} act @param {boolean} [final]
   */
  const withChosen = async (text, act, final = false) => {
    const everything = selected.length === faces?.length;
    const done = await change(text, () => act(selected.map((one) => one.id)), { final });
    if (!done) return;
    setChosen(new Set());
    if (everything) go("people");
  };
  const askMove = () => {
    dialog.value = () => html`
      <${PersonPicker} title=${texts.moveTitle(selected.length)} verb=${texts.move} apart=${[person.name]}
        onChoose=${(/** @type {string} */ to) =>
          withChosen(texts.moved(selected.length, to), (ids) => call("POST", base("/faces/move"), { json: { faces: ids, person: to } }))} />
    `;
  };
  const notThisPerson = () =>
    withChosen(texts.takenOut(selected.length, person.name), (ids) =>
      call("POST", base(`/people/${id}/not`), { json: { faces: ids } }));
  const notAFace = () =>
    withChosen(texts.notFaces(selected.length), (ids) => call("POST", base("/faces/not-a-face"), { json: { faces: ids } }));
  const askDelete = () => {
    dialog.value = () => html`
      <${Confirm} title=${texts.deleteTitle(person.name)} verb=${texts.deleteForGood}
        onYes=${async () => {
          const done = await change(texts.deleted(person.name), () => call("DELETE", base(`/people/${id}`)), { final: true });
          if (done) go("people");
        }}>
        <p>${texts.deleteErases(person.faces)}</p>
        <p><small>${texts.deleteLeaves}</small></p>
      <//>
    `;
  };
  const askDeleteFaces = () => {
    dialog.value = () => html`
      <${Confirm} title=${texts.deleteFacesTitle(selected.length)} verb=${texts.deleteForGood}
        onYes=${() => withChosen(texts.facesDeleted(selected.length), async (ids) => {
          for (const one of ids) await call("DELETE", base(`/faces/${one}`));
        }, true)}>
        <p>${texts.deleteFacesDetail}</p>
      <//>
    `;
  };
  const away = hidden.value.has(id);
  const unnamed = isUnnamed(person.name);
  return html`
    <a class="back" href=${href(unnamed ? "unknown" : "people")}><${Icon} name="back" size=${18} />${unnamed ? texts.unknownPeople : texts.people}</a>
    <div class="profile">
      <${Portrait} person=${person} />
      <div class="grow">
        <h1>
          <button type="button" class="name" disabled=${!write} title=${texts.rename} onClick=${() => askName(person, { onDone: () => backIfGone(id) })}>
            ${unnamed ? texts.addName : html`<bdi>${person.name}</bdi>`}
          </button>
        </h1>
        <small>${texts.nFaces(person.faces)} · ${texts.since(person.added)}${away ? ` · ${texts.hidden}` : ""}</small>
      </div>
      ${write && html`
        <div class="actions">
          <button type="button" onClick=${() => askMerge(person)}><${Icon} name="merge" size=${18} />${texts.merge}</button>
          <button type="button" onClick=${() => setHidden(person, !away)}><${Icon} name=${away ? "eye" : "hide"} size=${18} />${away ? texts.show : texts.hide}</button>
          <button type="button" class="danger" onClick=${askDelete}><${Icon} name="trash" size=${18} />${texts.delete}</button>
        </div>
      `}
    </div>
    <${PersonTerms} person=${person} />
    <div class="tools">
      <${Choice} label=${texts.order} value=${order} onChange=${setOrder} choices=${[["doubt", texts.doubtFirst], ["date", texts.newestFirst]]} />
      <${Choice} label=${texts.pictures} value=${whole} onChange=${setWhole} choices=${[["heads", texts.heads], ["photos", texts.wholePhotos]]} />
      <span class="grow"></span>
      ${write && html`<small class="hint wide-only">${texts.facesHint}</small>`}
    </div>
    ${write && selected.length > 0 && html`
      <div class="bar" role="toolbar" aria-label=${texts.withSelected}>
        <strong>${texts.nSelected(selected.length)}</strong>
        <button type="button" class="primary" onClick=${askMove}>${texts.moveTo}</button>
        <button type="button" onClick=${notThisPerson}>${texts.notThisPerson}</button>
        <button type="button" onClick=${notAFace}>${texts.notAFace}</button>
        <button type="button" class="danger" onClick=${askDeleteFaces}>${texts.delete}</button>
        <button type="button" class="quiet" onClick=${() => setChosen(new Set())}>${texts.clear}</button>
      </div>
    `}
    ${faces === null ? html`<${Waiting} />` : html`
      <${VirtualGrid} items=${shown} itemKey=${(/** @type {Face} */ one) => one.id} label=${texts.facesOf(person.name)}
        minWidth=${whole === "heads" ? 124 : 220} extra=${26} gap=${16}
        onKey=${(/** @type {KeyboardEvent} */ event) => {
          if (!write) return;
          if (event.key === "a" && (event.ctrlKey || event.metaKey)) setChosen(new Set(shown.map((one) => one.id)));
          else if (event.key === "Escape") setChosen(new Set());
          else if (event.key === "m" && selected.length) askMove();
          else return;
          event.preventDefault();
        }}
        render=${(/** @type {Face} */ face, /** @type {number} */ index, /** @type {boolean} */ focusable) => html`
          <button type="button" class="face" tabIndex=${focusable ? 0 : -1} aria-pressed=${chosen.has(face.id)}
            aria-label=${texts.faceLabel(index + 1, face.picture, face.log_ratio ?? null, threshold)}
            onDblClick=${() => face.picture && go("photo", face.id)}
            onClick=${(/** @type {MouseEvent} */ event) => {
              if (whole === "photos" && !event.shiftKey && !event.ctrlKey && !event.metaKey) go("photo", face.id);
              else if (write) toggle(face, index, event.shiftKey);
            }}>
            <${FacePicture} id=${face.id} whole=${whole === "photos"} />
            <span class="tick"><${Icon} name="review" size=${14} /></span>
            ${(face.log_ratio ?? null) !== null && html`<${RatioBar} ratio=${face.log_ratio} threshold=${threshold} label=${texts.fits} />`}
          </button>
        `} />
    `}
  `;
}

/** After a name that joined this person to another, there is nobody here any more. @param {number} id */
function backIfGone(id) {
  if (!people.value?.some((one) => one.id === id)) go("people");
}

