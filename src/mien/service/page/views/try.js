/** Pictures that are not kept: who is on them, are two of them one person, what is under a cover. */

import { useEffect, useRef, useState } from "preact/hooks";
import { call } from "../api.js";
import { BoxedPicture } from "../boxes.js";
import { base, trying } from "../state.js";
import { texts } from "../texts.js";
import { Choice, html, Icon, Name, RatioBar } from "../ui.js";

/**
 * A place to drop pictures, or to choose them.
 * @param {{onFiles: (files: File[]) => void, label: string, multiple?: boolean, children?: any}} props
 */
export function Drop({ onFiles, label, multiple = false, children }) {
  const [over, setOver] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  return html`
    <div class=${`drop ${over ? "over" : ""}`}
      onDragOver=${(/** @type {DragEvent} */ event) => { event.preventDefault(); setOver(true); }}
      onDragLeave=${() => setOver(false)}
      onDrop=${(/** @type {DragEvent} */ event) => {
        event.preventDefault();
        setOver(false);
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length) onFiles(multiple ? files : files.slice(0, 1));
      }}>
      ${children ?? html`<${Icon} name="photo" size=${34} />`}
      <strong>${label}</strong>
      <input ref=${input} class="visually-hidden" type="file" accept="image/*" multiple=${multiple} tabindex="-1" aria-label=${label}
        onChange=${() => {
          const files = [...(input.current?.files ?? [])];
          if (files.length) onFiles(files);
          if (input.current) input.current.value = "";
        }} />
      <button type="button" onClick=${() => input.current?.click()}>${texts.chooseFiles}</button>
    </div>
  `;
}

/** An address for a blob, as long as it is shown. @param {Blob | null} blob */
function useAddress(blob) {
  const [address, setAddress] = useState("");
  useEffect(() => {
    if (!blob) return undefined;
    const made = URL.createObjectURL(blob);
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [blob]);
  return address;
}

/** @param {{file: File}} props */
function Identified({ file }) {
  const address = useAddress(file);
  const [said, setSaid] = useState(/** @type {any} */ (null));
  const [chosen, setChosen] = useState(/** @type {number | null} */ (null));
  useEffect(() => {
    let ended = false;
    const form = new FormData();
    form.append("file", file, file.name);
    trying(() => call("POST", base("/identify"), { body: form })).then((found) => !ended && setSaid(found?.[0] ?? { faces: [], error: texts.notUsed }));
    return () => {
      ended = true;
    };
  }, [file]);
  return html`
    <div class="split">
      <div>${address && html`<${BoxedPicture} src=${address} alt=${texts.photoOf(file.name)} faces=${said?.faces ?? []} chosen=${chosen} onChoose=${setChosen} />`}</div>
      <section class="panel" aria-live="polite">
        <h2><bdi>${file.name}</bdi></h2>
        ${!said && html`<div class="row"><span class="spinner"></span>${texts.analysing}</div>`}
        ${said?.error && html`<p>${said.error}</p>`}
        ${said && !said.error && said.faces.length === 0 && html`<p>${texts.noFaces}</p>`}
        <ul class="rows">
          ${said?.faces.map((/** @type {any} */ face, /** @type {number} */ k) => html`
            <li key=${k} onPointerEnter=${() => setChosen(k)}>
              <div class="grow">
                <div class="row entry"><span class="number" aria-hidden="true">${k + 1}</span><strong><${Name} name=${face.person} /></strong></div>
                <${RatioBar} ratio=${face.log_ratio} threshold=${face.threshold} />
                ${face.log_ratio !== null && html`<small>${face.candidates[0] && !face.person ? `${texts.nearest(face.candidates[0][0])}: ` : ""}${texts.ratioInWords(face.log_ratio, face.threshold)}</small>`}
              </div>
            </li>
          `)}
        </ul>
        ${said?.faces[0] && html`<small>${texts.promise(said.faces[0].promised)}</small>`}
        ${said && html`<details><summary>${texts.showJson}</summary><pre tabindex="0">${JSON.stringify(said, null, 2)}</pre></details>`}
      </section>
    </div>
  `;
}

/** @param {{onPicture: (file: File) => void}} props */
function Camera({ onPicture }) {
  const video = useRef(/** @type {HTMLVideoElement | null} */ (null));
  const [stream, setStream] = useState(/** @type {MediaStream | null} */ (null));
  const [refused, setRefused] = useState(false);
  useEffect(() => () => stream?.getTracks().forEach((one) => one.stop()), [stream]);
  useEffect(() => {
    if (video.current && stream) video.current.srcObject = stream;
  }, [stream]);
  const start = async () => {
    try {
      setStream(await navigator.mediaDevices.getUserMedia({ video: { width: 1280 } }));
      setRefused(false);
    } catch {
      setRefused(true);
    }
  };
  const take = () => {
    const seen = video.current;
    if (!seen?.videoWidth) return;
    const canvas = document.createElement("canvas");
    canvas.width = seen.videoWidth;
    canvas.height = seen.videoHeight;
    canvas.getContext("2d")?.drawImage(seen, 0, 0);
    canvas.toBlob((blob) => blob && onPicture(new File([blob], "camera.jpg", { type: "image/jpeg" })), "image/jpeg", 0.92);
  };
  if (!stream) {
    return html`
      <div class="drop">
        <${Icon} name="camera" size=${34} />
        <strong>${refused ? texts.noCamera : texts.orCamera}</strong>
        <button type="button" onClick=${start}>${texts.useCamera}</button>
      </div>
    `;
  }
  return html`
    <div class="drop">
      <video ref=${video} autoplay playsinline muted aria-label=${texts.useCamera}></video>
      <div class="row">
        <button type="button" class="primary" onClick=${take}>${texts.takePicture}</button>
        <button type="button" onClick=${() => setStream(null)}>${texts.stopCamera}</button>
      </div>
    </div>
  `;
}

function Who() {
  const [files, setFiles] = useState(/** @type {File[]} */ ([]));
  return html`
    <div class="two">
      <${Drop} label=${texts.dropHere} multiple=${true} onFiles=${setFiles} />
      <${Camera} onPicture=${(/** @type {File} */ file) => setFiles([file])} />
    </div>
    <div class="stack">${files.map((file, k) => html`<${Identified} key=${`${file.name} ${file.size} ${k}`} file=${file} />`)}</div>
  `;
}

/** @param {{file: File | null, label: string, onFile: (file: File) => void}} props */
function Side({ file, label, onFile }) {
  const address = useAddress(file);
  return html`<${Drop} label=${file ? file.name : label} onFiles=${(/** @type {File[]} */ files) => onFile(files[0])}>
    ${address ? html`<img src=${address} alt=${label} />` : null}
  <//>`;
}

function Two() {
  const [pair, setPair] = useState(/** @type {(File | null)[]} */ ([null, null]));
  const [said, setSaid] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const [a, b] = pair;
  useEffect(() => {
    if (!a || !b) return;
    const form = new FormData();
    form.append("a", a, a.name);
    form.append("b", b, b.name);
    setBusy(true);
    setSaid(null);
    trying(() => call("POST", "/v1/verify", { body: form })).then((found) => {
      setBusy(false);
      setSaid(found ?? null);
    });
  }, [a, b]);
  return html`
    <div class="two">
      <${Side} file=${a} label=${texts.first} onFile=${(/** @type {File} */ file) => setPair([file, b])} />
      <${Side} file=${b} label=${texts.second} onFile=${(/** @type {File} */ file) => setPair([a, file])} />
    </div>
    <section class="panel verdict" aria-live="polite">
      ${busy && html`<div class="row"><span class="spinner"></span>${texts.analysing}</div>`}
      ${!busy && !said && html`<p>${texts.twoHint}</p>`}
      ${said && html`
        <strong>${said.same ? texts.verdictSame : texts.verdictDifferent}</strong>
        <${RatioBar} ratio=${said.log_ratio} threshold=${said.threshold} />
        <p>${texts.ratioInWords(said.log_ratio, said.threshold)}. ${said.far ? texts.verdictRate(said.far) : ""} ${texts.verdictProbability(said.probability)}</p>
        <details><summary>${texts.showJson}</summary><pre tabindex="0">${JSON.stringify(said, null, 2)}</pre></details>
      `}
    </section>
  `;
}

function Cover() {
  const [file, setFile] = useState(/** @type {File | null} */ (null));
  const [said, setSaid] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const address = useAddress(file);
  useEffect(() => {
    if (!file) return;
    const form = new FormData();
    form.append("file", file, file.name);
    setBusy(true);
    setSaid(null);
    trying(() => call("POST", "/v1/complete", { body: form })).then((found) => {
      setBusy(false);
      setSaid(found?.[0] ?? null);
    });
  }, [file]);
  return html`
    <p class="quiet-note tight">${texts.completeDetail}</p>
    <${Drop} label=${texts.dropHere} onFiles=${(/** @type {File[]} */ files) => setFile(files[0])} />
    <div class="stack" aria-live="polite">
      ${busy && html`<div class="row"><span class="spinner"></span>${texts.analysing}</div>`}
      ${said && said.faces.length === 0 && html`<p>${texts.noFaces}</p>`}
      ${said && said.faces.length > 0 && said.completed === 0 && html`<p>${texts.missedCover}</p>`}
      ${said && address && html`
        <div class="two">
          <figure><img class="shown" src=${address} alt=${texts.covered} /><figcaption>${texts.covered}</figcaption></figure>
          <figure><img class="shown" src=${`data:image/png;base64,${said.image}`} alt=${texts.completed} /><figcaption>${texts.completed}</figcaption></figure>
        </div>
      `}
    </div>
  `;
}

export function TryView() {
  const [what, setWhat] = useState("who");
  return html`
    <header class="head">
      <h1>${texts.try}</h1>
      <${Choice} label=${texts.try} value=${what} onChange=${setWhat} choices=${[["who", texts.tryWho], ["two", texts.tryTwo], ["cover", texts.tryCover]]} />
    </header>
    <p class="quiet-note tight">${texts.tryDetail}</p>
    <div class="stack">${what === "who" ? html`<${Who} />` : what === "two" ? html`<${Two} />` : html`<${Cover} />`}</div>
  `;
}
