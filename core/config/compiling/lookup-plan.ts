/** The plan of lookup: `fieldNameLookup`, or the key and the second field. */
import { type Column, type Columns, derivedColumn } from "../../values/types/column.ts";
import type { LookupPlan, ReadPlan } from "../../plans/read-plan.ts";
import { columnTypes } from "../../values/types/column-types.ts";
import { type Reading, scopeOf } from "./plans.ts";
import { keyAmong, type Keys } from "./key-plan.ts";
import { withPathsOf } from "./named-paths.ts";
import { isAtFault, type Survey } from "./survey.ts";

/** Fields that `fieldName` leaves out and hidden ones are not among them. */
const ofShown = "what the endpoint shows";

/** Null if the entity has nothing to look up. A configured lookup that is not possible is a fault. */
export function lookupOf(
  survey: Survey,
  reading: Reading,
  { columns: shown, fullText, dependsOn }: ReadPlan,
  keys: Keys,
): LookupPlan | null {
  const scope = scopeOf(survey, "lookup", reading);
  const { fieldNameLookup: asked, fieldName, action } = survey.payload;
  const path = ["fieldNameLookup"];
  const id =
    asked?.id === undefined
      ? ((keys.names.length === 1 ? shown.get(keys.names[0]!) : undefined) ?? null)
      : survey.column(asked.id, shown, [...path, "id"], ofShown);
  // Without a second field the key is its own label.
  const second = fieldName?.[1] ?? [...shown.keys()][1] ?? keys.names[0] ?? "";
  const text =
    asked?.text === undefined ? (shown.get(second) ?? null) : labelOf(survey, asked.text, shown);
  const key = keyAmong(reading.columns, keys.ofLists);
  if (id && text)
    return {
      source: reading.source,
      id,
      text,
      matchesPrefix: asked?.match === "prefix",
      ignoresAccents: asked?.accents === "ignore",
      columns: shown,
      named: shown,
      fullText,
      key,
      scope,
      dependsOn,
    };
  const isNamed = !isAtFault(survey, "primaryKey", "fieldName");
  if (action["lookup"] === true && asked === undefined && isNamed) {
    survey.fault(path, {
      expected:
        keys.names.length > 1
          ? `an id: lookup needs one column that names a row, and the key has ${keys.names.length} (${keys.names.join(", ")})`
          : "an id and a text: lookup needs both, and the table has no key or no column for the text",
    });
  }
  return null;
}

/** `name`, or columns and quoted texts joined with `||`. */
function labelOf(survey: Survey, text: string, shown: Columns): Column | null {
  const path = ["fieldNameLookup", "text"];
  const refused = (): null => {
    survey.fault(path, { expected: "columns and quoted texts joined with ||" });
    return null;
  };
  const whole = shown.get(text);
  if (whole && columnTypes[whole.type].hasText) return whole;
  const parts: (Column | string)[] = [];
  for (const part of text.split(/('(?:[^']|'')*'|\|\|)/).map((piece) => piece.trim())) {
    if (part === "" || part === "||") continue;
    if (part.startsWith("'")) {
      parts.push(part.slice(1, -1).replaceAll("''", "'"));
      continue;
    }
    const isName = /^\w+(\.\w+)*$/.test(part);
    const column = isName ? survey.column(part, withPathsOf(survey, shown), path, ofShown) : null;
    if (column === null) return isName ? null : refused();
    if (!columnTypes[column.type].hasText) {
      survey.fault(path, {
        found: `a ${column.type} column`,
        expected: "a column whose values can be shown as text",
      });
      return null;
    }
    parts.push(column);
  }
  const [only] = parts;
  if (only === undefined) return refused();
  return parts.length === 1 && typeof only === "object" ? only : joined(parts);
}

const joined = (parts: readonly (Column | string)[]): Column =>
  derivedColumn("display_text", "text", { native: "text", nullable: false, parts });
