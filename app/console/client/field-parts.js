/** What stands beside the input of a field: the stored file, the link of an address, the tools of large texts and JSON. */
import { bytesIn, bytesShown } from "./bytes.js";
import { fill, h, icon } from "./dom.js";
import { jsonFault, jsonText, parseJson } from "./json.js";
import { openTree } from "./json-tree.js";
import { t } from "./words.js";

/** @param {URL} address */
export function openLink({ href }) {
  const title = t("open");
  const about = { href, target: "_blank", rel: "noopener noreferrer", title, "aria-label": title };
  return h("a.open-address", about, icon("out"));
}

/** The input for a file, with what is stored. @param {any} input @param {import("./types.d.ts").Field} field @param {{ start: string, onChange: (base64: string) => void }} place */
export function fileChoice(input, field, { start, onChange }) {
  const shown = h("span");
  const remove = h("button.button", { type: "button", onclick: () => take("") }, t("remove"));
  const show = (/** @type {string} */ base64) => {
    fill(shown, base64 === "" ? null : bytesShown(base64, field.label));
    remove.hidden = base64 === "";
  };
  /** @param {string} base64 */
  function take(base64) {
    if (base64 === "") input.value = "";
    show(base64);
    onChange(base64);
  }
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (file) take(await bytesIn(file));
  });
  show(start);
  return h("div.file-choice", shown, input, remove);
}

/** What stands below a large input. @param {"json" | "long"} kind @param {any} input @param {{ check: () => string | undefined, changed: () => void, showFaults: (messages: readonly string[]) => void }} place */
export function toolsOf(kind, input, { check, changed, showFaults }) {
  const larger = h(
    "button",
    {
      type: "button",
      "aria-pressed": "false",
      onclick() {
        const isLarge = input.classList.toggle("large");
        larger.setAttribute("aria-pressed", String(isLarge));
        input.scrollIntoView({ block: "nearest" });
      },
    },
    t("field.larger"),
  );
  if (kind !== "json") return h("div.field-tools", larger);
  const format = () => {
    const fault = check();
    if (fault === undefined) {
      if (input.value.trim() !== "") input.value = jsonText(parseJson(input.value), 2);
      return changed();
    }
    const at = jsonFault(input.value)?.at ?? 0;
    showFaults([fault]);
    input.focus();
    input.setSelectionRange(at, at + 1);
  };
  const tree = h("div");
  const folded = h("details.json-view", { ontoggle: showTree }, h("summary", t("json.tree")), tree);
  function showTree() {
    if (folded.open && check() === undefined)
      fill(tree, input.value.trim() === "" ? null : openTree(parseJson(input.value)));
  }
  input.addEventListener("change", showTree);
  const formatting = h("button", { type: "button", onclick: format }, t("json.format"));
  return [h("div.field-tools", formatting, larger), folded];
}
