/**
 * Inputs for fields of a record that others may change meanwhile. What only they changed is taken, and its input says
 * so. What both changed is asked beside its input; what was typed stays there until people choose.
 */
import { h } from "../dom.js";
import { jsonText } from "../json.js";
import { t } from "../words.js";

/** @import { Row } from "../types.d.ts" */
/** @import { FormField } from "../form-field.js" */

/**
 * @typedef {object} EditedOptions
 * @property {readonly string[]} names
 * @property {Row | null} row what the inputs begin with
 * @property {(name: string, row: Row | null) => FormField} make
 * @property {"element" | "control"} part of an input that stands in the page
 * @property {(name: string, row: Row) => HTMLElement} show shows a value of others
 * @property {() => void} onChoice
 */

/** @typedef {ReturnType<typeof editedFields>} EditedFields */

/** @param {EditedOptions} options */
export function editedFields({ names, row, make, part, show, onChoice }) {
  const inputs = new Map(names.map((name) => [name, make(name, row)]));
  const first = new Map([...inputs].map(([name, input]) => [name, input.text()]));
  /** By field. @type {Map<string, HTMLElement>} */
  const questions = new Map();

  const changed = () =>
    [...inputs].filter(([name, input]) => input.text() !== first.get(name)).map(([name]) => name);

  /** @param {string} name @param {Row} stored @param {string} by */
  function take(name, stored, by) {
    const input = /** @type {FormField} */ (inputs.get(name));
    const other = make(name, stored);
    const hadFocus = input[part].contains(document.activeElement);
    input[part].replaceWith(other[part]);
    inputs.set(name, other);
    other.control.append(toldNote(by));
    if (hadFocus) other.focus();
  }

  /** @param {string} name @param {Row} stored @param {string} by */
  function ask(name, stored, by) {
    const end = () => {
      question.remove();
      questions.delete(name);
    };
    const question = questionOf([`${by}: `, show(name, stored)], {
      mine() {
        end();
        inputs.get(name)?.focus();
        onChoice();
      },
      theirs() {
        end();
        take(name, stored, by);
        inputs.get(name)?.focus();
        onChoice();
      },
    });
    questions.set(name, question);
    inputs.get(name)?.control.append(question);
  }

  return {
    inputs,
    changed,
    /** @param {Row} before @param {Row} stored @param {string} by who changed it, and when */
    renew(before, stored, by) {
      const mine = new Set(changed());
      for (const name of inputs.keys()) {
        if (jsonText(before[name] ?? null) === jsonText(stored[name] ?? null)) continue;
        questions.get(name)?.remove();
        questions.delete(name);
        if (!mine.has(name)) take(name, stored, by);
        first.set(name, make(name, stored).text());
        if (mine.has(name) && changed().includes(name)) ask(name, stored, by);
      }
    },
    /** The first question that is open. */
    question: () => [...questions].find(([name]) => changed().includes(name))?.[1],
  };
}

/** @param {string} by */
export const toldNote = (by) => h("p.told-note", by);

/** @param {any} text @param {{ mine: () => void, theirs: () => void }} choice */
export const questionOf = (text, { mine, theirs }) =>
  h(
    "div.both-changed",
    h("p", { role: "alert" }, text),
    h("button.button", { type: "button", onclick: mine }, t("conflict.mine")),
    h("button.button", { type: "button", onclick: theirs }, t("conflict.theirs")),
  );
