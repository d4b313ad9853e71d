/** Every text of the page, in one place, so that it can be translated. */

const many = new Intl.PluralRules("en");
const numbers = new Intl.NumberFormat("en");
const dates = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const moments = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

/** @param {number} n @param {string} one @param {string} other */
const plural = (n, one, other) => `${numbers.format(n)} ${many.select(n) === "one" ? one : other}`;

/** The log ratio from which odds are not told by their number. */
const MILLION = Math.log(1e6);

/** Odds as people say them. @param {number} log */
function times(log) {
  if (Math.abs(log) >= MILLION) return "more than a million";
  const size = Math.exp(Math.abs(log));
  if (size >= 1000) return numbers.format(Number(size.toPrecision(1)));
  return numbers.format(Number(size.toPrecision(size < 10 ? 2 : 1)));
}

/** @param {number} p */
const chance = (p) => (p > 0.995 ? "more than 99 %" : p < 0.005 ? "less than 1 %" : `${Math.round(100 * p)} %`);

export const texts = {
  // The shell
  people: "People",
  person: "Person",
  review: "Review",
  unknownPeople: "Unknown",
  photo: "Photo",
  try: "Try",
  import: "Import",
  settings: "Settings",
  navigation: "Main navigation",
  gallery: "Gallery",
  skip: "Skip to the content",
  theme: "Theme",
  themeAuto: "Auto",
  themeLight: "Light",
  themeDark: "Dark",
  loading: "Loading…",
  close: "Close",
  cancel: "Cancel",
  back: "Back",
  more: "Show more",
  undo: "Undo",
  undone: "Undone.",
  nothingToUndo: "There is nothing to undo.",
  notReached: "The server cannot be reached. What you did last may not have been done.",
  reconnecting: "The server cannot be reached. Trying again…",
  wentWrong: "Something went wrong in this page. Load it again.",
  noGallery: "There is no gallery yet",
  noGalleryDetail: "A gallery holds people and their faces. Make one in the settings.",
  linkUsed: "This link was used already or has expired.",
  /** @param {number} n */
  count: (n) => numbers.format(n),
  /** @param {number} n */
  nFaces: (n) => plural(n, "face", "faces"),
  /** @param {number} n */
  nPeople: (n) => plural(n, "person", "people"),
  /** @param {number} time */
  moment: (time) => moments.format(1000 * time),
  /** @param {number} time */
  day: (time) => dates.format(1000 * time),

  // Signing in
  signIn: "Sign in",
  signInDetail: "Open the link that the server printed when it started, or paste a key.",
  signInVerb: "Sign in",
  signInHint: "For a new link, run in a terminal:",
  key: "Key",

  // People
  searchPeople: "Search people",
  order: "Order",
  byName: "Name",
  byCount: "Most faces",
  byNewest: "Newest",
  byDoubt: "Least certain",
  /** @param {number | undefined} ratio */
  doubtOf: (ratio) =>
    ratio === undefined || !Number.isFinite(ratio)
      ? "one face: nothing to compare"
      : ratio < 0
        ? `a face is ${times(ratio)} to 1 against`
        : `all faces at least ${times(ratio)} to 1`,
  /** @param {number} n */
  showHidden: (n) => `Show hidden (${numbers.format(n)})`,
  peopleHint: "Drag somebody onto another to merge. Keys: arrows, Enter, M merge, H hide, R rename, / search",
  nothingFound: "Nobody has such a name.",
  nobody: "Nobody is here yet",
  nobodyDetail: "Import pictures, and mien finds the faces and groups them by person. You give the names.",
  hidden: "hidden",
  /** @param {string} name @param {string} into */
  merged: (name, into) => `${shown(name)} is now part of ${shown(into)}.`,
  /** @param {string} name */
  mergeTitle: (name) => `Merge ${shown(name)} into…`,
  merge: "Merge",
  /** @param {string} name */
  wasHidden: (name) => `${shown(name)} is hidden.`,
  /** @param {string} name */
  isShown: (name) => `${shown(name)} is shown again.`,
  hide: "Hide",
  show: "Show",
  rename: "Rename",
  nameTitle: "Who is it?",
  giveName: "Save",
  /** @param {string} name */
  named: (name) => `The name is ${name}.`,
  nameOfPerson: "Name",
  /** @param {string} name */
  newPersonCalled: (name) => `New person: ${name}`,
  addName: "Add a name",
  noName: "No name yet",
  unknown: "Unknown",

  // A person
  noPerson: "This person is not in the gallery",
  noPersonDetail: "Somebody merged or deleted them.",
  /** @param {number} time */
  since: (time) => `since ${dates.format(1000 * time)}`,
  delete: "Delete",
  /** @param {string} name */
  deleteTitle: (name) => `Delete ${shown(name)}?`,
  /** @param {number} n */
  deleteErases: (n) =>
    `${plural(n, "face", "faces")} with their templates and small pictures, the name and every answer about them are erased from the file. It cannot be undone.`,
  deleteLeaves: "Your photos stay where they are. Backups and copies of the gallery that were made before are out of reach.",
  deleteForGood: "Delete for good",
  /** @param {string} name */
  deleted: (name) => `${shown(name)} was deleted.`,
  /** @param {number} n */
  deleteFacesTitle: (n) => `Delete ${plural(n, "face", "faces")}?`,
  deleteFacesDetail: "Templates and small pictures are erased from the file. It cannot be undone. Photos stay where they are.",
  /** @param {number} n */
  facesDeleted: (n) => `${plural(n, "face was", "faces were")} deleted.`,
  pictures: "Pictures",
  heads: "Faces",
  wholePhotos: "Photos",
  doubtFirst: "Doubtful first",
  newestFirst: "Newest first",
  facesHint: "Click to select, Shift-click for a range, double-click for the photo. Keys: arrows, Space, Ctrl+A, M move",
  withSelected: "With the selected faces",
  /** @param {number} n */
  nSelected: (n) => `${numbers.format(n)} selected`,
  moveTo: "Move to…",
  move: "Move",
  /** @param {number} n */
  moveTitle: (n) => `Move ${plural(n, "face", "faces")} to…`,
  /** @param {number} n @param {string} to */
  moved: (n, to) => `${plural(n, "face", "faces")} moved to ${shown(to)}.`,
  notThisPerson: "Not this person",
  /** @param {number} n @param {string} name */
  takenOut: (n, name) => `${plural(n, "face", "faces")} will never be ${shown(name)} again.`,
  notAFace: "Not a face",
  /** @param {number} n */
  notFaces: (n) => `${plural(n, "picture is", "pictures are")} not a face.`,
  clear: "Clear",
  /** @param {string} name */
  facesOf: (name) => `Faces of ${shown(name)}`,
  fits: "How well it fits the other faces",
  /** @param {number} k @param {string | null} picture @param {number | null} ratio @param {number | null} threshold */
  faceLabel: (k, picture, ratio, threshold) =>
    [`Face ${k}`, picture, ratio === null ? null : texts.ratioInWords(ratio, threshold)].filter(Boolean).join(", "),
  consent: "Consent and retention",
  consentNone: "No consent is noted",
  /** @param {number} time */
  consentGiven: (time) => `Consent given on ${dates.format(1000 * time)}`,
  consentNote: "For what, and how it was given",
  consentSave: "Save consent",
  consentSaved: "Consent was noted.",
  consentBy: "noted on the page",
  keepUntil: "Keep until",
  keepForever: "No end is set",
  /** @param {number} time */
  keptUntil: (time) => `Kept until ${dates.format(1000 * time)}`,
  keepSave: "Save",
  keepSaved: "The end of the retention was saved.",

  // Evidence
  evidence: "Evidence",
  noEvidence: "nothing to compare with",
  /** @param {number} ratio @param {number | null} threshold */
  ratioInWords: (ratio, threshold) => {
    const words = ratio >= 0 ? `${times(ratio)} to 1 for the same person` : `${times(ratio)} to 1 against the same person`;
    if (threshold === null || !Number.isFinite(threshold)) return words;
    const where = ratio >= threshold ? "above the threshold" : "below the threshold";
    return `${words}, ${where}${Math.abs(threshold) < MILLION ? ` of ${times(threshold)} to 1` : ""}`;
  },
  /** @param {number} rate */
  rateInWords: (rate) => `1 in ${numbers.format(Math.round(1 / rate))} strangers would be named`,
  /** @param {boolean | string | null} promised */
  promise: (promised) =>
    promised === true
      ? "The people of this gallery support this rate."
      : promised === "shipped"
        ? "This rate rests on the model card; the gallery has too few people to check it."
        : "This rate is extrapolated: treat it as a guess.",

  // Review
  reviewTitle: "Same person?",
  /** @param {string} a @param {string} b */
  isThis: (a, b) => `Is this ${/^person-\d+$/.test(a) ? b : a}?`,
  same: "Same",
  different: "Different",
  notSure: "Not sure",
  reviewNobody: "Nothing to ask yet",
  reviewNobodyDetail: "Questions come when there are pictures of several people. Import some first.",
  reviewDone: "Nothing left to ask",
  reviewDoneDetail: "mien is sure of everybody here. New pictures may bring new questions.",
  reviewHint: "The question whose answer helps most faces comes first.",
  reviewKeys: "Keys: Y same, N different, S not sure, U undo",
  /** @param {number} n */
  answered: (n) => plural(n, "answer", "answers"),
  /** @param {number} p @param {number} n */
  whyAsked: (p, n) => `The same person with ${chance(p)} · the answer decides ${plural(n, "face", "faces")}`,
  saidSame: "Noted: the same person.",
  saidDifferent: "Noted: never the same person.",
  saidSkip: "Skipped.",
  adaptTitle: "Adapt to your answers",
  adaptDetail: "The model learns from the people of this gallery and from your answers. Nothing changes until you accept.",
  adaptTry: "Try it",
  adaptAccept: "Use it",
  adaptAccepted: "The adapted model is in use.",
  adaptBefore: "Before",
  adaptAfter: "After",
  exportAnswers: "Export answers",

  // Unknown
  unknownHint: "People without a name who appear on several pictures, the most frequent first.",
  nobodyYet: "People whom mien finds on your pictures and does not know appear here. Import some first.",
  nobodyUnknown: "No strangers",
  nobodyUnknownDetail: "Everybody who appears more than once has a name, or is ignored.",
  ignore: "Ignore for good",
  /** @param {number} n */
  ignored: (n) => `Ignored, also on new pictures (${plural(n, "face", "faces")}).`,
  /** @param {number} n */
  showIgnored: (n) => `Show ignored (${numbers.format(n)})`,
  ignoredPill: "Ignored",
  stopIgnoring: "Stop ignoring",
  /** @param {number} n */
  showSingles: (n) => `Show those seen once (${numbers.format(n)})`,
  whoIs: "Who is it?",
  allFaces: "All faces",

  // A photo
  photoGone: "This photo cannot be shown",
  photoGoneDetail: "mien keeps no photos. It shows those in folders that the server was started with: mien serve --photos FOLDER.",
  drawMissed: "Add a missed face",
  drawing: "Draw a box around the face, or press Escape",
  /** @param {string} name */
  photoOf: (name) => `Photo ${name}`,
  facesHere: "Faces",
  reassign: "Change",
  addThis: "Add to…",
  /** @param {string} name */
  added: (name) => `The face was added to ${shown(name)}.`,
  notEnrolled: "Not in the gallery",
  suggested: "Suggested",

  // Try
  tryWho: "Who is it?",
  tryTwo: "Two pictures",
  tryCover: "A covered face",
  dropHere: "Drop pictures here",
  chooseFiles: "Choose files",
  orCamera: "Or take a picture",
  useCamera: "Use the camera",
  stopCamera: "Stop the camera",
  takePicture: "Take a picture",
  noCamera: "The camera cannot be used. Allow it in the browser's settings.",
  noFaces: "No face was found.",
  notUsed: "The picture could not be used.",
  tryDetail: "What you try here is not kept.",
  twoHint: "Give two pictures: mien says whether they show the same person, and how sure it is.",
  /** @param {string} name */
  nearest: (name) => `Nearest is ${shown(name)}`,
  analysing: "Looking for faces…",
  showJson: "The answer as JSON",
  first: "First picture",
  second: "Second picture",
  verdictSame: "The same person",
  verdictDifferent: "Two people, or too little evidence",
  /** @param {number} far */
  verdictRate: (far) => `Decided so that 1 in ${numbers.format(Math.round(1 / far))} pairs of strangers would pass.`,
  /** @param {number} p */
  verdictProbability: (p) => `Probability ${(100 * p).toFixed(p > 0.99 || p < 0.01 ? 2 : 0)} %, if half of all pairs show one person.`,
  completeDetail: "mien finds what covers the face and fills it in from other faces. What is visible is not changed. It is a guess, not evidence.",
  covered: "As it came",
  completed: "Completed",
  missedCover: "No cover was found.",

  // Import
  importUpload: "Upload pictures",
  importUploadDetail: "Drop photos or a ZIP archive. Faces of known people are recognised; everybody else is grouped under Unknown.",
  importFolder: "A folder on the server",
  importFolderDetail: "Folders that the server was started with.",
  importNoFolder: "The server was started without folders. To choose one here, start it with",
  importVerb: "Import",
  importStarted: "The import has begun.",
  /** @param {number} n */
  uploaded: (n) => `${plural(n, "file was", "files were")} sent.`,
  /** @param {number} n */
  nPictures: (n) => plural(n, "picture", "pictures"),
  keepPictures: "Keep small pictures of faces for this page",
  keepPicturesWhy: "Without them you see plain heads instead of faces. Your photos themselves are never kept.",
  picturesKept: "Small pictures of faces are kept from now on.",
  picturesMissing: "This gallery keeps no small pictures of faces, so plain heads are shown.",
  picturesKeep: "Keep small pictures",
  picturesGone: "Small pictures of faces were erased.",
  uploadNames: "A folder per person: take folder names as names",
  uploading: "Uploading…",
  jobs: "Jobs",
  noJobs: "No jobs yet.",
  cancelJob: "Stop",
  forgetJob: "Remove",
  /** @param {string} kind */
  jobKind: (kind) =>
    ({ enrol: "Enrol by folder names", import: "Import pictures", cluster: "Group", identify: "Name", adapt: "Adapt", folder: "Import a folder", thumbnails: "Make small pictures" })[kind] ?? kind,
  /** @param {string} state */
  jobState: (state) => ({ queued: "Waiting", running: "Running", done: "Done", failed: "Failed", cancelled: "Stopped" })[state] ?? state,
  /** @param {number} done @param {number | null} total */
  progress: (done, total) => (total ? `${numbers.format(done)} of ${numbers.format(total)}` : numbers.format(done)),
  whatFailed: "What failed, and why",
  /** @param {{known: number, unknown: number, groups: number, failures: number}} n */
  imported: (n) =>
    `${plural(n.known, "face", "faces")} of known people, ${plural(n.unknown, "unknown face", "unknown faces")} in ${plural(n.groups, "group", "groups")}, ${plural(n.failures, "picture", "pictures")} not used`,

  // Settings
  galleries: "Galleries",
  newGallery: "New gallery",
  inUse: "in use",
  open: "Open",
  make: "Make",
  /** @param {string} name */
  galleryMade: (name) => `The gallery ${name} was made.`,
  keys: "Keys",
  keyFor: "For",
  allGalleries: "all galleries",
  keysDetail: "For programs, and for the page on other devices. As soon as there is a key, every program needs one.",
  newKey: "New key",
  role: "May",
  roleRead: "read",
  roleWrite: "read and change",
  roleAdmin: "do everything",
  label: "Note",
  keyShown: "Copy it now: it is not shown again.",
  copy: "Copy",
  copied: "Copied.",
  revoke: "End",
  revoked: "ended",
  keyRevoked: "The key opens nothing from now on.",
  deviceLink: "Open on another device",
  deviceLinkDetail: "A link that works once, within an hour.",
  rates: "False names",
  ratesDetail: "How many strangers may wrongly get a name. A stricter rate leaves more faces of known people unknown.",
  /** @param {number} miss */
  ratesCost: (miss) => `Leaves ${(100 * miss).toFixed(miss < 0.1 ? 1 : 0)} % of known faces unknown`,
  ratesUnknown: "Too few people here to measure what that costs",
  rateChange: "To change it, start the server with another rate:",
  audit: "Audit trail",
  auditDetail: "What was done to the gallery, without names.",
  noAudit: "Nothing was done yet.",
  /** @param {string} action @param {number} n @param {number} faces */
  auditLine: (action, n, faces) => `${action}: ${plural(n, "person", "people")}, ${plural(faces, "face", "faces")}`,
  retention: "Retention",
  retentionDetail: "For these people the consent or the retention period has ended. Deleting them is for good.",
  retentionNone: "Nobody's consent or retention period has ended.",
  /** @param {number} n */
  purge: (n) => `Delete ${plural(n, "person", "people")}`,
  purged: "They were deleted.",
  signOut: "Sign out",
  engine: "Engine",
  sealed: "sealed",
};

/** A name as it is shown in a sentence. @param {string} name */
function shown(name) {
  return /^person-\d+$/.test(name) ? "somebody without a name" : name;
}
