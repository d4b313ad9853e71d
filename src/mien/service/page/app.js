/** The shell: navigation, the view that is asked for, messages, dialogs. */

import { render } from "preact";
import { useEffect } from "preact/hooks";
import { effect, signal } from "@preact/signals";
import { connected, findSession, session, signIn } from "./api.js";
import {
  chooseGallery, galleries, gallery, href, people, place, readGalleries, readPeople, remember, remembered, say, trying, unnamed, hidden,
} from "./state.js";
import { texts } from "./texts.js";
import { Choice, dialog, Empty, html, Icon, Toasts, Waiting } from "./ui.js";
import { ImportView } from "./views/import.js";
import { PeopleView } from "./views/people.js";
import { PersonView } from "./views/person.js";
import { PhotoView } from "./views/photo.js";
import { ReviewView } from "./views/review.js";
import { SettingsView } from "./views/settings.js";
import { SignInView } from "./views/signin.js";
import { TryView } from "./views/try.js";
import { UnknownView } from "./views/unknown.js";

/** @type {Record<string, {title: string, view: any}>} */
const VIEWS = {
  people: { title: texts.people, view: PeopleView },
  person: { title: texts.person, view: PersonView },
  review: { title: texts.review, view: ReviewView },
  unknown: { title: texts.unknownPeople, view: UnknownView },
  photo: { title: texts.photo, view: PhotoView },
  try: { title: texts.try, view: TryView },
  import: { title: texts.import, view: ImportView },
  settings: { title: texts.settings, view: SettingsView },
};
const NAVIGATION = /** @type {const} */ (["people", "review", "unknown", "try", "import", "settings"]);

const theme = signal(remembered("mien-theme") ?? "auto");
/** @param {string} wanted */
function setTheme(wanted) {
  theme.value = wanted;
  remember("mien-theme", wanted === "auto" ? null : wanted);
  if (wanted === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = wanted;
}

function Navigation() {
  const view = place.value.view;
  const waiting = unnamed.value.filter((one) => !hidden.value.has(one.id) && one.faces > 1).length;
  return html`
    <nav class="navigation" aria-label=${texts.navigation}>
      <a class="brand" href=${href("people")} aria-label="mien"><img src="/page/icon.svg" alt="" width="32" height="32" /><span>mien</span></a>
      ${NAVIGATION.map((name) => {
        const here = view === name || (name === "people" && (view === "person" || view === "photo"));
        return html`
          <a key=${name} href=${href(name)} aria-current=${here ? "page" : undefined}>
            <${Icon} name=${name} size=${22} />
            <span>${VIEWS[name].title}</span>
            ${name === "unknown" && waiting > 0 && html`<small class="badge">${waiting}</small>`}
          </a>
        `;
      })}
      <div class="grow"></div>
      <div class="corner">
        ${(galleries.value?.length ?? 0) > 1 && html`
          <label class="field">
            <span>${texts.gallery}</span>
            <select value=${gallery.value} onChange=${(/** @type {Event} */ event) => chooseGallery(/** @type {HTMLSelectElement} */ (event.target).value)}>
              ${galleries.value?.map((one) => html`<option key=${one.name} value=${one.name}>${one.name}</option>`)}
            </select>
          </label>
        `}
        <${Choice} label=${texts.theme} value=${theme.value} onChange=${setTheme}
          choices=${[["auto", texts.themeAuto], ["light", texts.themeLight], ["dark", texts.themeDark]]} />
      </div>
    </nav>
  `;
}

function App() {
  useEffect(() => {
    start();
  }, []);
  const known = session.value;
  const { view, rest } = place.value;
  const found = VIEWS[view] ?? VIEWS.people;
  useEffect(() => {
    document.title = known ? `${found.title} · mien` : "mien";
  }, [found, known]);
  useEffect(() => {
    scrollTo(0, 0);
    document.getElementById("main")?.focus({ preventScroll: true });
  }, [view, rest.join("/")]);
  let content;
  if (known === undefined) content = html`<${Waiting} />`;
  else if (known === null) return html`<${SignInView} /><${Toasts} />`;
  else if (galleries.value === null || (people.value === null && gallery.value)) content = html`<${Waiting} />`;
  else if (!gallery.value && view !== "settings") {
    content = html`<${Empty} title=${texts.noGallery} detail=${texts.noGalleryDetail}><a class="button primary" href=${href("settings")}>${texts.settings}</a><//>`;
  } else content = html`<${found.view} key=${`${gallery.value}/${rest[0] ?? ""}`} rest=${rest} />`;
  return html`
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => {
      event.preventDefault();
      document.getElementById("main")?.focus();
    }}>${texts.skip}</a>
    <${Navigation} />
    ${!connected.value && html`<div class="banner" role="alert"><span class="spinner"></span>${texts.reconnecting}</div>`}
    <main id="main" tabindex="-1">${content}</main>
    ${dialog.value?.()}
    <${Toasts} />
  `;
}

/** The one-time link is used and leaves the address at once. */
async function start() {
  const link = /^#link=([\w-]+)$/.exec(location.hash)?.[1];
  if (link) {
    history.replaceState(null, "", "#/people");
    place.value = { view: "people", rest: [] };
    const done = await trying(async () => {
      await signIn({ link });
      return true;
    });
    if (!done) {
      await findSession();
      if (session.value === null) say(texts.linkUsed, "error");
    }
  } else await findSession();
}

effect(() => {
  if (session.value) readGalleries();
});
let before = "";
effect(() => {
  if (session.value && gallery.value && gallery.value !== before) {
    before = gallery.value;
    readPeople();
  }
});

render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
