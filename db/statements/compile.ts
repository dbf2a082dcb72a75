/**
 * Compiles a statement into text and parameters for one engine. Printed texts are cached by the statement's shape
 * (`shape.ts`), so that a request usually only computes the shape and binds values; `print.ts` prints new texts.
 */
import { type Column, derivedColumn, answeredAs } from "../../core/values/types/column.ts";
import { invalidParameter } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { ListText } from "../../core/query/list-text.ts";
import type { Row } from "../../core/values/row.ts";
import type { Native, Statement } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { columnTypes } from "../../core/values/types/column-types.ts";
import { arithmeticOf } from "../../core/values/types/arithmetic.ts";
import { showFloat } from "../../core/values/types/float-type.ts";
import { doubleDigits } from "../../core/values/types/numbers.ts";
import type { Decode, Dialect, RawRow } from "./dialect.ts";
import {
  type BeginList,
  type ListInWriting,
  type ListOfRows,
  listOfRowsOf,
  listWriterOf,
} from "./list-writer.ts";
import { print, type Printed } from "./print.ts";
import { boundColumnsOf, type Shape, shapeOf } from "./shape.ts";
import type { Printable } from "./walk.ts";

export interface Compiled {
  readonly text: string;
  readonly params: unknown[];
  /** Whether the text should be kept as a prepared statement. */
  readonly reuse: boolean;
  /** The operator's own SQL, whose columns are known only from the result. */
  readonly isNative: boolean;
  /** How its rows are read; the same object for all statements of this text. Null: the columns come with the result. */
  readonly reading: RowReading | null;
  /** Turns the driver's rows into the rows that answers show, in place. */
  readonly decode: (rows: RawRow[]) => Row[];
  /** Begins the text that the statement asks for. Null: it asks for none, or its rows come only as values. */
  readonly beginList: (() => ListInWriting) | null;
  /** The same of rows that came as values. Null: the statement asks for none. */
  readonly listOf: ((rows: Row[]) => ListText) | null;
  /** Which learned facts the text depends on, and their generation. */
  readonly restsOn: readonly string[];
  readonly generation: number;
  /** How long statements of this text take; the same object for all of them. Null: a text that is not kept. */
  readonly pace: Pace | null;
}

/** Recent durations of the statements of one text. */
export class Pace {
  /** A moving average that favours recent statements; infinite before the first. */
  private averageMs = Infinity;

  get isQuick(): boolean {
    return this.averageMs <= limits.quickStatementMs;
  }

  /** False as long as there are none. */
  isSlowerThan(ms: number): boolean {
    return this.averageMs !== Infinity && this.averageMs > ms;
  }

  took(durationMs: number): void {
    this.averageMs =
      this.averageMs === Infinity ? durationMs : this.averageMs * 0.8 + durationMs * 0.2;
  }
}

export type Compile = (statement: Statement) => Compiled;

/** How rows of one text are read: by the column types at compile time, until a result shows others. */
export class RowReading {
  private readonly dialect: Dialect;
  columns: readonly Column[];
  /** How the columns differ from compile time; null: not at all. */
  difference: string | null = null;
  /** The engine's `Kinds` of each column; null until first needed. */
  kinds: readonly (string | null)[] | null = null;
  /** Descriptions of columns that are of these kinds: drivers give the same ones with each answer to a known statement. */
  asExpected = new WeakSet<readonly unknown[]>();
  private decoder: ((rows: RawRow[]) => Row[]) | null = null;
  private flat: ListReading | null = null;
  private nested: ListReading | null = null;

  constructor(dialect: Dialect, columns: readonly Column[]) {
    this.dialect = dialect;
    this.columns = columns;
  }

  readonly decode = (rows: RawRow[]): Row[] =>
    (this.decoder ??= decoderOf(this.dialect, this.columns))(rows);

  lists(nests: boolean): ListReading {
    return nests
      ? (this.nested ??= listReading(this.dialect, this.columns, true))
      : (this.flat ??= listReading(this.dialect, this.columns, false));
  }

  become(columns: readonly Column[], difference: string): void {
    this.columns = columns;
    this.difference = difference;
    this.kinds = null;
    this.asExpected = new WeakSet();
    this.decoder = null;
    this.flat = null;
    this.nested = null;
  }
}

/** How rows become lists: as they come, or after the last one. */
interface ListReading {
  /** Null: the engine's rows come as objects. */
  readonly begin: BeginList | null;
  readonly ofRows: ListOfRows;
}

const listReading = (
  dialect: Dialect,
  columns: readonly Column[],
  nests: boolean,
): ListReading => ({
  begin: listWriterOf(dialect, columns, nests),
  ofRows: listOfRowsOf(columns, nests),
});

interface Kept extends Printed {
  /** As `boundColumnsOf`. */
  readonly columns: readonly (Column | null)[];
  readonly pace: Pace;
  readonly reading: RowReading;
}

/**
 * Where the engine keeps plans (`Dialect.keepsPlans`), statements with more values are planned each time, except
 * writes of single rows and INSERTs, which have only one possible plan. A list of 32 values and what stands beside it
 * has fewer: that is what a page of 20 needs for its related records.
 */
const reusableParamsMax = 48;

/**
 * A compiler with its own cache of texts. It rejects an UPDATE or DELETE whose condition is true for every row, names
 * with a NUL character, and, as faults of the request, too many parameters for the engine and marks it cannot read.
 */
export function createCompiler(
  dialect: Dialect,
  shapesMax: number = limits.statementShapesMax,
): Compile {
  const kept = new Map<string, Kept>();
  const { learned } = dialect;
  let generation = 0;
  return (statement) => {
    if (statement.kind === "native") return compileNative(dialect, statement);
    if (learned.generation !== generation) {
      generation = learned.generation;
      kept.clear();
    }
    const shape = shapeOf(statement, dialect);
    let printed = kept.get(shape.key);
    if (printed === undefined) {
      printed = {
        ...print(dialect, statement, shape),
        columns: boundColumnsOf(statement, dialect),
        reading: new RowReading(dialect, answeredColumns(statement)),
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
      params: bindAll(dialect, shape, printed),
      reuse:
        !dialect.keepsPlans ||
        isPlannedAlike(statement) ||
        printed.order.length <= reusableParamsMax,
      isNative: false,
      reading: printed.reading,
      decode: printed.reading.decode,
      ...listsOf(statement, printed.reading),
      restsOn: printed.restsOn,
      generation,
      pace: printed.pace,
    };
  };
}

const noList = { beginList: null, listOf: null };

function listsOf(
  statement: Statement,
  reading: RowReading,
): Pick<Compiled, "beginList" | "listOf"> {
  if (statement.kind !== "select" || statement.asText === undefined) return noList;
  const { asText } = statement;
  // Asked for each time: a result with other types makes them anew while the statement runs.
  const lists = (): ListReading => reading.lists(asText.nests === true);
  return {
    beginList: asText.asRows || lists().begin === null ? null : () => lists().begin!(asText),
    listOf: (rows) => lists().ofRows(rows, asText),
  };
}

const isPlannedAlike = ({ kind }: Statement): boolean => kind === "insert" || kind === "update";

/** Its columns are known only from the result, so the executor decodes the rows. */
function compileNative(dialect: Dialect, { texts, order, values }: Native): Compiled {
  // With numbered placeholders, a value used several times is one parameter, whose type is inferred once.
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
  const rest = { reading: null, ...noList, restsOn: [], generation: 0, pace: null };
  return { text, params, reuse: true, isNative: true, decode, ...rest };
}

function bindAll(
  dialect: Dialect,
  { values }: Shape,
  { columns, order }: Pick<Kept, "columns" | "order">,
): unknown[] {
  return order.map((place) => {
    const value = values[place]!;
    const column = columns[place]!;
    if (value === null || column === null) return value;
    if (isList(value)) return dialect.valueLists!.bind(column, value);
    if (column.markOf === undefined) return dialect.bind(column, value);
    return boundMark(dialect, column.markOf, String(value));
  });
}

const isList = (value: Scalar | readonly Scalar[]): value is readonly Scalar[] =>
  Array.isArray(value);

/** A mark comes from a client and can be forged. */
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
      return [...statement.outputs, ...(statement.counted ? [statement.counted] : [])].map(
        ({ result }) => result,
      );
    default:
      return statement.returning;
  }
}

/**
 * A count is a number whatever `decimals` says. The last digits of a floating-point sum depend on the engine's order of
 * addition, so 15 digits are shown.
 */
function computedDecoder(column: Column): Decode | null {
  if (column.isComputed !== true || columnTypes[column.type].arithmetic === null) return null;
  const { isExact, isWhole } = arithmeticOf(column);
  if (!isExact) return (raw) => showFloat(Number(raw).toPrecision(doubleDigits));
  return isWhole ? Number : null;
}

/** Turns rows of these columns into JSON values, in place. */
export function decoderOf(dialect: Dialect, columns: readonly Column[]): (rows: RawRow[]) => Row[] {
  const names: string[] = [];
  const decoders: Decode[] = [];
  const kept: Decode["keeps"][] = [];
  for (const column of columns) {
    const decode: Decode | null =
      column.markOf === undefined
        ? (computedDecoder(column) ?? dialect.decode(column))
        : dialect.marks.decode;
    if (decode === null) continue;
    names.push(answeredAs(column));
    decoders.push(decode);
    kept.push(decode.keeps);
  }
  return (rows) => {
    for (const row of rows) {
      for (let at = 0; at < names.length; at++) {
        const name = names[at]!;
        const raw = row[name];
        if (raw === null || typeof raw === kept[at]) continue;
        const shown = decoders[at]!(raw);
        if (shown !== raw) row[name] = shown;
      }
    }
    return rows as Row[];
  };
}
