/** Addresses of the console: all behind `#`, so that they work wherever the service is mounted. */

/** @typedef {import("./types.d.ts").Route} Route */

/** `#/demo/products?q=saw` @returns {Route} */
export function currentRoute() {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return {
    parts: path.split("/").filter(Boolean).map(decode),
    query: new URLSearchParams(query),
  };
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

/** The same, as a new entry of the history, which "back" undoes. @param {readonly string[]} parts @param {URLSearchParams} query */
export function stepInAddress(parts, query) {
  const address = addressOf(parts, query);
  if (address !== location.hash) history.pushState(null, "", address);
}

const scrollPauseMs = 100;
/** The scroll position to restore when the view has its height; null: people scroll themselves. @type {number | null} */
let wanted = 0;

/** Stores the scroll position in each history entry; the browser would restore it before the view has its height. */
export function rememberScroll() {
  history.scrollRestoration = "manual";
  let timer = 0;
  addEventListener("scroll", () => {
    clearTimeout(timer);
    const address = location.href;
    timer = setTimeout(() => {
      if (wanted === null && address === location.href)
        history.replaceState({ ...history.state, scroll: scrollY }, "");
    }, scrollPauseMs);
  });
}

/** To be called before another view changes the height of the page. */
export const holdScroll = () => void (wanted = history.state?.scroll ?? 0);

/** To be called when the view has its height; does nothing the second time. */
export function restoreScroll() {
  if (wanted !== null) scrollTo(0, wanted);
  wanted = null;
}

/** @param {import("./types.d.ts").Entity} entity @param {import("./types.d.ts").Row} row @returns {string[]} */
export const recordParts = ({ project, endpoint, key }, row) => [
  project,
  endpoint,
  "record",
  ...key.map((name) => String(row[name])),
];
