/** A whole photo: everybody on it, how sure that is, and what was missed. */

import { useEffect, useState } from "preact/hooks";
import { call, may } from "../api.js";
import { BoxedPicture } from "../boxes.js";
import { base, change, changes, href } from "../state.js";
import { texts } from "../texts.js";
import { dialog, Empty, html, Icon, Name, PersonPicker, RatioBar, Waiting } from "../ui.js";

/** @typedef {{number: number, id: string | null, person: string | null, enrolled: string | null, suggested: string | null, box: number[] | null, log_ratio: number | null, threshold: number | null, promised: boolean | string | null}} PhotoFace */

/** @param {{rest: string[]}} props */
export function PhotoView({ rest }) {
  const id = rest[0] ?? "";
  const [photo, setPhoto] = useState(/** @type {any} */ (undefined));
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  const [drawing, setDrawing] = useState(false);
  useEffect(() => {
    let ended = false;
    call("GET", base(`/faces/${encodeURIComponent(id)}/photo`))
      .then((said) => !ended && setPhoto(said))
      .catch(() => !ended && setPhoto(null));
    return () => {
      ended = true;
    };
  }, [id, changes.value]);
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const press = (event) => event.key === "Escape" && setDrawing(false);
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);

  if (photo === undefined) return html`<${Waiting} />`;
  if (photo === null) {
    return html`<${Empty} title=${texts.photoGone} detail=${texts.photoGoneDetail}><a class="button" href=${href("people")}>${texts.people}</a><//>`;
  }
  const write = may("write");
  /** @param {PhotoFace} face */
  const ask = (face) => {
    dialog.value = () => html`
      <${PersonPicker} title=${texts.nameTitle} verb=${texts.giveName} initial=${face.enrolled ? "" : (face.suggested ?? "")} apart=${face.enrolled ? [face.enrolled] : []}
        onChoose=${(/** @type {string} */ name) =>
          face.id
            ? change(texts.moved(1, name), () => call("POST", base("/faces/move"), { json: { faces: [face.id], person: name } }))
            : change(texts.added(name), () => call("POST", base(`/faces/${id}/photo`), { json: { face: face.number, person: name } }))} />
    `;
  };
  /** @param {number[]} box */
  const drawn = (box) => {
    setDrawing(false);
    dialog.value = () => html`
      <${PersonPicker} title=${texts.nameTitle} verb=${texts.giveName}
        onChoose=${(/** @type {string} */ name) =>
          change(texts.added(name), () => call("POST", base(`/faces/${id}/photo`), { json: { box, person: name } }))} />
    `;
  };
  return html`
    <a class="back" href=${photo.back ? href("person", photo.back) : href("people")}><${Icon} name="back" size=${18} />${texts.back}</a>
    <header class="head">
      <h1><bdi>${photo.name}</bdi></h1>
      ${write && html`<button type="button" aria-pressed=${drawing} class=${drawing ? "primary" : ""} onClick=${() => setDrawing(!drawing)}><${Icon} name="plus" size=${18} />${drawing ? texts.drawing : texts.drawMissed}</button>`}
    </header>
    <div class="split">
      <${BoxedPicture} src=${base(`/faces/${id}/photo.jpg`)} alt=${texts.photoOf(photo.name)} width=${photo.width} height=${photo.height}
        faces=${photo.faces} chosen=${chosen} onChoose=${(/** @type {number} */ k) => { setChosen(k); if (write) ask(photo.faces[k]); }}
        onDraw=${drawing ? drawn : null} />
      <section class="panel">
        <h2>${texts.facesHere}</h2>
        <ul class="rows">
          ${photo.faces.map((/** @type {PhotoFace} */ face, /** @type {number} */ k) => html`
            <li key=${k} onPointerEnter=${() => setChosen(k)}>
              <div class="grow">
                <div class="row entry">
                  <span class="number" aria-hidden="true">${k + 1}</span>
                  <strong class="grow"><${Name} name=${face.person} /></strong>
                  ${write && html`<button type="button" onClick=${() => ask(face)}>${face.id ? texts.reassign : texts.addThis}</button>`}
                </div>
                ${!face.id && html`<div class="row"><span class="pill poor">${texts.notEnrolled}</span>${face.suggested && html`<small>${texts.suggested}: <${Name} name=${face.suggested} /></small>`}</div>`}
                <${RatioBar} ratio=${face.log_ratio} threshold=${face.threshold} />
                ${face.log_ratio !== null && html`<small>${texts.ratioInWords(face.log_ratio, face.threshold)}</small>`}
              </div>
            </li>
          `)}
        </ul>
        ${photo.faces.length === 0 && html`<p>${texts.noFaces}</p>`}
        ${photo.faces[0] && html`<small>${texts.rateInWords(photo.fpir)}. ${texts.promise(photo.faces[0].promised)}</small>`}
      </section>
    </div>
  `;
}
