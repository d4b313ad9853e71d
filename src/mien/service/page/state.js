/** What all views share: the gallery, its people, the place in the page, and what was just done. */

import { batch, computed, signal } from "@preact/signals";
import { call, connected, Refused, session, Unreachable } from "./api.js";
import { texts } from "./texts.js";

/**
 * @typedef {{id: number, name: string, faces: number, added: number}} Person
 * @typedef {{id: string, person: string, picture: string | null, quality: number | null, added: number}} Face
 * @typedef {{id: number, text: string, kind: "done" | "error", undo?: () => Promise<void>}} Toast
 * @typedef {{name: string, people: number, engine: string | null, features: string, sealed: boolean}} GalleryInfo
 */

/** Galleries that the session is for. */
export const galleries = signal(/** @type {GalleryInfo[] | null} */ (null));
/** The name of the one that is looked at. */
export const gallery = signal("");
/** Everybody in it, by name; null until they are read. */
export const people = signal(/** @type {Person[] | null} */ (null));
/** Numbers of people who are not shown. */
export const hidden = signal(/** @type {Set<number>} */ (new Set()));
/** What the gallery keeps and demands; null until it is read. */
export const policy = signal(/** @type {{thumbnails: boolean, consent: boolean} | null} */ (null));
export const toasts = signal(/** @type {Toast[]} */ ([]));
/** Grows with every change that this page knows of; pictures and lists are read anew by it. */
export const changes = signal(0);

/** mien's own names of unnamed people: what `mien cluster` calls them, too. */
const PLACEHOLDER = /^person-\d+$/;
/** @param {string} name */
export const isUnnamed = (name) => PLACEHOLDER.test(name);

export const named = computed(() => (people.value ?? []).filter((one) => !isUnnamed(one.name)));
export const unnamed = computed(() => (people.value ?? []).filter((one) => isUnnamed(one.name)));

// ---------------------------------------------------------------- the place in the page

/** @returns {{view: string, rest: string[]}} */
function readPlace() {
  const [view = "", ...rest] = location.hash.replace(/^#\/?/, "").split("/").map(decode);
  return { view: view || "people", rest };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const place = signal(readPlace());
addEventListener("hashchange", () => {
  place.value = readPlace();
});

/** @param {...(string | number)} parts */
export const href = (...parts) => `#/${parts.map((one) => encodeURIComponent(one)).join("/")}`;
/** @param {...(string | number)} parts */
export const go = (...parts) => {
  location.hash = href(...parts);
};

// ---------------------------------------------------------------- saying what happened

let lastToast = 0;
/** @param {string} text @param {"done" | "error"} [kind] @param {() => Promise<void>} [undo] */
export function say(text, kind = "done", undo) {
  const id = ++lastToast;
  toasts.value = [...toasts.value.filter((one) => !one.undo || !undo), { id, text, kind, undo }].slice(-3);
  setTimeout(() => forget(id), undo ? 15_000 : kind === "error" ? 10_000 : 5_000);
}

/** @param {number} id */
export function forget(id) {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}

/**
 * Do something that may fail; what fails is said, not thrown.
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T | undefined>}
 */
export async function trying(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    if (error instanceof Unreachable) say(texts.notReached, "error");
    else if (error instanceof Refused) {
      if (error.status !== 401) say(error.message, "error");
    } else {
      say(texts.wentWrong, "error");
      throw error;
    }
    return undefined;
  }
}

// ---------------------------------------------------------------- reading

/** @param {string} [rest] */
export const base = (rest = "") => `/v1/galleries/${encodeURIComponent(gallery.value)}${rest}`;

export async function readGalleries() {
  const found = await trying(() => call("GET", "/v1/galleries"));
  if (!found) return;
  const wanted = remembered("mien-gallery");
  batch(() => {
    galleries.value = found;
    if (!found.some((/** @type {GalleryInfo} */ one) => one.name === gallery.value)) {
      const known = found.find((/** @type {GalleryInfo} */ one) => one.name === wanted);
      gallery.value = (known ?? found[0])?.name ?? "";
    }
  });
}

let reading = 0;
/** Everybody, page by page; the first page is shown at once. */
export async function readPeople() {
  const turn = ++reading;
  const name = gallery.value;
  if (!name) {
    people.value = [];
    return;
  }
  /** @type {Person[]} */
  let found = [];
  /** @type {string | null} */
  let cursor = null;
  const marks = call("GET", base("/hidden")).catch(() => null);
  call("GET", base("/policy")).then((found) => { policy.value = found; }).catch(() => null);
  do {
    const page = await trying(() => call("GET", base("/people"), { query: { limit: 1000, cursor } }));
    if (!page || turn !== reading || name !== gallery.value) return;
    found = found.concat(page.people);
    cursor = page.cursor;
    if (people.value === null) people.value = found;
  } while (cursor);
  const said = await marks;
  if (turn !== reading || name !== gallery.value) return;
  batch(() => {
    people.value = found;
    if (said) hidden.value = new Set(said.people);
  });
}

/** @param {string} name */
export function chooseGallery(name) {
  batch(() => {
    gallery.value = name;
    people.value = null;
    hidden.value = new Set();
  });
  remember("mien-gallery", name);
  readPeople();
}

// ---------------------------------------------------------------- changing

const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("mien") : null;
if (channel) {
  channel.onmessage = (event) => {
    if (event.data === gallery.value) refresh();
  };
}

function refresh() {
  changes.value += 1;
  return readPeople();
}

/** Something was changed by this page: read again, here and in other tabs. */
export async function changed() {
  channel?.postMessage(gallery.value);
  await refresh();
}

addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible" && session.value && gallery.value) refresh();
});
connected.subscribe((is) => {
  if (is && people.peek() !== null) refresh();
});

/**
 * Change something, say so, and offer to take it back.
 * @param {string} text
 * @param {() => Promise<unknown>} work
 * @param {{final?: boolean, back?: () => Promise<unknown>}} [options] `back` takes it back where the history does not
 */
export async function change(text, work, { final = false, back } = {}) {
  /** @type {number[]} */
  let numbers = [];
  const done = await trying(async () => {
    const said = await work();
    if (!final && !back) numbers = await lastChanges(/** @type {any} */ (said)?.steps ?? 1);
    return true;
  });
  if (!done) return false;
  say(text, "done", back || numbers.length ? () => undo(numbers, back) : undefined);
  await changed();
  return true;
}

/** Numbers of the last changes, the newest first: an undo takes back these and no others. @param {number} n @returns {Promise<number[]>} */
const lastChanges = (n) =>
  call("GET", base("/history"), { query: { limit: n } })
    .then((said) => said.changes.map((/** @type {any} */ one) => one.number))
    .catch(() => []);

/** @param {boolean} keep */
export const keepPictures = (keep) =>
  change(keep ? texts.picturesKept : texts.picturesGone, async () => {
    policy.value = await call("PATCH", base("/policy"), { json: { thumbnails: keep } });
  }, { final: true });

/** Take changes back. @param {number[]} numbers the newest first @param {(() => Promise<unknown>) | undefined} back */
async function undo(numbers, back) {
  const said = await trying(async () => {
    if (back) await back();
    else for (const number of numbers) await call("POST", base("/undo"), { json: { change: number } });
    return true;
  });
  if (said === undefined) return;
  say(texts.undone);
  await changed();
}

// ---------------------------------------------------------------- what this device remembers

/** @param {string} key @returns {string | null} */
export function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string | null} value */
export function remember(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Not remembered, then.
  }
}
