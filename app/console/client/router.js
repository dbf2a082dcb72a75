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

/** Changes the address without another view: the state of the one that is shown. @param {readonly string[]} parts @param {URLSearchParams} query */
export const keepInAddress = (parts, query) =>
  history.replaceState(history.state, "", addressOf(parts, query));

/** @param {import("./types.d.ts").Entity} entity @param {import("./types.d.ts").Row} row @returns {string[]} */
export const recordParts = ({ project, endpoint, key }, row) => [
  project,
  endpoint,
  "record",
  ...key.map((name) => String(row[name])),
];
