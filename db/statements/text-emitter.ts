/** The pieces of a statement as SQL of one engine: what its dialect makes of them, and what all engines share. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import { answeredAs } from "../../core/values/types/column.ts";
import type { Column, Hop, Source, Table } from "../../core/values/types/column.ts";
import type { ToldColumn, ToldSide } from "../../core/query/logging.ts";
import type { Calculate, Output, ParameterQuery } from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import type { TextSearch } from "../../core/values/types/text-index.ts";
import type { Dialect, NamedColumn, PrintedSearch, ToldValue } from "./dialect.ts";
import { emitRowByRow, travelAsLists } from "./insert-rows.ts";
import type { Emitter, Frame, LikeOptions } from "./emitter.ts";
import { patternKind } from "./patterns.ts";
import { from, tableName } from "./source.ts";
import { type Repetition, Slot } from "./slots.ts";
import type { Word } from "./words.ts";

/** Collects the text of one statement. The values themselves do not matter, only their places in the shape. */
export class TextEmitter implements Emitter {
  placesUsed = 0;
  private readonly dialect: Dialect;
  private pieces: SQL[] = [];
  private qualifier: SQL = sql.empty();
  private readonly aliases = new Map<Column, SQL>();
  /** From the outermost to the present one. */
  private readonly frames: Frame[] = [];
  private aliasesUsed = 0;
  private written: Pick<Table, "schema" | "name"> | null = null;

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  whole(): SQL {
    return sql.join(this.pieces);
  }

  word({ text }: Word): void {
    this.pieces.push(sql.raw(text));
  }

  separator(word: Word): void {
    this.word(word);
  }

  identifier(name: string): void {
    this.pieces.push(sql`${sql.identifier(name)}`);
  }

  newAlias(): string {
    return `joined${this.aliasesUsed++}`;
  }

  within(frame: Frame, emit: () => void): void {
    const { qualifier } = this;
    this.frames.push(frame);
    this.qualifier = sql`${sql.identifier(frame.alias)}.`;
    emit();
    this.qualifier = qualifier;
    this.frames.pop();
  }

  aliasOf(hop: Hop | null): string | null {
    if (hop === null) return this.frames.at(-1)?.alias ?? this.written?.name ?? null;
    const frame = this.frames.findLast(({ hops }) => hops.has(hop));
    if (frame === undefined) throw new Error("A joined record did not pass the caller's scope");
    return frame.hops.get(hop)!;
  }

  linked(left: Column, right: Column, [from, to]: readonly [string | null, string | null]): void {
    const named = (column: Column, alias: string | null): NamedColumn => {
      const name = sql`${sql.identifier(column.name)}`;
      return { column, name: alias === null ? name : sql`${sql.identifier(alias)}.${name}` };
    };
    this.pieces.push(this.equal(named(left, from), named(right, to)));
  }

  qualify(columns: Iterable<Column>, alias: string): void {
    for (const column of columns) this.aliases.set(column, sql`${sql.identifier(alias)}.`);
  }

  table(table: Table): void {
    const { schema, name } = table;
    this.written = table;
    this.pieces.push(tableName(schema, name));
  }

  source(source: Source, alias: string): void {
    if (source.kind === "query" && source.parameters !== undefined) {
      const { texts, columns } = source.parameters;
      this.pieces.push(sql`(\n`);
      this.textsAround(texts, (at) => columns[at]!);
      return void this.pieces.push(sql`\n) as ${sql.identifier(alias)}`);
    }
    const { written, dialect } = this;
    const isWritten =
      source.kind === "table" && source.name === written?.name && source.schema === written.schema;
    if (!isWritten || dialect.rereading === undefined)
      return void this.pieces.push(from(source, sql.identifier(alias)));
    const [before, behind] = dialect.rereading;
    const table = tableName(source.schema, source.name);
    this.pieces.push(sql`${sql.raw(before)}${table}${sql.raw(behind)} as ${sql.identifier(alias)}`);
  }

  private textsAround(texts: readonly string[], parameterAt: (at: number) => Column): void {
    texts.forEach((text, at) => {
      if (at > 0) this.value(parameterAt(at - 1));
      this.pieces.push(sql.raw(text));
    });
  }

  name(column: Column): void {
    this.pieces.push(this.nameOf(column));
  }

  textOf(column: Column): void {
    this.pieces.push(this.shownText(column));
  }

  joined(left: Column, right: Column): void {
    const [one, other] = [this.nameOf(left), this.nameOf(right)];
    this.pieces.push(this.equal({ column: left, name: one }, { column: right, name: other }));
  }

  private equal(left: NamedColumn, right: NamedColumn): SQL {
    // Labels of two enumerated types are equal only as texts.
    if (left.column.labels !== null || right.column.labels !== null) {
      const [one, other] = [left, right].map(
        ({ column, name }) => this.dialect.textOf(column, name) ?? name,
      ) as [SQL, SQL];
      return sql`${one} = ${other}`;
    }
    const sides = this.dialect.joined(left, right) ?? [
      this.comparable(left.column, left.name, left.name),
      this.comparable(right.column, right.name, right.name),
    ];
    return sql`${sides[0]} = ${sides[1]}`;
  }

  comparand(column: Column): void {
    const name = this.nameOf(column);
    this.pieces.push(this.comparable(column, name, name));
  }

  compared(column: Column): void {
    this.pieces.push(this.comparable(column, this.valueFor(column), this.nameOf(column)));
  }

  exactly(column: Column, values: readonly Scalar[], negated: boolean): void {
    const { dialect } = this;
    const name = this.nameOf(column);
    const places = values.map(() => this.valueFor(column));
    if (!negated && dialect.isExactly)
      return void this.pieces.push(dialect.isExactly(column, name, places));
    const list = sql.join(
      places.map((place) => dialect.exact(column, place)),
      sql`, `,
    );
    const isAmong = sql.raw(negated ? "not in" : "in");
    this.pieces.push(sql`${dialect.exact(column, name)} ${isAmong} (${list})`);
  }

  value(column: Column): void {
    this.pieces.push(this.valueFor(column));
  }

  outputs(columns: readonly Column[]): void {
    const outputs = columns.map(
      (column) => sql`${this.outputOf(column)} as ${sql.identifier(answeredAs(column))}`,
    );
    this.pieces.push(sql.join(outputs, sql`, `));
  }

  unlessTaken(key: readonly Column[]): void {
    this.pieces.push(this.dialect.unlessTaken(key.map((column) => this.nameOf(column))));
  }

  returning(columns: readonly Column[], isForced = false): void {
    if ((!this.dialect.returning && !isForced) || columns.length === 0) return;
    this.pieces.push(sql` returning `);
    this.outputs(columns);
  }

  like(column: Column, pattern: string, options: LikeOptions): void {
    const { negated, ignoreCase, isExact = false } = options;
    const { ignoreAccents = false, inOrder = false } = options;
    const placeholder = this.slot();
    const text = this.dialect.textOf(column, this.nameOf(column));
    if (text === null) return void this.pieces.push(sql`1 = 0`);
    const kind = { column, ignoreCase, isExact, ignoreAccents, inOrder, ...patternKind(pattern) };
    const matches = this.dialect.like(text, placeholder, kind);
    this.pieces.push(negated ? sql`not (${matches})` : sql`(${matches})`);
  }

  holds(column: Column): void {
    this.pieces.push(this.dialect.holds(column, this.nameOf(column), this.valueFor(column)));
  }

  fullText(search: TextSearch): void {
    const { fullText } = this.dialect;
    const { length } = fullText.values(search);
    this.pieces.push(sql`(${fullText.matches(this.printedSearch(search, length))})`);
  }

  rank(search: TextSearch, direction: "asc" | "desc"): void {
    const { rank: ranks } = this.dialect.fullText;
    const rank = ranks.print(this.printedSearch(search, ranks.values(search).length));
    this.pieces.push(sql`${rank} ${sql.raw(direction)}`);
  }

  private printedSearch(search: TextSearch, count: number): PrintedSearch {
    const values = Array.from({ length: count }, () => this.slot());
    const name = (column: Column): SQL => this.nameOf(column);
    return { search, values, name, qualifier: this.qualifier };
  }

  sort(column: Column, direction: "asc" | "desc"): void {
    this.pieces.push(this.dialect.sort(column, this.nameOf(column), direction));
  }

  aggregate({ function: name, column, result }: Output, emitWhere: (() => void) | null): void {
    if (column === null && emitWhere === null) return void this.pieces.push(sql`count(*)`);
    const term = column === null ? sql`1` : this.nameOf(column);
    const counted =
      emitWhere === null ? term : sql`case when ${this.pieceOf(emitWhere)} then ${term} end`;
    this.pieces.push(
      column === null
        ? sql`count(${counted})`
        : this.dialect.aggregate(name, column, counted, result),
    );
  }

  position(at: number): void {
    this.pieces.push(sql.raw(String(at + 1)));
  }

  filled(result: Column, _list: string, alias: string): void {
    this.pieces.push(this.dialect.filled(result, this.slot(), sql`${sql.identifier(alias)}`));
  }

  limit(limit: number | null): void {
    const most = limit === null ? null : this.slot();
    this.pieces.push(sql` ${this.dialect.limit(most, this.slot())}`);
  }

  number(): void {
    this.pieces.push(this.slot());
  }

  rowLock(): void {
    this.pieces.push(sql.raw(this.dialect.rowLock));
  }

  takesLists(columns: readonly Column[], rows: readonly (readonly Scalar[])[]): boolean {
    return travelAsLists(this.dialect.valueLists, columns, rows);
  }

  rows(columns: readonly Column[], rows: readonly (readonly Scalar[])[]): void {
    if (!this.takesLists(columns, rows)) return emitRowByRow(this, columns, rows);
    const lists = this.dialect.valueLists!;
    const places = columns.map((column) => lists.param(column, this.slot()));
    this.pieces.push(lists.rows(places));
  }

  defaultValues(): void {
    this.pieces.push(sql.raw(this.dialect.defaultValues));
  }

  add(column: Column): void {
    this.pieces.push(this.dialect.add(column, this.nameOf(column), this.valueFor(column)));
  }

  stamp(column: Column, after: Column | null): void {
    const latest = after === null ? null : { column: after, name: this.nameOf(after) };
    const now = this.valueFor(column);
    this.pieces.push(this.dialect.stamp({ column, name: this.nameOf(column) }, latest, now));
  }

  told(columns: readonly ToldColumn[], side: ToldSide): void {
    this.pieces.push(this.dialect.logging!.object(columns.map(this.toldValue), side));
  }

  differs(column: ToldColumn): void {
    this.pieces.push(this.dialect.logging!.differs(this.toldValue(column)));
  }

  formula({ formula, column, operands }: Calculate): void {
    const byName = new Map(operands.map((operand) => [operand.name, operand]));
    const operandOf = (operand: Column) => ({ column: operand, term: this.nameOf(operand) });
    const find = (name: string) => operandOf(byName.get(name)!);
    this.pieces.push(this.dialect.formula(formula, column, find));
  }

  /** If no column needs an expression, the text runs unchanged: not every engine keeps the row order of a subquery. */
  parameterQuery({ texts, parameter, columns }: ParameterQuery): void {
    const isBare = columns.every((column) => {
      const name = this.nameOf(column);
      return this.dialect.output(column, name) === name;
    });
    if (!isBare) {
      this.pieces.push(sql`select `);
      this.outputs(columns);
      this.pieces.push(sql` from (\n`);
    }
    this.textsAround(texts, () => parameter);
    if (!isBare) this.pieces.push(sql`\n) as source`);
  }

  explain(): void {
    const { estimate } = this.dialect;
    if (estimate === undefined) throw new Error("The engine has no estimates");
    this.pieces.push(sql.raw(estimate.explain));
  }

  sampled(): void {
    this.pieces.push(sql.raw(this.dialect.estimate!.samples!.before));
  }

  sample(source: Source, halvings: number): void {
    const { between, behind } = this.dialect.estimate!.samples!;
    this.pieces.push(sql.raw(between));
    this.source(source, "source");
    this.pieces.push(sql.raw(behind(100 / 2 ** halvings)));
  }

  /** Prints only the first piece: printing the thousands of values of a batch INSERT takes as long as several runs. */
  repeat(count: number, separator: Word, emit: (at: number) => void): void {
    if (count === 0) return;
    const { pieces, placesUsed } = this;
    const piece = this.pieceOf(() => emit(0));
    const step = this.placesUsed - placesUsed;
    this.placesUsed += step * (count - 1);
    const repeated: Repetition = { count, separator: separator.text, piece, step };
    pieces.push(sql`${sql.param(repeated)}`);
  }

  private readonly toldValue = ({ column, old }: ToldColumn): ToldValue => {
    return { column, before: this.nameOf(old), after: this.nameOf(column) };
  };

  /** What `emit` emits, apart from the rest. */
  private pieceOf(emit: () => void): SQL {
    const { pieces } = this;
    this.pieces = [];
    emit();
    const piece = this.whole();
    this.pieces = pieces;
    return piece;
  }

  private nameOf(column: Column): SQL {
    const { parts, markOf, exactOf, foldedOf, via, derived } = column;
    if (derived?.kind === "bucket")
      return this.dialect.bucket(derived.of, this.nameOf(derived.of), derived.bucket);
    if (derived !== undefined) {
      const { formula, operands } = derived;
      return this.dialect.figure(formula, column, (name) => {
        const operand = operands[formula.names.indexOf(name)]!;
        return { column: operand, term: this.nameOf(operand) };
      });
    }
    if (exactOf !== undefined) return this.dialect.exact(exactOf, this.nameOf(exactOf));
    if (foldedOf !== undefined) return this.dialect.folded(foldedOf, this.nameOf(foldedOf));
    if (markOf !== undefined) return this.dialect.marks.term(markOf, this.nameOf(markOf));
    if (via !== undefined)
      return sql`${sql.identifier(this.aliasOf(via.hop)!)}.${sql.identifier(via.column.name)}`;
    if (parts === undefined)
      return sql`${this.aliases.get(column) ?? this.qualifier}${sql.identifier(column.name)}`;
    return this.dialect.concat(
      parts.map((part) => (typeof part === "string" ? part : this.shownText(part))),
    );
  }

  private shownText(column: Column): SQL {
    return this.dialect.textOf(column, this.nameOf(column)) ?? this.nameOf(column);
  }

  private outputOf(column: Column): SQL {
    const name = this.nameOf(column);
    return column.markOf === undefined
      ? this.dialect.output(column, name)
      : this.dialect.marks.output(column.markOf, name);
  }

  private comparable(column: Column, term: SQL, name: SQL): SQL {
    return column.markOf === undefined ? this.dialect.comparand(column, term, name) : term;
  }

  /** The placeholder of the next value, which is one of the column. */
  private valueFor(column: Column): SQL {
    const placeholder = this.slot();
    return column.markOf === undefined
      ? this.dialect.param(column, placeholder)
      : this.dialect.marks.param(column.markOf, placeholder);
  }

  private slot(): SQL {
    return sql`${sql.param(new Slot(this.placesUsed++))}`;
  }
}
