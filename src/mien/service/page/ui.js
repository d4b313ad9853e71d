/** Pieces that the views share. */

import { h } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import htm from "htm";
import { address } from "./api.js";
import { base, changes, forget, isUnnamed, named, toasts } from "./state.js";
import { texts } from "./texts.js";

/** @typedef {import("./state.js").Person} Person */

export const html = htm.bind(h);

const ICONS = {
  people: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7 9c.6-4 3.400-6 7-6s6.400 2 7 6M16 3.500a4 4 0 0 1 0 7M18.500 14.500c2 .8 3.200 2.600 3.500 5.500",
  review: "M4 12.500 9 17.500 20 6.500",
  unknown: "M9 9a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1.200-1.500 2.400M12 17.500v.1M12 22a10 10 0 1 0 0-20 10 10 0 0 0 0 20Z",
  try: "M4 8.500V6a2 2 0 0 1 2-2h2.500M15.500 4H18a2 2 0 0 1 2 2v2.500M20 15.500V18a2 2 0 0 1-2 2h-2.500M8.500 20H6a2 2 0 0 1-2-2v-2.500M9 10v.1M15 10v.1M9 14.500c1.700 1.500 4.300 1.500 6 0",
  import: "M12 3v12m0 0 4.500-4.500M12 15l-4.500-4.500M4 17v2a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2v-2",
  settings: "M4 7h9m5 0h2M4 17h2m5 0h9M15.500 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM8.500 19.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Z",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 5 5",
  close: "M6 6l12 12M18 6 6 18",
  back: "M14.500 5 8 12l6.500 7",
  more: "M5 12h.1M12 12h.1M19 12h.1",
  trash: "M4 7h16M9 7V4h6v3M6.500 7l1 13h9l1-13M10 11v5M14 11v5",
  eye: "M2 12s3.500-7 10-7 10 7 10 7-3.500 7-10 7-10-7-10-7Zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
  hide: "M3 3l18 18M10 5.200A9 9 0 0 1 12 5c6.500 0 10 7 10 7a17 17 0 0 1-3 3.800M6.500 6.700C3.600 8.600 2 12 2 12s3.500 7 10 7c1.800 0 3.400-.5 4.700-1.300",
  merge: "M7 4v4c0 3 5 4 5 8v4M17 4v4c0 3-5 4-5 8",
  photo: "M4 5h16a1 1 0 0 1 1 1v12a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1Zm0 12 5-5 4 4 3-3 4 4M15.500 9.500h.1",
  undo: "M9 5 4 10l5 5M4 10h10a6 6 0 0 1 0 12h-3",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2v2M12 20v2M4.900 4.900l1.400 1.400M17.700 17.700l1.400 1.400M2 12h2M20 12h2M4.900 19.100l1.400-1.400M17.700 6.300l1.400-1.400",
  moon: "M20 14.500A8.500 8.500 0 1 1 9.500 4a7 7 0 0 0 10.500 10.500Z",
  camera: "M4 8h3l1.500-2.500h7L17 8h3a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1Zm8 8a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Z",
  plus: "M12 5v14M5 12h14",
  key: "M14.500 13a4.500 4.500 0 1 0-4.300-3.200L3 17v4h4v-2h2v-2h2l1.300-1.300c.7.2 1.400.3 2.200.3ZM16 8h.1",
  auto: "M12 3a9 9 0 1 0 0 18ZM12 3a9 9 0 0 1 0 18",
};

/** @param {{name: keyof typeof ICONS, size?: number}} props */
export const Icon = ({ name, size = 20 }) => html`
  <svg class="icon" width=${size} height=${size} viewBox="0 0 24 24" aria-hidden="true">
    <path d=${ICONS[name]} />
  </svg>
`;

/** A picture that is asked for when it has been in sight for a moment: not while one scrolls past it. @param {{src: string}} props */
function Picture({ src }) {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWanted(true), 60);
    return () => clearTimeout(timer);
  }, []);
  return html`<img class="portrait" decoding="async" draggable=${false} alt="" src=${wanted ? src : undefined} />`;
}

/** A person's picture; the server draws a plain one where it keeps none. @param {{person: Person}} props */
export const Portrait = ({ person }) => html`
  <${Picture} src=${address(base(`/people/${person.id}/picture`), { v: `${person.faces}-${changes.value}` })} />
`;

/** A face, or the whole photo that it is on, where the server may show it. @param {{id: string, whole?: boolean}} props */
export const FacePicture = ({ id, whole = false }) => html`
  <${Picture} src=${address(base(`/faces/${id}/picture`), { whole: whole || undefined })} />
`;

/** @param {{title: string, detail?: string, children?: any}} props */
export const Empty = ({ title, detail, children }) => html`
  <div class="empty">
    <img src="/page/icon.svg" alt="" width="56" height="56" />
    <h2>${title}</h2>
    ${detail && html`<p>${detail}</p>`}
    ${children}
  </div>
`;

export const Waiting = () => html`<div class="waiting" role="status"><span class="spinner"></span>${texts.loading}</div>`;

/** A menu of one row: one of several choices. @param {{label: string, value: string, choices: [string, string][], onChange: (value: string) => void}} props */
export const Choice = ({ label, value, choices, onChange }) => html`
  <div class="choice" role="radiogroup" aria-label=${label}>
    ${choices.map(
      ([key, text]) => html`
        <button key=${key} type="button" role="radio" aria-checked=${key === value} onClick=${() => onChange(key)}
          tabIndex=${key === value ? 0 : -1}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
            const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
            if (!step) return;
            event.preventDefault();
            const at = choices.findIndex(([one]) => one === value);
            onChange(choices[(at + step + choices.length) % choices.length][0]);
            const row = /** @type {HTMLElement} */ (event.currentTarget).parentElement;
            requestAnimationFrame(() =>
              /** @type {HTMLElement | null} */ (row?.querySelector("[aria-checked=true]"))?.focus());
          }}>${text}</button>
      `,
    )}
  </div>
`;

// ---------------------------------------------------------------- a list of which only a part is drawn

/**
 * A grid of which only the rows in sight are in the document: 100,000 entries scroll.
 *
 * @template Item
 * @param {{
 *   items: Item[], itemKey: (item: Item) => string | number, label: string,
 *   minWidth: number, extra: number, gap?: number,
 *   render: (item: Item, index: number, focusable: boolean) => any,
 *   onKey?: (event: KeyboardEvent, item: Item, index: number) => void,
 * }} props
 */
export function VirtualGrid({ items, itemKey, label, minWidth, extra, gap = 20, render, onKey }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [shape, setShape] = useState({ columns: 1, width: 0, height: 0 });
  const [range, setRange] = useState({ first: 0, last: 12 });
  const [active, setActive] = useState(0);
  const wantsFocus = useRef(false);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = () => {
      const whole = element.clientWidth;
      const narrow = whole < 480 ? Math.min(minWidth, (whole - 2 * gap) / 3) : minWidth;
      const columns = Math.max(1, Math.floor((whole + gap) / (narrow + gap)));
      const width = (whole - gap * (columns - 1)) / columns;
      setShape({ columns, width, height: width + extra });
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [minWidth, extra, gap]);

  const rowHeight = shape.height + gap;
  const rows = Math.ceil(items.length / shape.columns);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element || !shape.height) return undefined;
    let asked = 0;
    const look = () => {
      asked = 0;
      const top = -element.getBoundingClientRect().top;
      const first = Math.max(0, Math.floor(top / rowHeight) - 3) * shape.columns;
      const last = Math.min(rows, Math.ceil((top + innerHeight) / rowHeight) + 3) * shape.columns;
      setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
    };
    const later = () => {
      if (!asked) asked = requestAnimationFrame(look);
    };
    look();
    addEventListener("scroll", later, { passive: true });
    addEventListener("resize", later);
    return () => {
      cancelAnimationFrame(asked);
      removeEventListener("scroll", later);
      removeEventListener("resize", later);
    };
  }, [rowHeight, shape.columns, rows]);

  const current = Math.min(active, Math.max(0, items.length - 1));
  useEffect(() => {
    if (!wantsFocus.current) return;
    const found = /** @type {HTMLElement | null} */ (box.current?.querySelector(`[data-index="${current}"] [tabindex="0"]`));
    if (found) {
      wantsFocus.current = false;
      found.focus({ preventScroll: true });
    }
  });

  /** @param {number} index */
  const moveTo = (index) => {
    const element = box.current;
    if (!element || index < 0 || index >= items.length) return;
    wantsFocus.current = true;
    const top = Math.floor(index / shape.columns) * rowHeight + element.getBoundingClientRect().top;
    if (top < 80) scrollBy({ top: top - 100 });
    else if (top + shape.height > innerHeight - 80) scrollBy({ top: top + shape.height - innerHeight + 100 });
    setActive(index);
  };
  /** @param {KeyboardEvent} event */
  const press = (event) => {
    if (event.target instanceof HTMLInputElement) return;
    // Another tab may have taken an item out since: what has the focus counts, not its former place.
    const cell = event.target instanceof Element ? event.target.closest("[data-index]") : null;
    const at = cell ? Number(cell.getAttribute("data-index")) : current;
    const step = {
      ArrowRight: 1, ArrowLeft: -1, ArrowDown: shape.columns, ArrowUp: -shape.columns,
      Home: -at, End: items.length - 1 - at,
    }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      moveTo(at + step);
    } else if (items[at]) onKey?.(event, items[at], at);
  };

  const shown = [];
  for (let k = range.first; k < Math.min(range.last, items.length); k++) {
    const left = (k % shape.columns) * (shape.width + gap);
    const top = Math.floor(k / shape.columns) * rowHeight;
    shown.push(html`
      <div key=${itemKey(items[k])} class="cell" role="listitem" data-index=${k}
        aria-setsize=${items.length} aria-posinset=${k + 1}
        onFocusIn=${() => setActive(k)}
        style=${{ transform: `translate(${left}px, ${top}px)`, width: `${shape.width}px`, height: `${shape.height}px` }}>
        ${shape.width > 0 && render(items[k], k, k === current)}
      </div>
    `);
  }
  return html`
    <div ref=${box} class="virtual" role="list" aria-label=${label} onKeyDown=${press}
      style=${{ height: `${Math.max(0, rows * rowHeight - gap)}px` }}>${shown}</div>
  `;
}

// ---------------------------------------------------------------- dialogs

/** @param {{title: string, onClose: () => void, children?: any, wide?: boolean}} props */
export function Dialog({ title, onClose, children, wide = false }) {
  const box = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const element = box.current;
    if (element && !element.open) element.showModal();
    return () => element?.close();
  }, []);
  return html`
    <dialog ref=${box} class=${wide ? "wide" : ""} aria-label=${title}
      onCancel=${(/** @type {Event} */ event) => {
        event.preventDefault();
        onClose();
      }}
      onClick=${(/** @type {MouseEvent} */ event) => event.target === box.current && onClose()}>
      <div class="dialog">
        <header>
          <h2>${title}</h2>
          <button type="button" class="quiet round" aria-label=${texts.close} onClick=${onClose}><${Icon} name="close" /></button>
        </header>
        ${children}
      </div>
    </dialog>
  `;
}

/** The one dialog that is open, as a function that draws it. */
export const dialog = signal(/** @type {null | (() => any)} */ (null));
export const closeDialog = () => {
  dialog.value = null;
};

/**
 * Ask for a person: somebody of the gallery, or a new name.
 * @param {{title: string, verb: string, apart?: string[], allowNew?: boolean, initial?: string, onChoose: (name: string, person: Person | null) => void}} props
 */
export function PersonPicker({ title, verb, apart = [], allowNew = true, initial = "", onChoose }) {
  const [text, setText] = useState(initial);
  const [at, setAt] = useState(0);
  const wanted = text.trim().toLocaleLowerCase();
  const found = useMemo(
    () => named.value.filter((one) => !apart.includes(one.name) && one.name.toLocaleLowerCase().includes(wanted)).slice(0, 50),
    [wanted, named.value],
  );
  const exact = found.some((one) => one.name.toLocaleLowerCase() === wanted);
  /** @type {{name: string, person: Person | null}[]} */
  const options = found.map((person) => ({ name: person.name, person }));
  if (allowNew && wanted && !exact) options.push({ name: text.trim(), person: null });
  const current = Math.min(at, options.length - 1);
  /** @param {number} k */
  const choose = (k) => {
    const option = options[k];
    if (!option) return;
    closeDialog();
    onChoose(option.name, option.person);
  };
  return html`
    <${Dialog} title=${title} onClose=${closeDialog}>
      <input type="text" role="combobox" aria-expanded="true" aria-controls="picker-list" aria-label=${texts.nameOfPerson}
        aria-activedescendant=${current >= 0 ? `picker-${current}` : undefined}
        placeholder=${texts.nameOfPerson} value=${text} autocomplete="off" spellcheck=${false} autofocus
        onInput=${(/** @type {InputEvent} */ event) => {
          setText(/** @type {HTMLInputElement} */ (event.target).value);
          setAt(0);
        }}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
          if (event.key === "ArrowDown") setAt(Math.min(current + 1, options.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(current - 1, 0));
          else if (event.key === "Enter") choose(current);
          else return;
          event.preventDefault();
        }} />
      <ul id="picker-list" class="picker" role="listbox" aria-label=${texts.people}>
        ${options.map(
          ({ name, person }, k) => html`
            <li key=${person?.id ?? "new"} id=${`picker-${k}`} role="option" aria-selected=${k === current}
              onClick=${() => choose(k)} onPointerMove=${() => setAt(k)}>
              ${person ? html`<${Portrait} person=${person} />` : html`<span class="portrait plus"><${Icon} name="plus" /></span>`}
              <span class="grow">${person ? name : texts.newPersonCalled(name)}</span>
              ${person && html`<small>${texts.nFaces(person.faces)}</small>`}
            </li>
          `,
        )}
      </ul>
      <footer>
        <button type="button" onClick=${closeDialog}>${texts.cancel}</button>
        <button type="button" class="primary" disabled=${current < 0} onClick=${() => choose(current)}>${verb}</button>
      </footer>
    <//>
  `;
}

/**
 * Ask before what cannot be undone.
 * @param {{title: string, verb: string, children?: any, onYes: () => void}} props
 */
export const Confirm = ({ title, verb, children, onYes }) => html`
  <${Dialog} title=${title} onClose=${closeDialog}>
    ${children}
    <footer>
      <button type="button" onClick=${closeDialog} autofocus>${texts.cancel}</button>
      <button type="button" class="danger" onClick=${() => { closeDialog(); onYes(); }}>${verb}</button>
    </footer>
  <//>
`;

// ---------------------------------------------------------------- what was done, and how sure it is

export const Toasts = () => html`
  <div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      (one) => html`
        <div key=${one.id} class=${`toast ${one.kind}`}>
          <span class="grow">${one.text}</span>
          ${one.undo && html`
            <button type="button" class="link" onClick=${() => { forget(one.id); one.undo?.(); }}>${texts.undo}</button>
          `}
          <button type="button" class="quiet round" aria-label=${texts.close} onClick=${() => forget(one.id)}><${Icon} name="close" size=${16} /></button>
        </div>
      `,
    )}
  </div>
`;

/**
 * Evidence as a bar from "somebody else" to "the same", with the threshold marked.
 * @param {{ratio: number | null, threshold: number | null, label?: string}} props
 */
export function RatioBar({ ratio, threshold, label = texts.evidence }) {
  if (ratio === null || !Number.isFinite(ratio)) return html`<div class="ratio none">${texts.noEvidence}</div>`;
  // Wide enough for the threshold to stand well inside.
  const range = Math.max(15, 1.6 * Math.abs(threshold !== null && Number.isFinite(threshold) ? threshold : 0));
  /** @param {number} value */
  const at = (value) => `${(100 * (Math.max(-range, Math.min(range, value)) + range)) / (2 * range)}%`;
  const good = threshold === null || ratio >= threshold;
  return html`
    <div class=${`ratio ${good ? "good" : "poor"}`} role="meter" aria-label=${label} aria-valuemin=${-range} aria-valuemax=${range}
      aria-valuenow=${Math.round(Math.max(-range, Math.min(range, ratio)) * 10) / 10} aria-valuetext=${texts.ratioInWords(ratio, threshold)}>
      <span class="fill" style=${{ width: at(ratio) }}></span>
      ${threshold !== null && Number.isFinite(threshold) && html`<span class="mark" style=${{ left: at(threshold) }}></span>`}
    </div>
  `;
}

/** @param {{name: string | null}} props */
export const Name = ({ name }) =>
  name === null ? html`<em>${texts.unknown}</em>` : isUnnamed(name) ? html`<em>${texts.noName}</em>` : html`<bdi>${name}</bdi>`;

/** Keys that are pressed while nothing is being typed. @param {(event: KeyboardEvent) => void} react */
export function useKeys(react) {
  const latest = useRef(react);
  latest.current = react;
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (event.ctrlKey || event.metaKey || event.altKey || dialog.value) return;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      latest.current(event);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
