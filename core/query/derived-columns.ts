/**
 * Columns that are computed of others of the same row: buckets and formulas. The same object each time, because
 * statements of one shape share their text by the identity of columns.
 */
import { type Column, derivedColumn } from "../values/types/column.ts";
import type { Bucket } from "../values/types/bucket.ts";
import type { Formula, Term } from "../values/types/formula-tree.ts";
import { isExact, scaleOf } from "../values/types/arithmetic.ts";
import { limits } from "../values/limits.ts";
import { fractionOf } from "./formula.ts";

export function bucketColumn(of: Column, bucket: Bucket): Column {
  return kept([of], JSON.stringify(bucket), () =>
    derivedColumn(of.name, typeOf(of, bucket), {
      isComputed: true,
      ...(bucket.kind === "part" && { range: { min: 0n, max: 31n } }),
      derived: { kind: "bucket", of, bucket },
    }),
  );
}

/** `operands`: the columns that the formula names, of integers and decimals. */
export function formulaColumn(formula: Formula, operands: readonly Column[]): Column {
  return kept(operands, formula.text, () => {
    const { numerator, denominator } = fractionOf(formula.root);
    const byName = new Map(formula.names.map((name, at) => [name, operands[at]!]));
    return derivedColumn(formula.text, "decimal", {
      isComputed: true,
      scale: denominator === null ? digitsBehind(numerator, byName) : limits.figureQuotientDigits,
      derived: { kind: "formula", formula, operands },
    });
  });
}

function typeOf(of: Column, bucket: Bucket): Column["type"] {
  switch (bucket.kind) {
    case "span":
      return bucket.unit === "hour" ? "timestamp" : "date";
    case "part":
      return "integer";
    case "bin":
      return isExact(of) ? "decimal" : "float";
  }
}

/** Digits after the point of the term's results; null = any number. */
function digitsBehind(term: Term, columns: ReadonlyMap<string, Column>): number | null {
  if (term.kind === "number") return term.digits.split(".")[1]?.length ?? 0;
  if (term.kind === "column") {
    const column = columns.get(term.name)!;
    return column.isSampled ? null : scaleOf(column);
  }
  const [left, right] = [digitsBehind(term.left, columns), digitsBehind(term.right, columns)];
  if (left === null || right === null) return null;
  return term.operator === "*" ? left + right : Math.max(left, right);
}

const ids = new WeakMap<Column, number>();
let lastId = 0;

function idOf(column: Column): number {
  let id = ids.get(column);
  if (id === undefined) ids.set(column, (id = ++lastId));
  return id;
}

/** The least recently used come first. Clients can ask for ever new ones. */
const columns = new Map<string, Column>();

function kept(of: readonly Column[], what: string, make: () => Column): Column {
  const key = `${of.map(idOf).join(" ")} ${what}`;
  const column = columns.get(key) ?? Object.freeze(make());
  columns.delete(key);
  if (columns.size >= limits.derivedColumnsMax) columns.delete(columns.keys().next().value!);
  columns.set(key, column);
  return column;
}
