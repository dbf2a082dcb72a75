/** What the page tells in passing, and what it asks: short messages at the edge, and dialogs. */
import { fill, h, iconButton } from "./dom.js";

const places = h("div.notices", { role: "status", "aria-live": "polite" });

export const noticesPlace = () => places;

/** @param {string} text @param {"done" | "fault"} [kind] */
export function tell(text, kind = "done") {
  const notice = h(`div.notice.${kind}`, null, text);
  places.append(notice);
  setTimeout(() => notice.remove(), kind === "fault" ? 9000 : 4000);
}

/** @param {unknown} error */
export const tellFault = (error) =>
  tell(error instanceof Error ? error.message : String(error), "fault");

/**
 * A dialog over the page; Escape closes it. `close` in `content` closes it with a value.
 * @template T
 * @param {string} title
 * @param {(close: (value: T | null) => void) => any} content
 * @returns {Promise<T | null>} null: it was closed without a choice
 */
export function openDialog(title, content) {
  return new Promise((resolve) => {
    /** @type {T | null} */
    let chosen = null;
    const dialog = h("dialog.dialog", { "aria-labelledby": "dialog-title" });
    const close = (/** @type {T | null} */ value) => {
      chosen = value;
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(chosen);
    });
    fill(
      dialog,
      h(
        "header",
        null,
        h("h2", { id: "dialog-title" }, title),
        iconButton("close", "Close", { compact: true, onclick: () => close(null) }),
      ),
      h("div.dialog-body", null, content(close)),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** @param {string} title @param {string} text @param {string} action @returns {Promise<boolean>} */
export async function confirmed(title, text, action) {
  const answer = await openDialog(title, (/** @type {(value: true | null) => void} */ close) => [
    h("p", null, text),
    h(
      "div.actions",
      null,
      h("button.button", { type: "button", onclick: () => close(null) }, "Cancel"),
      h("button.button.danger", { type: "button", onclick: () => close(true) }, action),
    ),
  ]);
  return answer === true;
}
