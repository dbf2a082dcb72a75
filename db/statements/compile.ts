/**
 * Compiles a statement into text and parameters for one engine. Printed texts are cached by the statement's shape
 * (`shape.ts`), so that a request usually only computes the shape and binds values; `print.ts` prints new texts.
 */
import { type Column, derivedColumn } from "../../core/values/column.ts";
import { invalidParameter } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Row } from "../../core/plans/ports.ts";
import type { Native, Statement } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { arithmeticOf } from "../../core/values/arithmetic.ts";
import { showFloat } from "../../core/values/float-type.ts";
import { doubleDigits } from "../../core/values/numbers.ts";
import type { Decode, Dialect, RawRow } from "./dialect.ts";
import { type BeginList, type ListInWriting, listWriterOf } from "./list-writer.ts";
import { print, type Printed } from "./print.ts";
import { type Shape, shapeOf } from "./shape.ts";
import type { Printable } from "./walk.ts";

export interface Compiled {
  readonly text: string;
  readonly params: unknown[];
  /** Whether the text should be kept as a prepared statement. */
  readonly reuse: boolean;
  /** Turns the driver's rows into the rows that answers show, in place. */
  readonly decode: (rows: RawRow[]) => Row[];
  /** Begins the text that the statement asks for; null: its rows come as values, whatever it asks for. */
  readonly beginList: (() => ListInWriting) | null;
  /** Ids of the stored forms that the text relies on. */
  readonly forms: readonly string[];
  readonly generation: number;
  /** How long statements of this text take; the same object for all of them. Null: a text that is not kept. */
  readonly pace: Pace | null;
}

/** How long the statements of one text have taken lately. */
export class Pace {
  /** Of the last ones more than of the first; infinite before there was one. */
  private averageMs = Infinity;

  get isQuick(): boolean {
    return this.averageMs <= limits.quickStatementMs;
  }

  took(durationMs: number): void {
    this.averageMs =
      this.averageMs === Infinity ? durationMs : this.averageMs * 0.8 + durationMs * 0.2;
  }
}

export type Compile = (statement: Statement) => Compiled;

interface Kept extends Printed {
  readonly pace: Pace;
  readonly decode: (rows: RawRow[]) => Row[];
  /** Made when it is needed first. */
  beginList?: BeginList | null;
}

/**
 * Where the engine keeps plans (`Dialect.keepsPlans`), a statement with more values is planned each time, but for writes of single rows
 * and INSERTs, for which there is one plan.
 */
const reusableParamsMax = 32;

/**
 * A compiler with its own cache of texts. The compiler rejects an UPDATE or DELETE whose condition holds for every row,
 * names with a NUL character, and (as faults of the request) more parameters than the engine takes and marks that it
 * cannot read.
 */
export function createCompiler(
  dialect: Dialect,
  shapesMax: number = limits.statementShapesMax,
): Compile {
  const kept = new Map<string, Kept>();
  const { forms } = dialect;
  let generation = 0;
  return (statement) => {
    if (statement.kind === "native") return compileNative(dialect, statement);
    if (forms !== undefined && forms.generation !== generation) {
      generation = forms.generation;
      kept.clear();
    }
    const shape = shapeOf(statement, dialect);
    let printed = kept.get(shape.key);
    if (printed === undefined) {
      printed = {
        ...print(dialect, statement, shape),
        decode: decoderOf(dialect, answeredColumns(statement)),
        pace: new Pace(),
      };
      if (kept.size >= shapesMax) kept.delete(kept.keys().next().value!);
      kept.set(shape.key, printed);
    } else if (kept.size > shapesMax / 2) {
      // Moves the text to the end, so that the first entry of the map is the least recently used.
      kept.delete(shape.key);
      kept.set(shape.key, printed);
    }
    return {
      text: printed.text,
      params: bindAll(dialect, shape, printed.order),
      reuse:
        dialect.keepsPlans !== true ||
        isPlannedAlike(statement) ||
        printed.order.length <= reusableParamsMax,
      decode: printed.decode,
      beginList: listOf(dialect, statement, printed),
      forms: printed.forms,
      generation,
      pace: printed.pace,
    };
  };
}

function listOf(dialect: Dialect, statement: Statement, kept: Kept): Compiled["beginList"] {
  if (statement.kind !== "select" || statement.asText === undefined) return null;
  const { columns, asText } = statement;
  kept.beginList ??= listWriterOf(dialect, columns);
  const begin = kept.beginList;
  return begin && (() => begin(asText));
}

const isPlannedAlike = ({ kind }: Statement): boolean => kind === "insert" || kind === "update";

/** Its columns are known only from the result, so the executor decodes the rows. */
function compileNative(dialect: Dialect, { texts, order, values }: Native): Compiled {
  // With numbered placeholders, a value that is used several times is one parameter, whose type is inferred once.
  const isNumbered = dialect.placeholder(0) !== dialect.placeholder(1);
  const text = texts.reduce(
    (before, after, at) =>
      before + dialect.placeholder(isNumbered ? order[at - 1]! : at - 1) + after,
  );
  const sent = isNumbered ? values : order.map((place) => values[place]!);
  const params = sent.map(({ type, value }) =>
    value === null ? null : dialect.bind(derivedColumn("value", type, {}), value),
  );
  const decode = (rows: RawRow[]): Row[] => rows as Row[];
  const rest = { beginList: null, forms: [], generation: 0, pace: null };
  return { text, params, reuse: true, decode, ...rest };
}

function bindAll(
  dialect: Dialect,
  { values, columns }: Shape,
  order: readonly number[],
): unknown[] {
  const params: unknown[] = [];
  for (const place of order) {
    const value = values[place]!;
    const column = columns[place]!;
    if (value === null || column === null) params.push(value);
    else if (isList(value)) params.push(dialect.valueLists!.bind(column, value));
    else if (column.markOf === undefined) params.push(dialect.bind(column, value));
    else params.push(boundMark(dialect, column.markOf, String(value)));
  }
  return params;
}

const isList = (value: Scalar | readonly Scalar[]): value is readonly Scalar[] =>
  Array.isArray(value);

/** A mark comes from a client and may be forged. */
function boundMark({ marks }: Dialect, column: Column, mark: string): unknown {
  const bound = marks.bind(column, mark);
  if (bound === undefined)
    throw invalidParameter(`The cursor has no value for the column "${column.name}"`);
  return bound;
}

function answeredColumns(statement: Printable): readonly Column[] {
  switch (statement.kind) {
    case "count":
    case "estimate":
    case "sample":
      return [];
    case "select":
      return statement.columns;
    case "ask":
      return statement.query.columns;
    case "calculate":
      return [];
    case "aggregate":
      return statement.outputs.map(({ result }) => result);
    default:
      return statement.returning;
  }
}

/**
 * A count is a number whatever `decimals` says. The last digits of a floating point sum depend on the order in which an engine
 * adds, so fifteen are shown.
 */
function computedDecoder(column: Column): Decode | null {
  if (column.isComputed !== true) return null;
  const { isExact, isWhole } = arithmeticOf(column);
  if (!isExact) return (raw) => showFloat(Number(raw).toPrecision(doubleDigits));
  return isWhole ? Number : null;
}

/** Turns rows of these columns into JSON values, in place. */
export function decoderOf(dialect: Dialect, columns: readonly Column[]): (rows: RawRow[]) => Row[] {
  const names: string[] = [];
  const decoders: Decode[] = [];
  for (const column of columns) {
    const decode =
      column.markOf === undefined
        ? (computedDecoder(column) ?? dialect.decode(column))
        : dialect.marks.decode;
    if (decode === null) continue;
    names.push(column.name);
    decoders.push(decode);
  }
  return (rows) => {
    for (const row of rows) {
      for (let at = 0; at < names.length; at++) {
        const name = names[at]!;
        const raw = row[name];
        if (raw !== null) row[name] = decoders[at]!(raw);
      }
    }
    return rows as Row[];
  };
}
