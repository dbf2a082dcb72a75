/**
 * Which reads may take long. SQLite runs a statement on the calling thread and cannot stop it, so those run in another
 * process (`reader.ts`). Decided by the plan: how many rows it visits at most, from the sizes of the tables, and from the
 * rows of a range where these are few.
 */
import type { Database } from "better-sqlite3";
import type { Column } from "../../../core/values/types/column.ts";
import { type Condition, selectFrom, type Statement } from "../../../core/query/statement.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Compile } from "../../statements/compile.ts";
import { patternKind } from "../../statements/patterns.ts";
import type { PlannedRead } from "../engine.ts";
import { createTableSizes, type TableSizes } from "./table-sizes.ts";

export interface LongReads {
  /** Whether the statement may block the thread. The result for a recent text is cached. */
  isLong(database: Database, read: PlannedRead): boolean;
}

interface Judged {
  /** Rows that the statement visits at most, those of its subqueries included. */
  readonly visits: number;
  /** Each visited row of the one table is an answer, in the order that was asked for, if the condition allows it. */
  readonly isDirect: boolean;
  /** What the table's index is compared with, as the plan says it (`name>?`); null: it is not searched. */
  readonly bounds: readonly string[] | null;
  /** The column of which the table's index gives a range; null: it gives all rows, or single ones. */
  readonly ranged: string | null;
  /** How many ends that range has. */
  readonly rangeEnds: number;
  /** As `visits`, for each row of that range. */
  readonly visitsPerRanged: number;
}

/** A plan and the number of rows in a range are read again after this time. */
const freshMs = 10_000;
/** Fewer visits are not worth a message to another process, even if they were slow recently. */
const fewVisits = 100;
/** One call of a JavaScript function takes as long as visiting so many rows, a LIKE as long as one of them. */
const callVisits = 10;
/**
 * Characters of texts in a statement with LIKE or with JSON. More take seconds where they are compared at each place of
 * a long text, or read anew for each row.
 */
const comparedLengthMax = 500;
/** A sorted row counts as so many more. */
const sortVisits = 3;
/** Rows of a range are counted up to here, which takes less time than a message to another process. */
const countedRowsMax = 2_000;

/** How long a statement may block the thread, by the rows that it visits and by the average time of its text. */
export interface LongReadLimits {
  readonly visits: number;
  readonly ms: number;
}

/** `compile` prints the statements that count the rows of a range. */
export function createLongReads(compile: Compile, most: LongReadLimits): LongReads {
  const sizes = createTableSizes();
  const plans = new Fresh<Judged>();
  const counts = new Fresh<number>();

  const judge = (database: Database, compiled: PlannedRead["compiled"]): Judged =>
    plans.get(compiled.text, () => read(database, compiled));

  function read(database: Database, { text, params }: PlannedRead["compiled"]) {
    const steps = database.prepare<unknown[], Step>(`explain query plan ${text}`).all(...params);
    const tables = sizes.of(database, { text, params });
    const calls = text.split("rowgate_").length - 1;
    const likes = text.split(" like ").length - 1;
    // Each value of an IN is looked up.
    const lookUps = / in \(/i.test(text) ? Math.max(1, params.length) : 1;
    const visitsFor = (rangedRows: number | null): number =>
      new Walk(tables, steps, rangedRows).costOf(0).visits *
      lookUps *
      (1 + calls * callVisits + likes);
    const [range = "", ranged = null] = rangeOfIndex.exec(steps[0]?.detail ?? "") ?? [];
    return {
      visits: visitsFor(null),
      isDirect: steps.slice(1).every(isLookUp),
      bounds: searchOfIndex.exec(steps[0]?.detail ?? "")?.[1]!.split(" AND ") ?? null,
      ranged,
      rangeEnds: range.split("?").length - 1,
      visitsPerRanged: visitsFor(1),
    };
  }

  /** Rows of the range for this request's values; infinite where they are many, or cannot be counted. */
  function rowsOfRange(database: Database, statement: Statement, ranged: string): number {
    if (statement.kind !== "select" && statement.kind !== "count") return Infinity;
    const { source, where } = statement;
    if (source.kind !== "table" || source.isView === true || where === null) return Infinity;
    const range = rangeWithin(where, ranged);
    if (range === null) return Infinity;
    const rows = selectFrom(source, {
      columns: [range.column],
      where: { kind: "and", members: range.conditions },
      limit: countedRowsMax,
    });
    const compiled = compile(rows);
    const planned = judge(database, compiled);
    if (planned.ranged !== ranged || planned.rangeEnds !== range.ends) return Infinity;
    return counted(database, compiled);
  }

  /** Infinite from `countedRowsMax` on. */
  const counted = (database: Database, { text, params }: PlannedRead["compiled"]): number =>
    counts.get([text, ...params].join("\0"), () => {
      const counting = database.prepare<unknown[], number>(`select count(*) from (${text})`);
      const rows = counting.pluck().get(...params)!;
      return rows < countedRowsMax ? rows : Infinity;
    });

  /** Rows that are read until the answer is there, or the next row of a stream; infinite where that is not known. */
  function rowsBefore(
    database: Database,
    { statement, isStreamed }: Pick<PlannedRead, "statement" | "isStreamed">,
    { isDirect, ranged, bounds }: Judged,
  ): number {
    if (statement.kind !== "select" || !isDirect) return Infinity;
    const { source, where, limit, offset } = statement;
    if (source.kind !== "table" || source.isView === true) return Infinity;
    const wanted = isStreamed ? offset + 1 : offset + (limit ?? Infinity);
    if (where === null || isWholeRange(where, ranged)) return wanted;
    const { found, tied } = soughtOf(where);
    if (!isSearched(found, bounds)) return Infinity;
    if (tied === null) return wanted;
    const { column, members } = tied;
    const rows = compile(
      selectFrom(source, {
        columns: [column.markOf ?? column],
        where: { kind: "and", members },
        limit: countedRowsMax,
      }),
    );
    const isCounted = isSearched(members, judge(database, rows).bounds);
    return isCounted ? wanted + counted(database, rows) : Infinity;
  }

  /** A row that belongs to another one, as paths find it by a unique key. */
  const isLookUp = ({ detail }: Step): boolean => /^SEARCH .* LEFT-JOIN$/.test(detail);

  return {
    isLong(database, { statement, compiled, isStreamed }) {
      const isMuch = (visits: number): boolean =>
        visits > most.visits ||
        (visits > fewVisits && compiled.pace?.isSlowerThan(most.ms) === true);
      if (comparesMuch(compiled)) return true;
      try {
        const judged = judge(database, compiled);
        const { visits, ranged, visitsPerRanged } = judged;
        if (!isMuch(visits)) return false;
        const before = rowsBefore(database, { statement, isStreamed }, judged);
        if (before < visits && before <= most.visits) return false;
        return (
          ranged === null || isMuch(visitsPerRanged * rowsOfRange(database, statement, ranged))
        );
      } catch {
        // An error of the statement shows when it runs.
        return false;
      }
    },
  };
}

/** Whether a few rows with long texts are enough to block the thread. */
const comparesMuch = ({ text, params }: PlannedRead["compiled"]): boolean =>
  / like |rowgate_(?:like|json)/.test(text) &&
  params.reduce<number>((sum, one) => sum + (typeof one === "string" ? one.length : 0), 0) >
    comparedLengthMax;

/** Recent results, each found again after `freshMs`. */
class Fresh<T> {
  private readonly kept = new Map<string, { result: T; untilMs: number }>();

  get(key: string, find: () => T): T {
    const nowMs = performance.now();
    const before = this.kept.get(key);
    if (before !== undefined && before.untilMs > nowMs) return before.result;
    const result = find();
    this.kept.delete(key);
    if (this.kept.size >= limits.statementShapesMax)
      this.kept.delete(this.kept.keys().next().value!);
    this.kept.set(key, { result, untilMs: nowMs + freshMs });
    return result;
  }
}

const rangeOfIndex = /^SEARCH \S+ USING (?:COVERING )?INDEX \S+ \((\w+)(?:>\? AND \1<\?|[<>]\?)\)$/;

const searchOfIndex =
  /^SEARCH \S+ USING (?:(?:COVERING )?INDEX \S+|(?:INTEGER )?PRIMARY KEY) \(([^()]+)\)$/;

/** A drop-down's search: every text of the range begins with the pattern. */
function isWholeRange(where: Condition, ranged: string | null): boolean {
  if (where.kind !== "like" || where.column.name !== ranged) return false;
  const { column, pattern, negated, ignoreCase, ignoreAccents } = where;
  const isFolded = column.hasFoldedIndex === true && ignoreCase && ignoreAccents !== true;
  return isFolded && !negated && patternKind(pattern).isHead;
}

/** What is asked of rows, in a form that can be compared with the bounds of a plan. */
interface Sought {
  /** Rows that fulfil these are answers, but for some of `tied`. */
  readonly found: readonly Condition[];
  /** Those that are equal in the column to the last row of the page before; null: there are none of them. */
  readonly tied: { readonly column: Column; readonly members: readonly Condition[] } | null;
}

/**
 * Takes apart what a cursor asks: `a >= 1 AND (a > 1 OR (a = 1 AND …))`. All rows of its first bound are further in the
 * order, except those that are equal to it.
 */
function soughtOf(where: Condition): Sought {
  const all = membersOf(where);
  for (const [at, either] of all.entries()) {
    const [further] = either.kind === "or" ? either.members : [];
    if (further?.kind !== "compare") continue;
    const { column, value } = further;
    const found = all.toSpliced(at, 1);
    const place = found.findIndex(
      (one) =>
        one.kind === "compare" &&
        one.column === column &&
        one.operator === `${further.operator}=` &&
        one.value === value,
    );
    if (place < 0) continue;
    return { found, tied: { column, members: found.with(place, { ...further, operator: "=" }) } };
  }
  return { found: all, tied: null };
}

const membersOf = (where: Condition): readonly Condition[] =>
  where.kind === "and" ? where.members.flatMap(membersOf) : [where];

/** Whether the rows that the index finds are those that fulfil all conditions. */
function isSearched(conditions: readonly Condition[], planned: Judged["bounds"]): boolean {
  if (planned === null) return false;
  const bounds = conditions.flatMap(boundsOf);
  /** `key`: the column that the plan calls the rowid. */
  const textOf = (key: string | null): string =>
    bounds
      .map(({ name, sign }) => `${name === key ? "rowid" : name}${sign}?`)
      .toSorted()
      .join();
  const text = planned.toSorted().join();
  return textOf(null) === text || bounds.some(({ name }) => textOf(name) === text);
}

/** What an index is compared with for the condition. */
function boundsOf(where: Condition): readonly { readonly name: string; readonly sign: string }[] {
  if (where.kind !== "compare" && where.kind !== "between") return [noBound];
  const { name, via } = where.column.markOf ?? where.column;
  if (via) return [noBound];
  if (where.kind === "compare") return [{ name, sign: where.operator.replace(/(?<=[<>])=/, "") }];
  return where.negated ? [noBound] : [">", "<"].map((sign) => ({ name, sign }));
}

/** Is in no plan. */
const noBound = { name: "", sign: "" };

interface Range {
  readonly column: Column;
  readonly conditions: readonly Condition[];
  readonly ends: 1 | 2;
}

/**
 * Conditions that every row of a range of the column fulfils, and that all rows of the answer fulfil too. No more than
 * these: rows that others leave out would be visited without being counted.
 */
function rangeWithin(where: Condition, ranged: string): Range | null {
  const all = where.kind === "and" ? where.members : [where];
  const ends: Partial<Record<">" | "<", Extract<Condition, { kind: "compare" }>>> = {};
  for (const one of all) {
    if (!("column" in one) || one.column.name !== ranged || one.column.via) continue;
    const isWhole = one.kind === "between" ? !one.negated : isWholeRange(one, ranged);
    if (isWhole) return { column: one.column, conditions: [one], ends: 2 };
    if (one.kind !== "compare") continue;
    if (one.operator.startsWith(">")) ends[">"] ??= one;
    if (one.operator.startsWith("<")) ends["<"] ??= one;
  }
  const [first, second] = Object.values(ends);
  if (first === undefined) return null;
  if (second === undefined) return { column: first.column, conditions: [first], ends: 1 };
  return { column: first.column, conditions: [first, second], ends: 2 };
}

interface Step {
  readonly id: number;
  readonly parent: number;
  readonly detail: string;
}

/** `rows`: what the part gives at most. */
interface Cost {
  readonly visits: number;
  readonly rows: number;
}

/** Adds up a plan: the tables of a FROM are loops within each other, from the first to the last. */
class Walk {
  private readonly sizes: TableSizes;
  private readonly steps: readonly Step[];
  /** Rows of subqueries that were kept, by their names in the plan. */
  private readonly kept = new Map<string, number>();
  /** Rows that the first step finds, where they are known; null: as `sizes` says. */
  private readonly firstRows: number | null;

  constructor(sizes: TableSizes, steps: readonly Step[], firstRows: number | null) {
    this.sizes = sizes;
    this.steps = steps;
    this.firstRows = firstRows;
  }

  /** Of the steps below the one with that id; 0 = the whole plan. */
  costOf(id: number): Cost {
    let visits = 0;
    let loops = 1;
    let perLoop = 0;
    let compound = 0;
    let isSorted = false;
    for (const step of this.steps) {
      if (step.parent !== id) continue;
      const { detail } = step;
      const rows = this.rowsOf(step);
      if (rows !== null) {
        loops *= Math.max(1, rows);
        visits += loops;
        continue;
      }
      if (detail.startsWith("USE TEMP B-TREE")) {
        isSorted = true;
        continue;
      }
      const inner = this.costOf(step.id);
      const [, name] = /^(?:MATERIALIZE|CO-ROUTINE) (.+)$/.exec(detail) ?? [];
      if (name !== undefined) this.kept.set(name, inner.rows);
      if (detail.startsWith("CORRELATED")) perLoop += inner.visits;
      else visits += detail.startsWith("RECURSIVE") ? Infinity : inner.visits;
      if (isPartOfUnion.test(detail)) compound += inner.rows;
    }
    visits += perLoop === 0 ? 0 : perLoop * loops;
    const given = compound > 0 ? compound : loops;
    return { visits: visits + (isSorted ? given * sortVisits : 0), rows: given };
  }

  /** Rows that a step finds for each row of the loops around it; null: it is no loop. */
  private rowsOf(step: Step): number | null {
    const { id, detail } = step;
    if (step === this.steps[0] && this.firstRows !== null) return this.firstRows;
    if (detail === "MULTI-INDEX OR") {
      let rows = 0;
      for (const { id: part } of this.steps.filter(({ parent }) => parent === id))
        for (const step of this.steps.filter(({ parent }) => parent === part))
          rows += this.rowsOf(step) ?? Infinity;
      return rows;
    }
    const constants = /^SCAN (?:(\d+) )?CONSTANT ROWS?/.exec(detail);
    if (constants) return Number(constants[1] ?? 1);
    const loop = /^(SCAN|SEARCH) (.+?)(?: USING (.+?))?(?: LEFT-JOIN)?$/.exec(detail);
    if (!loop) return null;
    const [, kind, name = "", way = ""] = loop;
    const kept = this.kept.get(name);
    if (kept !== undefined) return kept;
    return kind === "SEARCH" ? this.sizes.found(name, way) : this.sizes.scanned(name, way);
  }
}

const isPartOfUnion = /^(?:COMPOUND|LEFT|RIGHT|UNION|EXCEPT|INTERSECT|MERGE)/;
