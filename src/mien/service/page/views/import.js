/** Pictures into the gallery: by upload or from a folder of the server; jobs and what became of them. */

import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { call, may, upload } from "../api.js";
import { base, changed, gallery, keepPictures, people, policy, say, trying } from "../state.js";
import { texts } from "../texts.js";
import { html, Icon } from "../ui.js";
import { droppedFiles, zip } from "../zip.js";

/** @typedef {{id: string, kind: string, state: string, stage: string, done: number, total: number | null, detail: string, created: number}} Job */

const MOST_BYTES = 48 * 2 ** 20;
const ENDED = ["done", "failed", "cancelled"];

/** @param {{name: string, file: File}[]} files */
function* portions(files) {
  let part = [];
  let size = 0;
  for (const one of files) {
    if (part.length && size + one.file.size > MOST_BYTES) {
      yield part;
      part = [];
      size = 0;
    }
    part.push(one);
    size += one.file.size;
  }
  if (part.length) yield part;
}

/** Before the first import of a gallery, small pictures are proposed; this is what was chosen there. */
const declined = signal(false);
const isFresh = () => people.value?.length === 0 && policy.value?.thumbnails === false && may("admin");
/** As the box says, before anything is imported: uploaded pictures are not there afterwards. */
const preparePictures = async () => {
  if (isFresh() && !declined.value) await keepPictures(true);
};

/** @param {{onStarted: () => void}} props */
function Upload({ onStarted }) {
  const [over, setOver] = useState(false);
  const [names, setNames] = useState(false);
  const [share, setShare] = useState(/** @type {number | null} */ (null));
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  /** @param {{name: string, file: File}[]} files */
  const send = async (files) => {
    if (!files.length) return;
    const kind = names ? "enrol" : "import";
    const total = files.reduce((sum, one) => sum + one.file.size, 0) || 1;
    let sent = 0;
    setShare(0);
    await preparePictures();
    await trying(async () => {
      const archives = files.filter((one) => /\.zip$/i.test(one.name));
      const pictures = files.filter((one) => !/\.zip$/i.test(one.name));
      for (const part of [...archives.map((one) => [one]), ...portions(pictures)]) {
        const body = part.length === 1 && archives.includes(part[0]) ? part[0].file : await zip(part);
        await upload(base(`/jobs?kind=${kind}`), body, (now) => setShare((sent + now * body.size) / Math.max(total, body.size)));
        sent += body.size;
      }
      say(texts.uploaded(files.length));
    });
    setShare(null);
    onStarted();
  };
  return html`
    <section class="panel">
      <h2>${texts.importUpload}</h2>
      <p>${texts.importUploadDetail}</p>
      <div class=${`drop ${over ? "over" : ""}`}
        onDragOver=${(/** @type {DragEvent} */ event) => { event.preventDefault(); setOver(true); }}
        onDragLeave=${() => setOver(false)}
        onDrop=${async (/** @type {DragEvent} */ event) => {
          event.preventDefault();
          setOver(false);
          if (event.dataTransfer) send(await droppedFiles(event.dataTransfer));
        }}>
        <${Icon} name="import" size=${34} />
        <strong>${texts.dropHere}</strong>
        <input ref=${input} class="visually-hidden" type="file" multiple accept="image/*,.zip" tabindex="-1" aria-label=${texts.importUpload}
          onChange=${() => {
            const files = [...(input.current?.files ?? [])].map((file) => ({ name: file.webkitRelativePath || file.name, file }));
            if (input.current) input.current.value = "";
            send(files);
          }} />
        <button type="button" class="primary" disabled=${share !== null} onClick=${() => input.current?.click()}>${texts.chooseFiles}</button>
      </div>
      <label class="check"><input type="checkbox" checked=${names} onChange=${() => setNames(!names)} /> ${texts.uploadNames}</label>
      <${KeepPictures} />
      ${share !== null && html`<div role="status"><small>${texts.uploading}</small><progress aria-label=${texts.uploading} max="1" value=${share}></progress></div>`}
    </section>
  `;
}

/** @param {{onStarted: () => void}} props */
function Folders({ onStarted }) {
  const [folders, setFolders] = useState(/** @type {any[] | null} */ (null));
  const [path, setPath] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    trying(() => call("GET", "/v1/folders", { query: { path: path.join("/") } })).then((said) => setFolders(said?.folders ?? []));
  }, [path.join("/")]);
  const start = async () => {
    await preparePictures();
    const done = await trying(() => call("POST", base("/imports"), { json: { folder: path.join("/") } }));
    if (done) {
      say(texts.importStarted);
      onStarted();
    }
  };
  return html`
    <section class="panel">
      <h2>${texts.importFolder}</h2>
      <p>${folders?.length === 0 && !path.length ? html`${texts.importNoFolder} <code class="nowrap">mien serve --photos FOLDER</code>` : texts.importFolderDetail}</p>
      ${path.length > 0 && html`
        <div class="row">
          <button type="button" class="quiet round" aria-label=${texts.back} onClick=${() => setPath(path.slice(0, -1))}><${Icon} name="back" /></button>
          <strong class="grow"><bdi>${path.join(" / ")}</bdi></strong>
          <button type="button" class="primary" onClick=${start}>${texts.importVerb}</button>
        </div>
      `}
      <ul class="rows short">
        ${folders?.map((one) => html`
          <li key=${one.name}>
            <button type="button" onClick=${() => setPath([...path, one.name])}><${Icon} name="photo" size=${18} /><bdi>${one.name}</bdi></button>
            <span class="grow"></span><small>${texts.nPictures(one.pictures)}</small>
          </li>
        `)}
      </ul>
    </section>
  `;
}

/** @param {{job: Job, onChange: () => void}} props */
function JobRow({ job, onChange }) {
  const [result, setResult] = useState(/** @type {any} */ (null));
  const ended = ENDED.includes(job.state);
  useEffect(() => {
    if (job.state === "done") call("GET", `/v1/jobs/${job.id}/result`).then(setResult).catch(() => null);
  }, [job.state]);
  const failures = result?.failures ?? [];
  return html`
    <li>
      <div class="grow">
        <div class="row spread">
          <strong>${texts.jobKind(job.kind)}</strong>
          <span class=${`pill ${job.state === "done" ? "good" : job.state === "failed" ? "poor" : ""}`}>${texts.jobState(job.state)}</span>
        </div>
        <small>${texts.moment(job.created)}${!ended && job.stage ? ` · ${job.stage} ${texts.progress(job.done, job.total)}` : ""}${job.detail ? ` · ${job.detail}` : ""}</small>
        ${!ended && html`<progress aria-label=${texts.jobKind(job.kind)} max=${job.total ?? 1} value=${job.total ? job.done : undefined}></progress>`}
        ${result?.known !== undefined && html`<p>${texts.imported({ ...result, failures: failures.length })}</p>`}
        ${failures.length > 0 && html`
          <details>
            <summary>${texts.whatFailed} (${texts.count(failures.length)})</summary>
            <ul class="rows">${failures.slice(0, 200).map((/** @type {any} */ one, /** @type {number} */ k) => html`<li key=${k}><span class="grow"><bdi>${one.file}</bdi><br /><small>${one.detail}</small></span></li>`)}</ul>
          </details>
        `}
      </div>
      ${may("write") && html`
        <button type="button" class="quiet" onClick=${() =>
          trying(() => (ended ? call("DELETE", `/v1/jobs/${job.id}`) : call("POST", `/v1/jobs/${job.id}/cancel`))).then(onChange)}>
          ${ended ? texts.forgetJob : texts.cancelJob}
        </button>
      `}
    </li>
  `;
}

/** Jobs of the gallery; those that run are followed. */
export function Jobs({ turn = 0 }) {
  const [jobs, setJobs] = useState(/** @type {Job[] | null} */ (null));
  const read = () => trying(() => call("GET", base("/jobs"))).then((said) => said && setJobs(said.jobs));
  useEffect(() => {
    read();
  }, [turn, gallery.value]);
  const running = jobs?.find((one) => !ENDED.includes(one.state));
  useEffect(() => {
    if (!running) return undefined;
    const events = new EventSource(`/v1/jobs/${running.id}/events`);
    events.addEventListener("job", (event) => {
      const said = JSON.parse(event.data);
      setJobs((before) => before?.map((one) => (one.id === said.id ? said : one)) ?? null);
      if (ENDED.includes(said.state)) {
        events.close();
        changed();
        read();
      }
    });
    events.onerror = () => {
      events.close();
      setTimeout(read, 2000);
    };
    return () => events.close();
  }, [running?.id]);
  return html`
    <section class="panel whole">
      <h2>${texts.jobs}</h2>
      ${jobs?.length === 0 && html`<p>${texts.noJobs}</p>`}
      <ul class="rows">${jobs?.map((job) => html`<${JobRow} key=${job.id} job=${job} onChange=${read} />`)}</ul>
    </section>
  `;
}

/** Whether small pictures of faces are kept; without them the page can only draw heads. */
export const KeepPictures = () => policy.value && html`
  <div>
    <label class="check">
      <input type="checkbox" checked=${isFresh() ? !declined.value : policy.value.thumbnails} disabled=${!may("admin")}
        onChange=${() => {
          if (isFresh()) declined.value = !declined.value;
          else keepPictures(!policy.value?.thumbnails);
        }} />
      ${texts.keepPictures}
    </label>
    <br /><small>${texts.keepPicturesWhy}</small>
  </div>
`;

export function ImportView() {
  const [turn, setTurn] = useState(0);
  const started = () => setTurn((before) => before + 1);
  return html`
    <header class="head"><h1>${texts.import}</h1></header>
    <div class="panels">
      ${may("write") && html`<${Upload} onStarted=${started} /><${Folders} onStarted=${started} />`}
      <${Jobs} turn=${turn} />
    </div>
  `;
}
