/** A picture with its faces as boxes and chips. */

import { useRef, useState } from "preact/hooks";
import { texts } from "./texts.js";
import { html, Name } from "./ui.js";

/**
 * @typedef {{box: number[] | null, person: string | null}} BoxedFace where the box is not known, none is drawn
 *
 * @param {{
 *   src: string, alt: string, faces: BoxedFace[], chosen?: number | null, width?: number, height?: number,
 *   onChoose?: (index: number) => void, onDraw?: ((box: number[]) => void) | null,
 * }} props
 */
export function BoxedPicture({ src, alt, faces, chosen = null, width = 0, height = 0, onChoose, onDraw = null }) {
  const [size, setSize] = useState({ width, height });
  const [drawn, setDrawn] = useState(/** @type {number[] | null} */ (null));
  const start = useRef(/** @type {number[] | null} */ (null));
  const frame = useRef(/** @type {HTMLDivElement | null} */ (null));

  /** @param {PointerEvent} event */
  const at = (event) => {
    const area = /** @type {HTMLDivElement} */ (frame.current).getBoundingClientRect();
    return [
      (Math.min(Math.max(event.clientX - area.left, 0), area.width) / area.width) * size.width,
      (Math.min(Math.max(event.clientY - area.top, 0), area.height) / area.height) * size.height,
    ];
  };
  /** From where the drawing began to the pointer. @param {PointerEvent} event */
  const reach = (event) => {
    if (!start.current) return null;
    const [x, y] = at(event);
    const [left, top] = start.current;
    return [Math.min(left, x), Math.min(top, y), Math.abs(x - left), Math.abs(y - top)];
  };
  /** @param {number[]} box */
  const where = ([left, top, across, down]) => ({
    left: `${(100 * left) / size.width}%`, top: `${(100 * top) / size.height}%`,
    width: `${(100 * across) / size.width}%`, height: `${(100 * down) / size.height}%`,
  });
  /** Names near an edge stand on the other side of their box, so that they can be read. @param {number[]} box */
  const side = ([left, top, across, down]) =>
    `${left + across / 2 > 0.6 * size.width ? "from-right" : ""} ${top + down > 0.88 * size.height && top > 0.12 * size.height ? "above" : ""}`;
  return html`
    <div ref=${frame} class=${`picture ${onDraw ? "drawing" : ""}`}
      onPointerDown=${(/** @type {PointerEvent} */ event) => {
        if (!onDraw) return;
        event.preventDefault();
        frame.current?.setPointerCapture(event.pointerId);
        start.current = at(event);
      }}
      onPointerMove=${(/** @type {PointerEvent} */ event) => {
        if (start.current) setDrawn(reach(event));
      }}
      onPointerUp=${(/** @type {PointerEvent} */ event) => {
        const box = reach(event);
        if (box && box[2] > 8 && box[3] > 8) onDraw?.(box);
        start.current = null;
        setDrawn(null);
      }}>
      <img src=${src} alt=${alt} draggable=${false}
        onLoad=${(/** @type {Event} */ event) => {
          const image = /** @type {HTMLImageElement} */ (event.target);
          if (!width) setSize({ width: image.naturalWidth, height: image.naturalHeight });
        }} />
      ${size.width > 0 && faces.map((face, k) => face.box && html`
        <button key=${k} type="button" class=${`box ${face.person === null ? "unknown" : ""} ${side(face.box)}`} style=${where(face.box)}
          aria-pressed=${chosen === k} aria-label=${`${texts.person} ${k + 1}: ${face.person ?? texts.unknown}`}
          onClick=${() => !onDraw && onChoose?.(k)}>
          <span class="chip"><span class="number">${k + 1}</span><span class="name"><${Name} name=${face.person} /></span></span>
        </button>
      `)}
      ${drawn && html`<div class="box" style=${where(drawn)}></div>`}
    </div>
  `;
}
