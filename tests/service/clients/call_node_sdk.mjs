// Every call of npm's @exadel/compreface-js-sdk; run by node in the folder that holds it.
// `node call_node_sdk.mjs PORT KEY FOLDER` prints one JSON object: what each call answered.

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/");
const sdk = await import(pathToFileURL(require.resolve("@exadel/compreface-js-sdk")).href);
const [port, key, folder] = process.argv.slice(2);
const options = { limit: 0, det_prob_threshold: 0.5, prediction_count: 1,
                  face_plugins: "calculator,landmarks,mask,pose", status: true };
const service = new sdk.CompreFace("http://127.0.0.1", Number(port), {});
const recognition = service.initFaceRecognitionService(key);
const verification = service.initFaceVerificationService(key);
const detection = service.initFaceDetectionService(key);
process.chdir(folder); // the client takes a path for one only if it begins with a dot
const path = (name) => `./${name}.png`;
const text = (name) => readFileSync(path(name)).toString("base64");
const said = {};

async function call(name, work) {
  try {
    said[name] = await work();
  } catch (error) {
    said[name] = { failed: error.response ? error.response.status : String(error),
                   data: error.response ? error.response.data : null };
  }
}

const subjects = () => recognition.getSubjects();
const faces = () => recognition.getFaceCollection();
await call("subjects.add", () => subjects().add("Ann"));
await call("subjects.add twice", () => subjects().add("Ann"));
await call("faces.add", () => faces().add(path("ann"), "Ann", { det_prob_threshold: 0.5 }));
await call("faces.add base64", () => faces().add(text("bob"), "Bob", { det_prob_threshold: 0.5 }));
await call("faces.list", () => faces().list());
await call("subjects.list", () => subjects().list());
await call("recognize", () => recognition.recognize(path("group"), options));
await call("recognize base64", () => recognition.recognize(text("group"), { limit: 1 }));
const { prediction_count, ...pair } = options;
await call("faces.verify", () => faces().verify(path("ann"), said["faces.add"].image_id, pair));
await call("detect", () => detection.detect(path("group"), pair));
await call("verify", () => verification.verify(path("ann"), path("group"), pair));
await call("verify base64", () => verification.verify(text("ann"), text("group"), pair));
await call("subjects.rename", () => subjects().rename("Bob", "Rob"));
await call("faces.delete_multiple",
           () => faces().delete_multiple_images([said["faces.add"].image_id]));
await call("faces.delete_all_subject", () => faces().delete_all_subject("Rob"));
await call("subjects.add again", () => subjects().add("Cy"));
await call("subjects.delete", () => subjects().delete("Cy"));
await call("faces.delete_all", () => faces().delete_all());
await call("subjects.deleteAll", () => subjects().deleteAll());
console.log(JSON.stringify(said));
