/** Alternative spellings of the settings for reads, lookups, the grid and exports. */
import { isObject } from "../../values/json.ts";
import type { Draft } from "./draft.ts";

/** One flat object applies to reads and lookups. */
export function nestScope({ root, moved, refuse }: Draft): void {
  const scope = root["defaultScope"];
  if (!isObject(scope)) return;
  // Objects under other names are conditions of an action that has none, or of a column: that one has an operator.
  if (isObject(scope["read"]) || isObject(scope["lookup"])) {
    for (const [name, value] of Object.entries(scope)) {
      if (name === "read" || name === "lookup") continue;
      if (!isObject(value) || Object.hasOwn(value, "operator")) continue;
      refuse(
        ["defaultScope", name],
        "only read and lookup (write the condition into datatablesQuery or exportQuery)",
      );
      delete scope[name];
    }
  }
  const entries = Object.entries(scope);
  const isNested = entries.every(
    ([name, value]) => (name === "read" || name === "lookup") && isObject(value),
  );
  if (isNested && entries.length > 0) return;
  root["defaultScope"] = { read: scope, lookup: scope };
  for (const use of ["read", "lookup"]) moved(["defaultScope", use], ["defaultScope"]);
}

/** `all` in the list of searched columns means a search over all columns, which always exists. */
export function dropSearchOverAll({ root }: Draft): void {
  const columns = root["datatablesWhere"];
  if (!Array.isArray(columns) || !columns.includes("all")) return;
  const named = columns.filter((name) => name !== "all");
  if (named.length > 0) root["datatablesWhere"] = named;
  else delete root["datatablesWhere"];
}

/** Types without a format: the value is written unchanged. */
export const plainTypes = ["boolean", "text", "number", "date"] as const;

/** Drops formats that only repeat the column's type. */
export function dropPlainFormats({ root }: Draft): void {
  const formats = root["columnFormats"];
  if (!isObject(formats)) return;
  for (const [name, format] of Object.entries(formats)) {
    if (!isObject(format)) continue;
    const { type, ...rest } = format;
    if (plainTypes.some((plain) => plain === type) && Object.keys(rest).length === 0)
      delete formats[name];
  }
}

/** `name AS display_text` -> `name`, `CONCAT(code, ' - ', name)` -> `code || ' - ' || name`. */
export function rewriteLookupText({ root }: Draft): void {
  const lookup = root["fieldNameLookup"];
  if (!isObject(lookup) || typeof lookup["text"] !== "string") return;
  const text = lookup["text"].replace(/\s+as\s+"?display_text"?\s*$/i, "");
  const [, joined] = /^\s*concat\s*\((.*)\)\s*$/is.exec(text) ?? [];
  lookup["text"] =
    joined?.replace(
      /('(?:[^']|'')*')|\s*,\s*/g,
      (_, quoted: string | undefined) => quoted ?? " || ",
    ) ?? text;
}
