/**
 * START HERE: the console. Reads the index of what the caller can use, and shows the view that the address names. Each
 * view is a module of `views/`, loaded when it is first shown. All data comes from the public API.
 */
import { ApiError, forgetRequests, onRefused } from "./api.js";
import { fill, h } from "./dom.js";
import { forgetLabels } from "./labels.js";
import { loadEntity, loadIndex, titleOfEndpoint, wordsOf } from "./model.js";
import {
  currentRoute,
  holdScroll,
  isSigningIn,
  keepOrigin,
  rememberScroll,
  restoreScroll,
} from "./router.js";
import { createShell } from "./shell.js";
import { closeDialogs, tellFault } from "./notices.js";
import { finishSignIn } from "./open-id.js";
import { hasUnsaved } from "./records/record-editing.js";
import { credentials, signOut } from "./session.js";
import { startTheme } from "./theme.js";
import { t } from "./words.js";

/** @import { Leave, Route, View } from "./types.d.ts" */

/** By the part of the address behind project and endpoint. @type {Record<string, () => Promise<{ show: View }>>} */
const views = {
  grid: () => import("./views/grid.js"),
  record: () => import("./views/record.js"),
  new: () => import("./views/new.js"),
  import: () => import("./views/import.js"),
  chart: () => import("./views/chart.js"),
  dashboard: () => import("./views/dashboard.js"),
  home: () => import("./views/home.js"),
  jobs: () => import("./views/jobs.js"),
  "sign-in": () => import("./views/sign-in.js"),
};

startTheme();
rememberScroll();
const shell = createShell(/** @type {HTMLElement} */ (document.getElementById("app")));
/** @type {Leave | null} */
let leave = null;
let shown = location.hash;
let visits = 0;

/** @param {Route} route @param {import("./model.js").Index} index */
function viewOf({ parts: [project, endpoint, third] }, { projects }) {
  // A project can have the same name, but then endpoints follow.
  if (endpoint === undefined && (project === "jobs" || project === "sign-in")) return project;
  if (endpoint === undefined)
    return projects.some(({ name, dashboard }) => name === project && dashboard)
      ? "dashboard"
      : "home";
  return viewNamed(third);
}

/** Whether the caller sees what the address names. @param {Route} route @param {import("./model.js").Index} index */
function isSeen({ parts: [project, endpoint] }, { projects }) {
  if (endpoint === undefined && (project === undefined || project === "jobs"))
    return projects.length > 0;
  const found = projects.find(({ name }) => name === project);
  if (!found || endpoint === undefined) return found !== undefined;
  return found.status !== "ready" || found.endpoints.some(({ name }) => name === endpoint);
}

/** @param {string | undefined} third part of an address */
const viewNamed = (third) => (third !== undefined && third in views ? third : "grid");

/** @param {string} view */
const loadView = (view) => /** @type {() => Promise<{ show: View }>} */ (views[view])();

/** @param {HashChangeEvent} [event] */
async function visit(event) {
  if (leave?.() === false) {
    history.replaceState({ from: null }, "", shown || "#/");
    return;
  }
  leave = null;
  closeDialogs();
  keepOrigin(event?.oldURL, shell.main.querySelector("h1")?.textContent ?? "");
  const visiting = ++visits;
  shown = location.hash;
  holdScroll();
  const route = currentRoute();
  forgetRequests();
  // The previous view could have renamed the records.
  forgetLabels();
  // A view that is left while it loads must not overwrite the next one.
  const place = h("div.view");
  const [project = "", endpoint] = route.parts;
  shell.startLoading(
    route,
    endpoint === undefined ? wordsOf(project) : titleOfEndpoint(project, endpoint),
  );
  try {
    const loading = loadIndex();
    // Asked for at the same time, because each takes several rounds.
    if (endpoint !== undefined) {
      loadEntity(project, endpoint).catch(() => null);
      loadView(viewNamed(route.parts[2])).catch(() => null);
    }
    const index = await loading;
    const view = index.signIn && !isSeen(route, index) ? "sign-in" : viewOf(route, index);
    const { show } = await loadView(view);
    if (visiting !== visits) return;
    shell.show(index, route);
    fill(shell.main, place);
    const left = (await show(place, route)) ?? null;
    // The next view would lose its scroll position and its own way to be left.
    if (visiting !== visits) return void left?.();
    leave = left;
    // A list has its final height only after its rows are loaded, and a record after the related ones.
    if (view !== "grid") restoreScroll(view !== "record");
  } catch (error) {
    if (visiting !== visits) return;
    fill(shell.main, place);
    fill(place, faultOf(error));
  } finally {
    if (visiting === visits) shell.endLoading();
  }
}

/** @param {unknown} error */
function faultOf(error) {
  // Otherwise the expired credentials would be sent with every request.
  if (error instanceof ApiError && error.status === 401 && credentials()) {
    signOut();
    // The request that was refused has led there, and the index was refused there.
    if (isSigningIn()) void visit();
    else location.hash = "#/sign-in";
  }
  const text = error instanceof Error ? error.message : String(error);
  return h(
    "div.empty",
    h("h1", t("view.failed")),
    h("p", text),
    h("button.button", { type: "button", onclick: () => void visit() }, t("tryAgain")),
  );
}

let isAsking = false;
/** Asks for new credentials; over the page, if it has changes that are not saved. */
async function askToSignIn() {
  if (isSigningIn() || isAsking) return;
  if (!hasUnsaved()) return void (location.hash = "#/sign-in");
  isAsking = true;
  const { signInOver } = await import("./views/sign-in.js");
  const isIn = await signInOver().finally(() => (isAsking = false));
  if (!isIn) return;
  if (hasUnsaved()) shell.show(await loadIndex(), currentRoute());
  else await visit();
}

onRefused(() => void askToSignIn().catch(tellFault));
addEventListener("hashchange", (event) => void visit(event));
await finishSignIn();
await visit();
