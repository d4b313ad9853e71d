/** How the page speaks to the server: only `/v1`, with the session's cookie and its token. */

import { signal } from "@preact/signals";

/**
 * @typedef {{role: string, gallery: string, csrf: string | null}} Session
 * @typedef {{json?: unknown, body?: BodyInit, signal?: AbortSignal, query?: Record<string, unknown>}} Options
 */

/** Who is at the page; null where nobody is signed in, undefined until it is known. */
export const session = signal(/** @type {Session | null | undefined} */ (undefined));
/** False from the first request that does not reach the server until one does. */
export const connected = signal(true);

/** An answer that is not the one that was asked for, with the server's own sentence. */
export class Refused extends Error {
  /** @param {number} status @param {string} code @param {string} detail */
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** The server could not be reached. */
export class Unreachable extends Error {}

let waiting = false;

/** Ask again and again, ever more slowly, until the server answers. */
async function waitForServer() {
  if (waiting) return;
  waiting = true;
  connected.value = false;
  for (let pause = 500; ; pause = Math.min(pause * 1.5, 5000)) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    try {
      await fetch("/healthz", { cache: "no-store" });
      break;
    } catch {
      // Not yet.
    }
  }
  waiting = false;
  connected.value = true;
}

/** @param {string} path @param {Record<string, unknown>} [query] */
export function address(path, query = {}) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) parts.set(name, String(value));
  }
  const text = parts.toString();
  return text ? `${path}?${text}` : path;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} [options]
 * @returns {Promise<any>} the answer's JSON, or null where there is none
 */
export async function call(method, path, options = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (session.value?.csrf) headers["x-csrf-token"] = session.value.csrf;
  let body = options.body;
  if (options.json !== undefined) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(options.json);
  }
  let answer;
  try {
    answer = await fetch(address(path, options.query), {
      method, headers, body, signal: options.signal, credentials: "same-origin",
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    waitForServer();
    throw new Unreachable();
  }
  if (answer.ok) return answer.status === 204 ? null : answer.json();
  return refuse(answer.status, await answer.text());
}

/** @param {number} status @param {string} text @returns {never} */
function refuse(status, text) {
  let code = "http-error";
  let detail = text.slice(0, 200);
  try {
    const said = JSON.parse(text);
    code = said.code ?? code;
    detail = said.detail ?? detail;
  } catch {
    // Not a problem document.
  }
  if (status === 401 || code === "csrf") session.value = null;
  throw new Refused(status, code, detail);
}

/**
 * Send a body and tell how much of it has gone.
 * @param {string} path
 * @param {FormData | Blob} body
 * @param {(share: number) => void} tell
 * @returns {Promise<any>}
 */
export function upload(path, body, tell) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    if (session.value?.csrf) request.setRequestHeader("x-csrf-token", session.value.csrf);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) tell(event.loaded / event.total);
    };
    request.onload = () => {
      try {
        if (request.status < 300) resolve(JSON.parse(request.responseText || "null"));
        else refuse(request.status, request.responseText);
      } catch (error) {
        reject(error);
      }
    };
    request.onerror = () => {
      waitForServer();
      reject(new Unreachable());
    };
    request.send(body);
  });
}

/** Who am I? Sets `session`. */
export async function findSession() {
  try {
    const answer = await fetch("/v1/session", { credentials: "same-origin", cache: "no-store" });
    session.value = answer.ok ? await answer.json() : null;
  } catch {
    waitForServer();
  }
}

/** @param {{link?: string, key?: string}} wanted */
export async function signIn(wanted) {
  session.value = await call("POST", "/v1/session", { json: wanted });
}

export async function signOut() {
  await call("DELETE", "/v1/session").catch(() => null);
  session.value = null;
}

/** @param {string} role */
export function may(role) {
  const roles = ["read", "write", "admin"];
  return roles.indexOf(session.value?.role ?? "") >= roles.indexOf(role);
}
