/**
 * `calculation` -> what the composites compute: the formulas of details, in an order in which each finds the results
 * that it needs, and the totals of the header.
 */
import { resultOf, takesType } from "../../query/aggregate-results.ts";
import type { Column, Columns } from "../../values/types/column.ts";
import type { HeaderTotal } from "../../plans/document-tables.ts";
import { formulaColumn } from "../../query/derived-columns.ts";
import { parseFormula } from "../../query/formula.ts";
import type { AggregateFunction, Computation, Output } from "../../query/statement.ts";
import { isExact } from "../../values/types/arithmetic.ts";
import type { Path } from "../reading/faults.ts";
import type { Survey } from "./survey.ts";

export interface DetailColumns {
  readonly columns: Columns;
  /** Columns that are filled otherwise: keys and audit columns. */
  readonly closed: ReadonlySet<Column | null>;
  readonly path: Path;
  /** How faults name the table of details. */
  readonly of: string;
}

export function computedOf(
  survey: Survey,
  formulas: Readonly<Record<string, string>>,
  about: DetailColumns,
): readonly Computation[] {
  const found = Object.entries(formulas).flatMap(
    ([name, text]) => computationOf(survey, { name, text }, about) ?? [],
  );
  return inOrder(survey, found, about.path);
}

function computationOf(
  survey: Survey,
  { name, text }: { name: string; text: string },
  { columns, closed, path, of }: DetailColumns,
): Computation | null {
  const at = [...path, name];
  const column = survey.column(name, columns, at, of);
  const parsed = parseFormula(text);
  if (!parsed.ok) survey.fault(at, { expected: parsed.expected });
  if (!parsed.ok || !column || !checkTarget(survey, column, { closed, path: at })) return null;
  const { formula } = parsed;
  const operands = operandsOf(survey, formula.names, { columns, path: at, of });
  if (!isExact(column)) inexactFault(survey, column, at);
  if (operands === null || !isExact(column)) return null;
  const computation = { column, formula, operands };
  return checkDigits(survey, computation, at) ? computation : null;
}

/** The columns with these names, if all of them are there and exact. */
function operandsOf(
  survey: Survey,
  names: readonly string[],
  { columns, path, of }: { columns: Columns; path: Path; of: string },
): readonly Column[] | null {
  const operands = names.flatMap((one) => survey.column(one, columns, path, of) ?? []);
  const inexact = operands.find((one) => !isExact(one));
  if (inexact) inexactFault(survey, inexact, path);
  return inexact || operands.length < names.length ? null : operands;
}

const inexactFault = (survey: Survey, { name, type }: Column, path: Path): void =>
  survey.fault(path, {
    found: `${name}, a ${type} column`,
    expected: "only integer and decimal columns, which keep every digit",
  });

function checkDigits(survey: Survey, computation: Computation, path: Path): boolean {
  if (survey.computes(computation)) return true;
  survey.fault(path, {
    expected:
      "a formula with fewer digits, because the database would truncate the largest results",
  });
  return false;
}

/** Whether the column can be one that is computed. */
function checkTarget(
  survey: Survey,
  column: Column,
  { closed, path }: Pick<DetailColumns, "closed" | "path">,
): boolean {
  if (!closed.has(column) && column.generated === "none") return true;
  const found = "a column that the service or the database fills";
  survey.fault(path, { found, expected: "a column that only this formula fills" });
  return false;
}

/** First those that need no other result. */
function inOrder(
  survey: Survey,
  found: readonly Computation[],
  path: Path,
): readonly Computation[] {
  const ordered: Computation[] = [];
  let left = found;
  while (left.length > 0) {
    const waiting = new Set(left.map(({ column }) => column));
    const ready = left.filter(({ operands }) => !operands.some((one) => waiting.has(one)));
    if (ready.length === 0) {
      for (const { column } of left)
        survey.fault([...path, column.name], {
          expected: "a formula that does not use its own result",
        });
      return ordered;
    }
    ordered.push(...ready);
    left = left.filter((one) => !ready.includes(one));
  }
  return ordered;
}

export interface TotalColumns {
  readonly details: Columns;
  /** Null: the header's table is not known, which is reported as a separate fault. */
  readonly header: Columns | null;
  readonly closed: ReadonlySet<Column | null>;
  readonly path: Path;
  /** How faults name the table of details. */
  readonly of: string;
}

/** `COUNT(details)` is another word for `COUNT(*)`. */
const totalText = /^\s*(?:(COUNT)\s*\(\s*(?:\*|details)\s*\)|(SUM|AVG|MIN|MAX)\s*\((.+)\))\s*$/i;

export function headerTotalsOf(
  survey: Survey,
  formulas: Readonly<Record<string, string>>,
  { details, header, closed, path, of }: TotalColumns,
): readonly HeaderTotal[] {
  let position = 0;
  const output = (name: AggregateFunction, column: Column | null): Output => {
    const result = resultOf(name, column, position++);
    return { alias: result.name, function: name, column, result };
  };
  return Object.entries(formulas).flatMap(([name, text]): HeaderTotal[] => {
    const at = [...path, name];
    const column = header && survey.column(name, header, at, "the header's table");
    if (column) checkTarget(survey, column, { closed, path: at });
    const match = totalText.exec(text);
    if (!match) {
      const expected = "COUNT(*), or SUM, AVG, MIN or MAX of a column or a formula of the details";
      survey.fault(at, { expected });
      return [];
    }
    const total = (match[1] ?? match[2])!.toLowerCase() as AggregateFunction;
    const source = match[3] === undefined ? null : sourceOf(survey, match[3], { details, at, of });
    if (!column || (match[3] !== undefined && !source)) return [];
    if (!mayHold(column, total, source)) {
      survey.fault(at, {
        found: source
          ? `a ${source.type} column for a ${column.type} column`
          : `a ${column.type} column`,
        expected: "integer and decimal columns, or (for MIN and MAX) two columns of the same type",
      });
      return [];
    }
    const outputs =
      total === "avg" ? [output("sum", source), output("count", source)] : [output(total, source)];
    return [{ column, function: total, outputs }];
  });
}

/** The column of the details, or that of a formula over them; null after a fault. */
function sourceOf(
  survey: Survey,
  text: string,
  { details, at, of }: { details: Columns; at: Path; of: string },
): Column | null {
  const name = text.trim();
  if (details.has(name) || /^\w+$/.test(name)) return survey.column(name, details, at, of);
  const parsed = parseFormula(text);
  if (!parsed.ok) survey.fault(at, { expected: parsed.expected });
  if (!parsed.ok) return null;
  const operands = operandsOf(survey, parsed.formula.names, { columns: details, path: at, of });
  if (operands === null) return null;
  const column = formulaColumn(parsed.formula, operands);
  return checkDigits(survey, { column, formula: parsed.formula, operands }, at) ? column : null;
}

function mayHold(column: Column, name: AggregateFunction, source: Column | null): boolean {
  if (isExact(column)) return source === null || isExact(source);
  const isExtreme = name === "min" || name === "max";
  return isExtreme && source?.type === column.type && takesType(name, column.type);
}
