/** Makes elements. Texts always become text nodes, so no value of a database can become markup. */
import { shapes } from "./icons.js";

/**
 * `h("a.link", { href: "#/" }, "Home")`, or without attributes `h("p", "Text")`. Attributes: `on…` is a listener; `class`
 * is added to the tag's classes; null, undefined and false are left out.
 * @param {string} tag a name, with classes behind dots
 * @param {any} [first] attributes, or a child
 * @param {...any} children elements, texts, lists of them; null and false are left out
 * @returns {any}
 */
export function h(tag, first, ...children) {
  const [name = "div", ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length > 0) element.className = classes.join(" ");
  const attributes = first?.constructor === Object ? first : null;
  for (const [key, value] of Object.entries(attributes ?? {})) set(element, key, value);
  add(element, attributes ? children : [first, ...children]);
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

/** An unknown name is drawn as a table: a service can know further ones. @param {keyof typeof shapes | (string & {})} name */
export const icon = (name) =>
  s(
    "svg",
    { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" },
    s("path", { d: shapes[/** @type {keyof typeof shapes} */ (name)] ?? shapes.table }),
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
    compact ? null : h("span", text),
  );

/**
 * A table for reading. A heading or cell that is false is left out.
 * @param {readonly (string | false)[]} headings @param {readonly Node[]} rows
 */
export const plainTable = (headings, rows) =>
  h(
    "table.plain",
    h(
      "thead",
      h(
        "tr",
        headings.map((text) => text !== false && h("th", { scope: "col" }, text)),
      ),
    ),
    h("tbody", rows),
  );

/** Closes an open menu by a click elsewhere, and by Escape. @param {HTMLDetailsElement} menu */
export function closeOutside(menu) {
  const close = (/** @type {Event} */ event) => {
    if (!menu.isConnected) return document.removeEventListener("click", close);
    // What was clicked can be gone from the menu meanwhile.
    if (menu.open && !event.composedPath().includes(menu)) menu.open = false;
  };
  document.addEventListener("click", close);
  menu.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
}
