/** The questions that teach most, first; answered by keyboard. */

import { useEffect, useRef, useState } from "preact/hooks";
import { call, may } from "../api.js";
import { base, changed, href, isUnnamed, named, say, trying, unnamed } from "../state.js";
import { texts } from "../texts.js";
import { Empty, FacePicture, html, Icon, Name, RatioBar, useKeys, Waiting } from "../ui.js";
import { AdaptPanel } from "./adapt.js";

/**
 * @typedef {{id: number, name: string, count: number, faces: string[]}} Side
 * @typedef {{a: Side, b: Side, log_ratio: number, probability: number, gain: number, faces: number}} Question
 */

/** @param {{side: Side}} props */
const SideView = ({ side }) => html`
  <div class="side">
    <${FacePicture} id=${side.faces[0]} />
    <div class="strip">${side.faces.slice(1, 5).map((id) => html`<${FacePicture} key=${id} id=${id} />`)}</div>
    <div class="who"><a href=${href("person", side.id)}><${Name} name=${side.name} /></a><small>${texts.nFaces(side.count)}</small></div>
  </div>
`;

export function ReviewView() {
  const [questions, setQuestions] = useState(/** @type {Question[] | null} */ (null));
  const [answered, setAnswered] = useState(0);
  const [busy, setBusy] = useState(false);
  /** Changes of each answer of this visit, so that U takes one answer back after the other. */
  const done = useRef(/** @type {number[][]} */ ([]));
  const write = may("write");

  const read = async () => {
    const said = await trying(() => call("GET", base("/review")));
    if (said) setQuestions(said.questions);
  };
  useEffect(() => {
    read();
  }, []);

  const question = questions?.[0];
  /** @param {"same" | "different" | "not-sure"} answer */
  const give = async (answer) => {
    if (!question || busy || !write) return;
    setBusy(true);
    const said = await trying(() =>
      call("POST", base("/review"), { json: { a: question.a.id, b: question.b.id, answer } }));
    setBusy(false);
    if (!said) {
      await read();
      return;
    }
    done.current.push(said.changes);
    setAnswered(answered + 1);
    say({ same: texts.saidSame, different: texts.saidDifferent, "not-sure": texts.saidSkip }[answer], "done", takeBack);
    setQuestions(said.questions);
    changed();
  };
  const takeBack = async () => {
    const last = done.current.pop();
    if (!last) {
      say(texts.nothingToUndo);
      return;
    }
    await trying(async () => {
      for (const change of [...last].reverse()) await call("POST", base("/undo"), { json: { change } });
      setAnswered((before) => Math.max(0, before - 1));
      say(texts.undone);
    });
    await read();
    changed();
  };
  useKeys((event) => {
    const act = {
      y: () => give("same"), n: () => give("different"), s: () => give("not-sure"), u: takeBack,
    }[event.key.toLowerCase()];
    if (!act || event.repeat) return;
    event.preventDefault();
    act();
  });

  if (questions === null) return html`<${Waiting} />`;
  return html`
    <div class="review">
      <header class="head">
        <h1>${texts.review}</h1>
        <div class="row">
          <small aria-live="polite">${texts.answered(answered)}</small>
          <a class="button" href=${base("/answers")} download="answers.json">${texts.exportAnswers}</a>
        </div>
      </header>
      ${!question
        ? named.value.length + unnamed.value.length > 1
          ? html`<${Empty} title=${texts.reviewDone} detail=${texts.reviewDoneDetail} />`
          : html`<${Empty} title=${texts.reviewNobody} detail=${texts.reviewNobodyDetail}><a class="button primary" href=${href("import")}>${texts.import}</a><//>`
        : html`
            <section class="question" aria-label=${texts.reviewTitle}>
              <h2>${isUnnamed(question.a.name) === isUnnamed(question.b.name) ? texts.reviewTitle : texts.isThis(question.a.name, question.b.name)}</h2>
              <div class="pair"><${SideView} side=${question.a} /><${SideView} side=${question.b} /></div>
              <div>
                <${RatioBar} ratio=${question.log_ratio} threshold=${null} />
                <small>${texts.whyAsked(question.probability, question.faces)}</small>
              </div>
              <div class="answers">
                <button type="button" class="primary" disabled=${!write} onClick=${() => give("same")}>${texts.same} <kbd>Y</kbd></button>
                <button type="button" disabled=${!write} onClick=${() => give("different")}>${texts.different} <kbd>N</kbd></button>
                <button type="button" disabled=${!write} onClick=${() => give("not-sure")}>${texts.notSure} <kbd>S</kbd></button>
              </div>
            </section>
          `}
      ${(question || done.current.length > 0) && html`
        <div class="row spread">
          <small>${texts.reviewHint} ${texts.reviewKeys}</small>
          <button type="button" class="quiet" disabled=${!done.current.length} onClick=${takeBack}><${Icon} name="undo" size=${18} />${texts.undo} <kbd>U</kbd></button>
        </div>
      `}
      ${write && questions.length + named.value.length > 1 && html`<${AdaptPanel} answered=${answered} />`}
    </div>
  `;
}
