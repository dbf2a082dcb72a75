/** Makes elements. Texts always become text nodes, so no value of a database can become markup. */

/**
 * `h("a.link", { href: "#/" }, "Home")`. Attributes: `on…` is a listener; `class` is added to the tag's classes; null,
 * undefined and false are left out.
 * @param {string} tag a name, with classes behind dots
 * @param {Record<string, any> | null} [attributes]
 * @param {...any} children elements, texts, lists of them; null and false are left out
 * @returns {any}
 */
export function h(tag, attributes, ...children) {
  const [name = "div", ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) set(element, key, value);
  add(element, children);
  return element;
}

/** @param {HTMLElement} element @param {string} key @param {any} value */
function set(element, key, value) {
  if (value === null || value === undefined || value === false) return;
  if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
  else if (key === "class") element.classList.add(...String(value).split(" ").filter(Boolean));
  else if (key === "value") /** @type {any} */ (element).value = value;
  else element.setAttribute(key, value === true ? "" : String(value));
}

/** @param {Node} element @param {any[]} children */
function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** @param {Element} element @param {...any} children */
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
}

const svg = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {...any} children
 * @returns {SVGElement}
 */
export function s(tag, attributes, ...children) {
  const element = document.createElementNS(svg, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  add(element, children);
  return /** @type {SVGElement} */ (element);
}

/** Lines of 24 by 24 units. */
const shapes = {
  menu: "M4 6h16M4 12h16M4 18h16",
  moon: "M20 14.5A8 8 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5z",
  code: "M8 6l-6 6 6 6M16 6l6 6-6 6",
  plus: "M12 5v14M5 12h14",
  back: "M15 5l-7 7 7 7",
  next: "M9 5l7 7-7 7",
  filter: "M4 5h16l-6 8v6l-4-2v-4z",
  columns: "M4 5h16v14H4zM10 5v14M15 5v14",
  chart: "M4 20V4M4 20h16M8 16v-5M12 16V8M16 16v-7",
  down: "M12 4v11M7 11l5 5 5-5M5 20h14",
  up: "M12 16V5M7 9l5-5 5 5M5 20h14",
  higher: "M6 15l6-6 6 6",
  lower: "M6 9l6 6 6-6",
  pin: "M9 4h6l-1 7 3 3H7l3-3zM12 14v6",
  close: "M6 6l12 12M18 6L6 18",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16.5 16.5L21 21",
  jobs: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2",
  table: "M4 5h16v14H4zM4 10h16M4 14.5h16M10 10v9",
  refresh: "M19 12a7 7 0 1 1-2-5M17 3v4h-4",
  print: "M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z",
  out: "M14 4h6v6M20 4l-9 9M18 14v6H4V6h6",
};

/** @param {keyof typeof shapes} name */
export const icon = (name) =>
  s(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" },
    s("path", { d: shapes[name] }),
  );

/**
 * A button with an icon, and a text that narrow screens can hide.
 * @param {keyof typeof shapes} shape @param {string} text @param {Record<string, any>} attributes
 */
export const iconButton = (shape, text, { compact = false, ...attributes }) =>
  h(
    "button.button",
    { type: "button", ...attributes, ...(compact && { "aria-label": text, title: text }) },
    icon(shape),
    compact ? null : h("span", null, text),
  );
