/**
 * Searches a list by what people see, including labels of other records and names of statuses, which the table does not
 * contain. Finds the records with such a label in the other endpoints, and then searches for their ids.
 */
import { contains } from "./filters.js";
import { isNumber, labelText } from "./format.js";
import { lookup } from "./labels.js";
import { mayUse } from "./model.js";

/** @import { Condition, Entity, Field, Group } from "./types.d.ts" */

/** Maximum for one field; the service accepts twice as many. */
const labelsMax = 500;
/** The service accepts 100, including those of the filters. */
const conditionsMax = 80;

/**
 * @typedef {object} Search
 * @property {Group | null} group null: the search of the action finds all that is shown
 * @property {string[]} cut labels of fields of which more records fit than are looked for
 */

/** @param {Entity} entity @param {string} text @param {readonly string[]} names of the fields to search @returns {Promise<Search>} */
export async function searchFor(entity, text, names) {
  if (text === "") return { group: null, cut: [] };
  const fields = names.flatMap((name) => entity.fields.get(name) ?? []);
  const found = await Promise.all(fields.map((field) => labelled(entity, field, text)));
  const byLabel = found.flatMap(({ condition }) => condition ?? []);
  const own = fields.filter(hasText).map(({ name }) => contains(name, text));
  const isWhole = own.length + byLabel.length <= conditionsMax;
  return {
    group: byLabel.length > 0 && isWhole ? { logic: "OR", conditions: [...own, ...byLabel] } : null,
    cut: fields.filter((_, at) => found[at]?.isCut).map(({ label }) => label),
  };
}

/** @param {Field} field */
const hasText = (field) =>
  isNumber(field) || ["text", "date", "timestamp", "time", "uuid", "other"].includes(field.type);

/** @param {Entity} entity @param {Field} field @param {string} text @returns {Promise<{ condition?: Condition, isCut?: boolean }>} */
async function labelled(entity, field, text) {
  const { name: key, references } = field;
  if (references && mayUse(entity.project, references.endpoint, "lookup")) {
    const place = `api/${entity.project}/${references.endpoint}`;
    const query = { search: text.slice(0, 100), limit: String(labelsMax) };
    const ids = (await lookup(place, query)).map(({ id }) => id);
    if (ids.length === 0) return {};
    return { condition: { key, operator: "IN", value: ids }, isCut: ids.length === labelsMax };
  }
  const values = choicesOf(entity, key).filter((value) => fits(value, text));
  return values.length > 0 ? { condition: { key, operator: "IN", value: values } } : {};
}

/** Whether the displayed name of a value contains the text, but the value does not. @param {string} value @param {string} text */
function fits(value, text) {
  const has = (/** @type {string} */ whole) => whole.toLowerCase().includes(text.toLowerCase());
  return has(labelText(value)) && !has(value);
}

/** The possible texts of a field; empty: there are too many to list. @param {Entity} entity @param {string} name @returns {string[]} */
export function choicesOf(entity, name) {
  const schema = entity.deref(entity.body("create")?.properties?.[name]);
  return /** @type {string[]} */ ((schema.enum ?? []).filter((one) => typeof one === "string"));
}

/** Whether a list shows the label of another record in place of the value: then its order is not the visible one. @param {Entity} entity @param {Field} field */
export const showsLabel = ({ project }, { references }) =>
  references !== undefined &&
  ["lookup", "first"].some((action) => mayUse(project, references.endpoint, action));
