/** Addresses of the console: all behind `#`, so that they work wherever the service is mounted. */

/** @import { Route } from "./types.d.ts" */

/** `#/demo/products?q=saw` @param {string} [address] @returns {Route} */
export function currentRoute(address = location.hash) {
  const [path = "", query = ""] = address.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { parts: path.split("/").filter(Boolean).map(decode), query: new URLSearchParams(query) };
}

/** @param {string} part */
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {readonly string[]} parts @param {Record<string, string> | URLSearchParams} [query] */
export function addressOf(parts, query = {}) {
  const text = new URLSearchParams(query).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${text && `?${text}`}`;
}

/** @param {readonly string[]} parts @param {Record<string, string> | URLSearchParams} [query] */
export const go = (parts, query) => void (location.hash = addressOf(parts, query));

/** Stores the state of the current view in the address, without changing the view. @param {readonly string[]} parts @param {URLSearchParams} query */
export const keepInAddress = (parts, query) =>
  history.replaceState(history.state, "", addressOf(parts, query));

/** Shows another view in the place of this one, which "back" then passes over. @param {readonly string[]} parts */
export function replaceView(parts) {
  history.replaceState({ from: cameFrom() }, "", addressOf(parts));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** The same, as a new entry of the history, which "back" undoes. @param {readonly string[]} parts @param {URLSearchParams} query */
export function stepInAddress(parts, query) {
  const address = addressOf(parts, query);
  if (address !== location.hash) history.pushState({ from: cameFrom() }, "", address);
}

/** The view from which people came to this one. @typedef {{ address: string, title: string }} Origin */

/** Null: none, or not from a view of an endpoint. @returns {Origin | null} */
export const cameFrom = () => history.state?.from ?? null;

export const isSigningIn = () => location.hash.startsWith("#/sign-in");

/** What is shown after signing in: the view of the address, or the one that people were sent away from. */
export const addressToSignInFor = () =>
  isSigningIn() ? (cameFrom()?.address ?? "#/") : location.hash || "#/";

/** Keeps in a new entry of the history where people came from. @param {string | undefined} oldUrl @param {string} title of that view */
export function keepOrigin(oldUrl, title) {
  if (history.state?.from !== undefined) return;
  const address = oldUrl ? new URL(oldUrl).hash : "";
  const isKept = title !== "" && /^#\/[^/?]+\/[^/?]/.test(address);
  history.replaceState({ ...history.state, from: isKept ? { address, title } : null }, "");
}

/** As the browser's "back", which keeps the scroll position; other clicks open the address. @param {MouseEvent} event */
export function goBack(event) {
  if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
    return;
  event.preventDefault();
  history.back();
}

const scrollPauseMs = 100;
/** The scroll position to restore when the view has its height; null: people scroll themselves. @type {number | null} */
let wanted = 0;

/** Lists scroll below their headings, other views with the page. */
const scroller = () => document.querySelector("main .scroller") ?? document.documentElement;

/** Stores the scroll position in each history entry; the browser would restore it before the view has its height. */
export function rememberScroll() {
  history.scrollRestoration = "manual";
  let timer = 0;
  const store = () => {
    const scroll = scroller().scrollTop;
    if (wanted === null && scroll !== history.state?.scroll)
      history.replaceState({ ...history.state, scroll }, "");
  };
  const remember = () => {
    clearTimeout(timer);
    const address = location.href;
    timer = setTimeout(() => address === location.href && store(), scrollPauseMs);
  };
  addEventListener("scroll", remember, { capture: true });
  // A link can be followed sooner.
  addEventListener("click", store, { capture: true });
}

/** To be called before another view changes the height of the page. */
export const holdScroll = () => void (wanted = history.state?.scroll ?? 0);

/** To be called when the view has its height; does nothing the second time. @param {boolean} [isWhole] false: the view is still growing */
export function restoreScroll(isWhole = true) {
  if (wanted === null) return;
  const place = scroller();
  if (place !== document.documentElement) scrollTo(0, 0);
  place.scrollTop = wanted;
  if (isWhole || place.scrollTop >= wanted) wanted = null;
}

/** @param {import("./types.d.ts").Entity} entity @param {import("./types.d.ts").Row} row @returns {string[]} */
export const recordParts = ({ project, endpoint, key }, row) => [
  project,
  endpoint,
  "record",
  ...key.map((name) => String(row[name])),
];
