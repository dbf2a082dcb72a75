/** What people know a record by, and what to request for it. */
import { textOf } from "./format.js";

/** @import { Entity, Row } from "./types.d.ts" */

/** Relations that one request expands. */
const expandedMax = 10;

/** @param {Entity} entity @param {Row} row */
export function titleOf(entity, row) {
  const name = entity.titleField;
  const text = name === null ? "" : textOf(row[name], { type: "text" });
  const key = entity.key.map((one) => String(row[one])).join(" · ");
  return (text || describedBy(entity, row) || key).slice(0, 120);
}

/** What people know a record by that has no name yet: its date, and whom it refers to. @param {Entity} entity @param {Row} row */
function describedBy({ relations, fields }, row) {
  const date = [...fields.values()].find(({ name, type }) => type === "date" && row[name]);
  const names = [...relations.values()].flatMap(({ name, many, titleField = "" }) => {
    const other = /** @type {Row | null | undefined} */ (many ? null : row[name]);
    return textOf(other?.[titleField], { type: "text" }) || [];
  });
  return [...(date ? [textOf(row[date.name], date)] : []), ...names].slice(0, 2).join(" · ");
}

/** The names of related records to request beside a record, as `expand` takes them. @param {Entity} entity */
export const namesExpanded = ({ relations }) =>
  Object.fromEntries(
    [...relations.values()]
      .filter(isNamed)
      .slice(0, expandedMax)
      .map(({ name, key, titleField = "" }) => [
        name,
        { select: [...new Set([titleField, ...key])] },
      ]),
  );

/** A relation to one over a single field, in whose place the name stands. @param {import("./types.d.ts").Relation} relation */
export const isNamed = ({ many, titleField, columns }) =>
  !many && titleField !== undefined && Object.keys(columns).length === 1;
