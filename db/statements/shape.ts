/**
 * The shape of a statement: a short text that is equal for all statements which print the same SQL, and the statement's
 * values in the order of its walk. `compile.ts` keeps printed texts by shape, because printing costs more than a
 * read by key.
 */
import type { Column, Hop, Source, Table } from "../../core/values/types/column.ts";
import type { ToldColumn, ToldSide } from "../../core/query/logging.ts";
import type { Calculate, Output, ParameterQuery } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { arithmeticOf } from "../../core/values/types/arithmetic.ts";
import type { TextSearch } from "../../core/values/types/text-index.ts";
import type { Dialect, FullText, ValueLists } from "./dialect.ts";
import type { Emitter, Frame, LikeOptions } from "./emitter.ts";
import { travelAsLists } from "./insert-rows.ts";
import { patternKind } from "./patterns.ts";
import { emitStatement, type Printable } from "./walk.ts";
import type { Word } from "./words.ts";

export interface Shape {
  readonly key: string;
  /** A list: what the rows of an INSERT have in one column (`ValueLists`). */
  readonly values: readonly (Scalar | readonly Scalar[])[];
}

/** Takes less than a microsecond, because no SQL is printed. Throws what `emitStatement` does. */
export function shapeOf(statement: Printable, dialect: ShapeDialect): Shape {
  const shape = new KeyEmitter(dialect, null);
  emitStatement(statement, shape);
  return shape;
}

/**
 * The column that decides how the value at each place is bound; null = as it is. The same for all statements with a key.
 */
export function boundColumnsOf(
  statement: Printable,
  dialect: ShapeDialect,
): readonly (Column | null)[] {
  const columns: (Column | null)[] = [];
  emitStatement(statement, new KeyEmitter(dialect, columns));
  return columns;
}

type ShapeDialect = Pick<Dialect, "valueLists" | "fullText">;

/** The key is that of each word, and the id of each column, table or query in its place. */
class KeyEmitter implements Emitter, Shape {
  key = "";
  readonly values: (Scalar | readonly Scalar[])[] = [];
  private readonly columns: (Column | null)[] | null;
  private readonly lists: ValueLists | undefined;
  private readonly searches: FullText;
  private readonly frames: Frame[] = [];
  private aliasesUsed = 0;

  /** `columns`: where those of the values are collected. */
  constructor({ valueLists, fullText }: ShapeDialect, columns: (Column | null)[] | null) {
    this.columns = columns;
    this.lists = valueLists;
    this.searches = fullText;
  }

  word({ key }: Word): void {
    this.key += key;
  }

  /** The pieces of a list can be distinguished without separators. */
  separator(): void {}

  identifier(name: string): void {
    this.key += name;
  }

  /** The kind of the statement determines how its columns are qualified. */
  qualify(): void {}

  newAlias(): string {
    return `${this.aliasesUsed++}`;
  }

  within(frame: Frame, emit: () => void): void {
    this.key += "w";
    this.frames.push(frame);
    emit();
    this.frames.pop();
    this.key += "W";
  }

  aliasOf(hop: Hop | null): string | null {
    if (hop === null) return this.frames.at(-1)?.alias ?? null;
    return this.frames.findLast(({ hops }) => hops.has(hop))?.hops.get(hop) ?? null;
  }

  /** Relations in both directions, or from several records, link the same columns: the aliases tell them apart. */
  linked(left: Column, right: Column, [from, to]: readonly [string | null, string | null]): void {
    this.key += `${from} ${idOf(left)}${to} ${idOf(right)}`;
  }

  table(table: Table): void {
    this.key += idOf(table);
  }

  /**
   * Table sources are created for each statement, so their names are used; names cannot contain the NUL that separates
   * them here.
   */
  source(source: Source): void {
    if (source.kind === "query") {
      const { parameters, values } = source;
      if (parameters === undefined) this.key += idOf(source);
      else {
        this.key += idOf(parameters);
        parameters.columns.forEach((column, at) => this.keep(column, valueAt(values, at)));
      }
    } else this.key += `${source.schema ?? "\0"}\0${source.name}\0`;
  }

  name(column: Column): void {
    this.key += idOf(column);
  }

  textOf(column: Column): void {
    this.key += idOf(column);
  }

  comparand(column: Column): void {
    this.key += idOf(column);
  }

  joined(left: Column, right: Column): void {
    this.key += idOf(left) + idOf(right);
  }

  compared(column: Column, value: Scalar): void {
    this.keep(column, value);
  }

  exactly(column: Column, values: readonly Scalar[], negated: boolean): void {
    this.key += `${negated ? "Y" : "X"}${idOf(column)}${values.length} `;
    for (const value of values) this.keep(column, value);
  }

  value(column: Column, value: Scalar): void {
    this.keep(column, value);
  }

  outputs(columns: readonly Column[]): void {
    let ids = "";
    for (let at = 0; at < columns.length; at++) ids += idOf(columns[at]!);
    this.key += ids;
  }

  unlessTaken(key: readonly Column[]): void {
    this.key += "u";
    this.outputs(key);
  }

  returning(columns: readonly Column[]): void {
    this.key += "r";
    this.outputs(columns);
  }

  like(column: Column, pattern: string, options: LikeOptions): void {
    const { negated, ignoreCase, isExact, ignoreAccents, inOrder } = options;
    const { ascii, begins, isHead } = patternKind(pattern);
    const marks = ascii ? "abcd" : "efgh";
    this.key += marks[(negated ? 2 : 0) + (ignoreCase ? 1 : 0)]!;
    if (isExact) this.key += "x";
    if (ignoreAccents) this.key += "i";
    if (inOrder) this.key += "o";
    if (begins !== null) this.key += isHead ? "q" : begins === "common" ? "k" : "j";
    this.key += idOf(column);
    this.keep(null, pattern);
  }

  holds(column: Column, value: Scalar): void {
    this.key += `m${idOf(column)}`;
    this.keep(column, value);
  }

  fullText(search: TextSearch): void {
    this.key += `q${idOf(search.index)}${this.searches.key(search)} `;
    for (const text of this.searches.values(search)) this.keep(null, text);
  }

  rank(search: TextSearch, direction: "asc" | "desc"): void {
    this.key += `v${direction}${idOf(search.index)}${this.searches.key(search)} `;
    for (const text of this.searches.rank.values(search)) this.keep(null, text);
  }

  sort(column: Column, direction: "asc" | "desc"): void {
    this.key += idOf(column);
    if (direction === "desc") this.key += "-";
  }

  aggregate({ function: name, column, result }: Output, emitWhere: (() => void) | null): void {
    this.key += `${name ?? "by"} ${column === null ? "*" : idOf(column)}${idOf(result)}`;
    if (emitWhere === null) return;
    this.key += "(";
    emitWhere();
    this.key += ")";
  }

  /** The outputs tell which of them are grouped. */
  position(): void {}

  filled(result: Column, list: string): void {
    this.key += `f${idOf(result)}`;
    this.keep(null, list);
  }

  /** BigInts: SQLite treats a number as a floating-point value and has to convert it. */
  limit(limit: number | null, offset: number): void {
    this.key += limit === null ? "o" : "p";
    if (limit !== null) this.keep(null, BigInt(limit));
    this.keep(null, BigInt(offset));
  }

  number(value: number): void {
    this.keep(null, BigInt(value));
  }

  rowLock(): void {
    this.key += "L";
  }

  takesLists(columns: readonly Column[], rows: readonly (readonly Scalar[])[]): boolean {
    return travelAsLists(this.lists, columns, rows);
  }

  rows(columns: readonly Column[], rows: readonly (readonly Scalar[])[]): void {
    if (!this.takesLists(columns, rows)) {
      // As `emitRowByRow`, without its calls: an import has 500 rows.
      this.key += `V${rows.length} `;
      for (const row of rows)
        for (let at = 0; at < columns.length; at++) this.keep(columns[at]!, row[at] ?? null);
      return;
    }
    this.key += "R";
    for (let at = 0; at < columns.length; at++)
      this.keep(
        columns[at]!,
        rows.map((row) => row[at] ?? null),
      );
  }

  defaultValues(): void {
    this.key += "d";
  }

  add(column: Column, delta: string): void {
    this.key += "+";
    this.keep(column, deltaOf(column, delta));
  }

  stamp(column: Column, after: Column | null, now: string): void {
    if (after === null) this.key += "t";
    else this.key += `a${idOf(after)}`;
    this.keep(column, now);
  }

  told(columns: readonly ToldColumn[], side: ToldSide): void {
    this.key += side;
    for (const column of columns) this.differs(column);
  }

  differs({ old }: ToldColumn): void {
    this.key += idOf(old);
  }

  formula({ formula }: Calculate): void {
    this.key += idOf(formula);
  }

  parameterQuery(query: ParameterQuery, value: Scalar): void {
    this.key += idOf(query);
    for (let at = 1; at < query.texts.length; at++) this.keep(query.parameter, value);
  }

  explain(): void {
    this.key += "e";
  }

  sampled(): void {
    this.key += "s";
  }

  sample(source: Source, halvings: number): void {
    this.source(source);
    this.key += halvings;
  }

  repeat(count: number, _separator: Word, emit: (at: number) => void): void {
    this.key += count;
    emit(0);
    const { key } = this;
    for (let at = 1; at < count; at++) emit(at);
    this.key = key;
  }

  private keep(column: Column | null, value: Scalar | readonly Scalar[]): void {
    this.values.push(value);
    this.columns?.push(column);
  }
}

/** A parameter without a value would be a statement that did not pass the session. */
function valueAt(values: readonly Scalar[] | undefined, at: number): Scalar {
  const value = values?.[at];
  if (value === undefined) throw new Error("The parameters of a query did not get their values");
  return value;
}

/** The value that `add` binds: in the form of the column's own type. */
const deltaOf = (column: Column, delta: string): Scalar => arithmeticOf(column).fromDigits(delta);

const ids = new WeakMap<object, string>();
let lastId = 0;

/** A short name for a frozen object. Ends in a blank, so that ids can follow each other. */
function idOf(object: object): string {
  let id = ids.get(object);
  if (id === undefined) {
    id = `${++lastId} `;
    ids.set(object, id);
  }
  return id;
}
