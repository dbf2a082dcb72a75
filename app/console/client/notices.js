/** Short messages at the edge of the page, and dialogs. */
import { fill, h, iconButton } from "./dom.js";
import { t } from "./words.js";

const places = h("div.notices", { role: "status", "aria-live": "polite" });

export const noticesPlace = () => places;

/** One of a kind at a time. @type {Map<string, { element: HTMLElement, texts: Set<string>, timer: number }>} */
const notices = new Map();

/** @param {string} text @param {"done" | "fault"} [kind] */
export function tell(text, kind = "done") {
  const shown = notices.get(kind);
  clearTimeout(shown?.timer);
  // Of messages about success only the last is shown; a fault must not hide another.
  const texts = kind === "fault" ? new Set([...(shown?.texts ?? []), text]) : new Set([text]);
  const element = shown?.element ?? h(`div.notice.${kind}`);
  fill(
    element,
    [...texts].map((one) => h("p", one)),
  );
  places.append(element);
  const end = () => {
    element.remove();
    notices.delete(kind);
  };
  const timer = setTimeout(end, kind === "fault" ? 9000 : 4000);
  notices.set(kind, { element, texts, timer });
}

/** For a while, with a button. @param {string} text @param {() => unknown} undo */
export function offerUndo(text, undo) {
  const notice = h(
    "div.notice",
    `${text} `,
    h("button.button", { type: "button", onclick: undone }, t("undo")),
  );
  places.append(notice);
  setTimeout(() => notice.remove(), 15_000);
  function undone() {
    notice.remove();
    void undo();
  }
}

/** A line that lies over the view and moves nothing, until people close it or it is hidden. */
export function viewNotice() {
  const line = h("div.view-notice", { hidden: true });
  const status = h("p.unseen", { role: "status" });
  const hide = () => {
    line.hidden = true;
    status.textContent = "";
  };
  return {
    element: [h("div.view-notice-place", line), status],
    hide,
    /** `said`: what screen readers are told, once for each text. @param {{ text: any, action?: string, act?: () => void, said?: string }} content */
    show({ text, action, act, said }) {
      const focused = line.contains(document.activeElement);
      const button = act && h("button.button", { type: "button", onclick: act }, action);
      const close = iconButton("close", t("close"), { compact: true, onclick: hide });
      const content = h("span", text);
      fill(line, content, button, close);
      line.hidden = false;
      if (focused) (button ?? close).focus();
      const told = said ?? content.textContent;
      if (status.textContent !== told) status.textContent = told;
    },
  };
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
        h("h2", { id: "dialog-title" }, title),
        iconButton("close", t("close"), { compact: true, onclick: () => close(null) }),
      ),
      h("div.dialog-body", content(close)),
    );
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** They are about the view that is left. */
export function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
}

/** @param {string} title @param {string} text @param {string} action @returns {Promise<boolean>} */
export async function confirmed(title, text, action) {
  const answer = await openDialog(title, (/** @type {(value: true | null) => void} */ close) => [
    h("p", text),
    h(
      "div.actions",
      h("button.button", { type: "button", onclick: () => close(null) }, t("cancel")),
      h("button.button.danger", { type: "button", onclick: () => close(true) }, action),
    ),
  ]);
  return answer === true;
}
