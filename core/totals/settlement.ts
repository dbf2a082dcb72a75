/**
 * The headers that one transaction must update for the lines that it writes. They are locked before their lines, so
 * that writers of one document wait for each other, and get their totals afterwards. Bypasses the caller's scope,
 * because totals count all lines.
 */
import type { AuditColumns } from "../plans/audit-columns.ts";
import type { UnscopedQueries } from "../query/session.ts";
import { rowsThatAre } from "../callers/visibility.ts";
import type {
  DocumentTables,
  HeaderTable,
  HeaderTotal,
  LinesTable,
} from "../plans/document-tables.ts";
import type { Row } from "../values/row.ts";
import { markNames, type MarkedTable } from "../plans/soft-delete.ts";
import { resultOf, takesType } from "../query/aggregate-results.ts";
import { keyBatches, keyIn } from "../query/key-conditions.ts";
import {
  allOf,
  type Assignment,
  type Condition,
  equals,
  sourceOf,
  type UpdateOne,
  selectFrom,
} from "../query/statement.ts";
import { accept } from "../values/types/accept.ts";
import { isExact, scaleOf } from "../values/types/arithmetic.ts";
import type { Table } from "../values/types/column.ts";
import { divideDecimal, normalDecimal } from "../values/decimal.ts";
import { AppError, validationFailed } from "../values/errors.ts";
import type { Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Scalar } from "../values/scalar.ts";
import { type HeaderKeys, pinned, scalarFor, shownScalar } from "./row-values.ts";

/** The rules of the project, and the additional columns that a change of totals writes. */
export interface Keeping {
  readonly tables: DocumentTables;
  /** The assignments of a header's updated_at and updated_by. */
  readonly stamp: (audit: AuditColumns) => readonly Assignment[];
}

/** Facts about the work whose totals are computed after it. */
export interface TotalsOf {
  /** The table of the header that the work is about. The work itself stamps it and reports its columns at fault. */
  readonly document?: Table;
  /** A refusal of a formula, in the terms of the request. */
  readonly refused?: (lines: Table, error: AppError) => unknown;
}

interface Owed {
  readonly key: Json;
  /** False: nothing but a mark of the header changed. */
  readonly stamps: boolean;
}

export class Settlement {
  private readonly own: UnscopedQueries;
  private readonly keeping: Keeping;
  private readonly update: (update: UpdateOne) => Promise<Row | null>;
  private owed = new Map<HeaderTable, { lines: LinesTable; keys: Map<string, Owed> }>();
  private readonly locked = new Map<string, Set<string>>();
  private holds = 0;
  private work: TotalsOf = {};

  /** `update`: changes the row of a header, which may be a line of another document. */
  constructor(
    own: UnscopedQueries,
    { keeping, update }: { keeping: Keeping; update: (update: UpdateOne) => Promise<Row | null> },
  ) {
    this.own = own;
    this.keeping = keeping;
    this.update = update;
  }

  /** Whether totals wait for the end of some work. */
  get isHeld(): boolean {
    return this.holds > 0;
  }

  /** Returns what to call when the part of the transaction that begins now was rolled back, perhaps with its locks. */
  mark(): () => void {
    const owed = new Map(this.owed);
    for (const [header, { lines, keys }] of owed) owed.set(header, { lines, keys: new Map(keys) });
    return () => {
      this.locked.clear();
      this.owed = owed;
    };
  }

  /** Totals follow once, at the end of the work. */
  async once<T>(work: () => Promise<T>, about: TotalsOf): Promise<T> {
    if (this.isHeld) return work();
    this.holds += 1;
    this.work = about;
    try {
      const result = await work();
      await this.drain(true);
      return result;
    } finally {
      this.holds -= 1;
      this.work = {};
    }
  }

  async settle(): Promise<void> {
    if (this.isHeld || this.owed.size === 0) return;
    this.holds += 1;
    try {
      await this.drain(false);
    } finally {
      this.holds -= 1;
    }
  }

  /** The lines' headers get new totals. */
  owe(lines: LinesTable, rows: readonly HeaderKeys[], { stamps = true } = {}): void {
    for (const header of lines.headers)
      for (const row of rows) this.oweTo({ lines, header }, row[header.foreignKey.name], stamps);
  }

  oweTo(
    { lines, header }: { lines: LinesTable; header: HeaderTable },
    key: Json | undefined,
    stamps: boolean,
  ): void {
    if (key === null || key === undefined) return;
    const { keys } = this.owed.get(header) ?? { keys: new Map<string, Owed>() };
    this.owed.set(header, { lines, keys });
    const known = keys.get(String(key));
    keys.set(String(key), known ? { ...known, stamps: known.stamps || stamps } : { key, stamps });
  }

  /**
   * Locks the headers of the rows that match, and those that `assigned` gives them. Returns the header keys of the
   * rows. Reads the rows again if it took new locks, because they may have moved while it waited.
   */
  async lockAbove(
    lines: LinesTable,
    {
      where,
      table,
      assigned = {},
    }: { where: Condition | null; table: Table; assigned?: HeaderKeys },
  ): Promise<readonly HeaderKeys[]> {
    const pinned = where && pinnedKeys(where, lines);
    for (;;) {
      const rows = pinned ? [pinned] : await this.keysOf(lines, { where, table });
      const after = rows.map((row) => ({ ...row, ...assigned }));
      const isNew = await this.lock(lines, [...rows, ...after]);
      if (!isNew || pinned) return rows;
    }
  }

  private async keysOf(
    { headers }: LinesTable,
    { where, table }: { where: Condition | null; table: Table },
  ): Promise<Row[]> {
    const columns = [...new Set(headers.map(({ foreignKey }) => foreignKey))];
    return this.own.all(selectFrom(sourceOf(table), { columns, where }));
  }

  /** Locks the headers with these keys, those above them first; whether one was not locked before. */
  async lock(lines: LinesTable, rows: readonly HeaderKeys[]): Promise<boolean> {
    let isNew = false;
    for (const { table, key, foreignKey, totals } of lines.headers) {
      if (totals.length === 0) continue;
      const locked = this.locked.get(table.identity) ?? new Set();
      this.locked.set(table.identity, locked);
      const open = new Map<string, Scalar>();
      for (const row of rows) {
        const value = row[foreignKey.name] ?? null;
        const form = value === null ? null : scalarFor(key, value);
        if (form !== null && !locked.has(String(value))) open.set(String(value), form);
      }
      if (open.size === 0) continue;
      isNew = true;
      for (const text of open.keys()) locked.add(text);
      const above = this.keeping.tables.lines.get(table.identity);
      for (const some of keyBatches(
        [key],
        [...open.values()].map((one) => [one]),
      )) {
        const where = keyIn([key], some);
        if (above) await this.lockAbove(above, { where, table });
        const sort = [{ column: key, direction: "asc" }] as const;
        await this.own.all(
          selectFrom(sourceOf(table), { columns: [key], where, sort, lock: true }),
        );
      }
    }
    return isNew;
  }

  /** Computes the columns of the lines that match. */
  async compute({ table, computed }: LinesTable, where: Condition): Promise<void> {
    for (const { column, formula, operands } of computed) {
      try {
        await this.own.calculate({ kind: "calculate", table, column, formula, operands, where });
      } catch (error) {
        const { refused } = this.work;
        throw error instanceof AppError && refused ? refused(table, error) : error;
      }
    }
  }

  /** `computesFirst`: the formulas of the lines wait too. A header may be a line of another document, and so on. */
  private async drain(computesFirst: boolean): Promise<void> {
    for (let level = 0; this.owed.size > 0; level++) {
      if (level === limits.totalsLevelsMax)
        throw new AppError("constraintViolation", "The totals of this record depend on themselves");
      const round = [...this.owed];
      this.owed.clear();
      for (const [header, { lines, keys }] of round)
        for (const some of batches([...keys.values()]))
          await this.total(header, { lines, keys: some, computes: computesFirst || level > 0 });
    }
  }

  private async total(
    header: HeaderTable,
    { lines, keys, computes }: { lines: LinesTable; keys: readonly Owed[]; computes: boolean },
  ): Promise<void> {
    const { foreignKey } = header;
    const values = keys.flatMap(({ key }) => scalarFor(foreignKey, key) ?? []);
    if (values.length === 0) return;
    if (computes)
      await this.compute(lines, { kind: "in", column: foreignKey, values, negated: false });
    if (header.totals.length === 0) return;
    const sums = values.length > 1 ? await this.sumsByKey(header, lines, values) : new Map();
    for (const { key, stamps } of keys) {
      const value = scalarFor(foreignKey, key);
      if (value === null) continue;
      // The database may treat keys with other texts as equal.
      const row = sums.get(String(key)) ?? (await this.sums(header, lines, value));
      await this.change(header, { key, row, stamps });
    }
  }

  private async sums(header: HeaderTable, lines: LinesTable, value: Scalar): Promise<Row> {
    const where = equals(header.foreignKey, value);
    const [row] = await this.own.aggregate(sumsOf(header, lines, { where, group: [] }));
    return row!;
  }

  private async sumsByKey(
    header: HeaderTable,
    lines: LinesTable,
    values: readonly Scalar[],
  ): Promise<Map<string, Row>> {
    const column = header.foreignKey;
    if (!takesType(null, column.type)) return new Map();
    const where: Condition = { kind: "in", column, values, negated: false };
    const result = resultOf(null, column, header.totals.flatMap(({ outputs }) => outputs).length);
    const alias = result.name;
    const group = [{ alias, function: null, column, result }];
    const rows = await this.own.aggregate(sumsOf(header, lines, { where, group }));
    return new Map(rows.map((row) => [String(row[alias]), row]));
  }

  private async change(
    header: HeaderTable,
    { key, row, stamps }: { key: Json; row: Row; stamps: boolean },
  ): Promise<void> {
    const { table, audit, marking, totals } = header;
    const named = scalarFor(header.key, key);
    if (named === null) return;
    const isOwn = table.identity === this.work.document?.identity;
    try {
      const set = totals.map((total) => assignmentOf(total, row));
      const differs = { kind: "or", members: set.flatMap(isOther) } as const;
      await this.update({
        kind: "update",
        table,
        key: [header.key],
        keyValue: [named],
        guard: allOf(active(marking), differs),
        set: [...set, ...(stamps && !isOwn ? this.keeping.stamp(audit) : [])],
        returning: [],
      });
    } catch (error) {
      throw isOwn ? error : inTermsOf(table, error);
    }
  }
}

/** The header keys that every matching row has; null if the condition does not determine all of them. */
function pinnedKeys(where: Condition, { headers }: LinesTable): HeaderKeys | null {
  const keys: Record<string, Json> = {};
  for (const { foreignKey } of headers) {
    const value = pinned(where, foreignKey.name);
    if (value === undefined) return null;
    keys[foreignKey.name] = shownScalar(value);
  }
  return keys;
}

const active = (marking: MarkedTable | null): Condition | null =>
  marking && rowsThatAre("active", markNames(marking.marks), marking.table.columns);

const sumsOf = (
  { totals }: HeaderTable,
  { table, marking }: LinesTable,
  { where, group }: { where: Condition; group: HeaderTotal["outputs"] },
) =>
  ({
    kind: "aggregate",
    source: sourceOf(table),
    rows: null,
    joins: [],
    outputs: [...totals.flatMap(({ outputs }) => outputs), ...group],
    where: allOf(where, active(marking)),
    having: null,
    sort: [],
    limit: null,
  }) as const;

type Assigned = Extract<Assignment, { kind: "set" }>;

function assignmentOf(total: HeaderTotal, row: Row): Assigned {
  const { column } = total;
  const accepted = accept(column, totalOf(total, row));
  if (!accepted.ok) throw validationFailed({ [column.name]: [accepted.message] });
  return { kind: "set", column, value: accepted.value };
}

/** An empty sum is 0; other functions give null. Rounded to the column's digits, halves away from zero. */
function totalOf({ column, function: name, outputs }: HeaderTotal, row: Row): Json {
  const [first, second] = outputs.map(({ alias }) => row[alias] ?? null);
  if (!isExact(column)) return first!;
  const digits = normalDecimal(String(first ?? (name === "sum" ? 0 : "")));
  if (digits === null) return null;
  const open = name === "avg" ? limits.quotientDigitsMax : null;
  const places = scaleOf(column) ?? open;
  return places === null ? digits : divideDecimal(digits, BigInt(String(second ?? 1)), places);
}

/** Whether the column has another value. */
function isOther({ column, value }: Assigned): Condition[] {
  const isNull: Condition = { kind: "null", column, negated: value === null };
  return value === null ? [isNull] : [isNull, { kind: "compare", column, operator: "!=", value }];
}

/** Columns of a header, in an answer about another record. */
function inTermsOf({ name }: Table, error: unknown): unknown {
  if (!(error instanceof AppError) || error.errors === undefined) return error;
  const named = Object.entries(error.errors).map(([column, texts]) => [`${name}.${column}`, texts]);
  return new AppError(error.kind, error.message, {
    errors: Object.fromEntries(named),
    cause: error,
  });
}

function* batches<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += limits.inValuesMax)
    yield items.slice(at, at + limits.inValuesMax);
}
