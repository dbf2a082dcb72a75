/** Whether a recorded image of a row meets a condition: of a scope or a webhook, on columns of the row itself. */
import type { Condition } from "../query/statement.ts";
import { comparand } from "../query/comparisons.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column } from "../values/types/column.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { scalarFor, shownScalar } from "../totals/row-values.ts";
import { compareTexts } from "../values/text.ts";
import { canonicalJson, parseOwnJson } from "../values/json.ts";

/** False also where only a database could tell, and where the image lacks the column. */
export function holds(condition: Condition, image: Row): boolean {
  return truthOf(condition, image) === true;
}

/** Whether `holds` can tell; false: only a database can, for any image. */
export const isDecidable = (condition: Condition): boolean =>
  condition.kind === "and" || condition.kind === "or"
    ? condition.members.every(isDecidable)
    : !["member", "notMember", "quantified"].includes(condition.kind);

/** As in SQL, null is neither true nor false. */
function truthOf(condition: Condition, image: Row): boolean | null {
  switch (condition.kind) {
    case "and":
      return every(condition.members, image, false);
    case "or":
      return every(condition.members, image, true);
    case "null":
      return Object.hasOwn(image, condition.column.name)
        ? ((image[condition.column.name] ?? null) === null) !== condition.negated
        : null;
    case "compare": {
      const { column, operator, value } = condition;
      if (columnTypes[column.type].fromMember !== null) {
        const isSame = isSameWhole(column, image, value);
        return isSame === null ? null : isSame === (operator === "=");
      }
      const order = orderOf(column, image, value);
      return order === null ? null : comparisons[operator](order);
    }
    case "in":
    case "exact": {
      const { column, values, negated } = condition;
      if ((image[column.name] ?? null) === null) return null;
      return values.some((value) => orderOf(column, image, value) === 0) !== negated;
    }
    case "between": {
      const { column, low, high, negated } = condition;
      const [above, below] = [orderOf(column, image, low), orderOf(column, image, high)];
      if (above === null || below === null) return null;
      return (above >= 0 && below <= 0) !== negated;
    }
    case "like":
    case "contains": {
      const shown = image[condition.column.name] ?? null;
      if (shown === null || !columnTypes[condition.column.type].hasText) return null;
      const text = String(shown);
      if (condition.kind === "contains")
        return text.toLowerCase().includes(condition.text.toLowerCase());
      const { pattern, ignoreCase, ignoreAccents = false, negated } = condition;
      return matches(ignoreAccents ? withoutAccents(text) : text, pattern, ignoreCase) !== negated;
    }
    default:
      return null;
  }
}

/** `isOr` false: AND. */
function every(members: readonly Condition[], image: Row, isOr: boolean): boolean | null {
  let result: boolean | null = !isOr;
  for (const member of members) {
    const truth = truthOf(member, image);
    if (truth === isOr) return isOr;
    if (truth === null) result = null;
  }
  return result;
}

const comparisons: Record<
  Extract<Condition, { kind: "compare" }>["operator"],
  (order: number) => boolean
> = {
  "=": (order) => order === 0,
  "!=": (order) => order !== 0,
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};

/** Null: the image has no such value, or none that can be compared. */
function orderOf(column: Column, image: Row, value: Scalar): number | null {
  const shown = image[column.name] ?? null;
  if (shown === null || value === null) return null;
  const type = columnTypes[column.type];
  if (!type.isCompared) return null;
  // Both in the form of statements, without the limits of the column.
  const [left, right] = [comparand(column, shown), comparand(column, shownScalar(value))];
  if (type.isText) return compareTexts(String(left), String(right));
  return type.isAbove(left, right) ? 1 : type.isAbove(right, left) ? -1 : 0;
}

/** Whether a value that contains others is this one, which is JSON text; null as in `orderOf`. */
function isSameWhole(column: Column, image: Row, value: Scalar): boolean | null {
  const stored = scalarFor(column, image[column.name] ?? null);
  if (stored === null || value === null) return null;
  const [left, right] = [stored, value].map((json) => canonicalJson(parseOwnJson(String(json))));
  return left === right;
}

const withoutAccents = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .normalize("NFC");

/** A sign of a pattern; null = any one. */
type Sign = string | null;

/** The pattern between its `%`; a backslash makes the next sign literal. */
function partsOf(pattern: string): Sign[][] {
  const parts: Sign[][] = [[]];
  const signs = [...pattern];
  for (let at = 0; at < signs.length; at++) {
    const sign = signs[at]!;
    const isEscaped = sign === "\\" && at + 1 < signs.length;
    if (sign === "%") parts.push([]);
    else parts.at(-1)!.push(isEscaped ? signs[++at]! : sign === "_" ? null : sign);
  }
  return parts;
}

/** As LIKE; each part between two `%` is found as early as it can be. */
function matches(text: string, pattern: string, ignoresCase: boolean): boolean {
  const fold = (one: string): string => (ignoresCase ? one.toLowerCase() : one);
  const all = [...fold(text)];
  const fits = (part: readonly Sign[], at: number): boolean =>
    at + part.length <= all.length &&
    part.every((sign, index) => sign === null || sign === all[at + index]);
  const [first = [], ...parts] = partsOf(fold(pattern));
  const last = parts.pop();
  if (!fits(first, 0)) return false;
  if (last === undefined) return first.length === all.length;
  let at = first.length;
  for (const part of parts) {
    while (!fits(part, at)) if (++at > all.length) return false;
    at += part.length;
  }
  return all.length - last.length >= at && fits(last, all.length - last.length);
}
