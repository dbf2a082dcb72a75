/** Core's `Catalog`: reads the tables and queries of the database, each call on its own connection. */
import { AppError, unavailable } from "../../core/values/errors.ts";
import type { Catalog } from "../../core/plans/database-catalog.ts";
import {
  type Connection,
  type Engine,
  passing,
  rowsFor,
  type SharedFacts,
} from "../engines/engine.ts";
import { describable } from "../statements/print.ts";
import { bareQuery } from "../statements/source.ts";
import { type Deadlines, tooLate } from "../../core/values/deadlines.ts";
import { type Executor, overdueMessage } from "./executor.ts";
import type { IncomingKey } from "../../core/values/types/column.ts";
import type { RawRow } from "../statements/dialect.ts";
import type { Pool } from "./pool.ts";
import { acquire, outOfReach } from "./pools.ts";

/** The catalog is read at start, when no client is waiting. */
const catalogTimeoutMs = 30_000;

const passingMessage = "The database could not answer; try again later";

/** Names that a member of a JavaScript object cannot safely have: such columns are left out. */
const unusable: ReadonlySet<string> = new Set(
  ["Getter", "Setter"].flatMap((kind) => [`__define${kind}__`, `__lookup${kind}__`]),
).add("__proto__");

/** Runs `read` on a connection of the pool. */
export type OnConnection = <T>(
  pool: Pool,
  read: (connection: Connection) => Promise<T>,
) => Promise<T>;

/**
 * Rejects with `unavailable` when there is no connection, no answer, or a temporary failure. Errors about the query or
 * table are passed on.
 */
export const createOnConnection =
  (engine: Engine, { within }: Deadlines, { abandon }: Executor): OnConnection =>
  async (pool, read) => {
    const deadlineAtMs = performance.now() + catalogTimeoutMs;
    const connection = await acquire(pool, deadlineAtMs);
    try {
      return await within(
        read(connection),
        deadlineAtMs,
        tooLate(overdueMessage, () => abandon(connection)),
      );
    } catch (error) {
      if (error instanceof AppError) throw error;
      const failure = engine.failure(error);
      if (failure.kind === "connection") throw outOfReach(error, pool);
      throw passing.has(failure.kind) ? unavailable(passingMessage, error) : error;
    } finally {
      pool.release(connection);
    }
  };

/**
 * Connections that read the catalog at the same time: on each new one, the first table takes PostgreSQL ten times as
 * long as the next, because its processes keep caches of their own.
 */
const readersMax = 2;

export function createCatalog(
  engine: Engine,
  pool: Pool,
  onConnection: OnConnection,
  { shared, turns = createTurns(readersMax) }: { shared?: SharedFacts; turns?: Turns } = {},
): Catalog {
  const reading = <T>(read: (connection: Connection) => Promise<T>): Promise<T> =>
    turns(() => onConnection(pool, read));
  const rowsOf = (text: string, params: readonly unknown[]) =>
    reading((connection) => rowsFor(connection, text, params));
  const namesIn = async (text: string): Promise<readonly string[]> =>
    (await rowsOf(text, [])).map(({ name }) => String(name));
  return {
    names: () => namesIn(engine.namesQuery),
    schemas: async () => (engine.schemasQuery === null ? [] : namesIn(engine.schemasQuery)),
    outline: (schemas) => reading((connection) => engine.outlines(connection, schemas)),
    query: (text) =>
      reading(async (connection) =>
        (await engine.query(connection, bareQuery(text))).filter(({ name }) => !unusable.has(name)),
      ),
    referencesTo: async ({ schema, name }) =>
      incomingKeys(await rowsOf(engine.referencesQuery, [schema, name])),
    answersStoredRows: engine.dialect.returning,
    textIndex: (table, wish) => reading((connection) => engine.textIndex(connection, table, wish)),
    computes: (computation) => engine.computes(computation),
    parameterQuery: (texts, parameters) =>
      reading((connection) =>
        engine.query(connection, describable(engine.dialect, texts, parameters)),
      ),
    async routines(name) {
      const { routines } = engine;
      if (routines === null) return null;
      const point = name.indexOf(".");
      const [schema, own] =
        point < 0 ? [null, name] : [name.slice(0, point), name.slice(point + 1)];
      return reading((connection) => routines(connection, schema, own));
    },
    together: () => createCatalog(engine, pool, onConnection, { shared: new Map(), turns }),
    table: (name) =>
      reading(async (connection) => {
        const facts = shared ?? new Map();
        const read = (schema: string | null, own: string) =>
          engine.table({ connection, shared: facts }, schema, own);
        const point = name.indexOf(".");
        const qualified =
          point < 0 ? null : await read(name.slice(0, point), name.slice(point + 1));
        // A name can contain a dot without a schema.
        const table = qualified ?? (await read(null, name));
        if (table === null || !table.columns.keys().some((column) => unusable.has(column)))
          return table;
        const columns = [...table.columns].filter(([column]) => !unusable.has(column));
        return { ...table, columns: new Map(columns) };
      }),
  };
}

type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs some works at the same time, and the others in turn. When one fails, none waits for others that will. */
function createTurns(most: number): Turns {
  const waiting: (() => void)[] = [];
  let running = 0;
  const begin = (count: number): void => {
    for (const go of waiting.splice(0, count)) {
      running += 1;
      go();
    }
  };
  return async (work) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } catch (error) {
      begin(Infinity);
      throw error;
    } finally {
      running -= 1;
      begin(Math.max(most - running, 0));
    }
  };
}

/**
 * Foreign keys that point at a table, one for each `id`. Rows come in the order of the key's columns: `id`, `table`,
 * `column`, `referenced` (null = a column of the primary key), `on_delete` and `on_update` (the SQL words after these).
 */
const incomingKeys = (rows: readonly RawRow[]): readonly IncomingKey[] =>
  [...Map.groupBy(rows, ({ id }) => String(id)).values()].map((parts) => ({
    table: String(parts[0]!["table"]),
    columns: parts.map(({ column }) => String(column)),
    referencedColumns: parts.flatMap(({ referenced }) =>
      referenced === null || referenced === undefined ? [] : [String(referenced)],
    ),
    onDelete: ruleOf(parts[0]!["on_delete"]),
    onUpdate: ruleOf(parts[0]!["on_update"]),
  }));

const ruleOf = (words: unknown): IncomingKey["onDelete"] =>
  rules.get(String(words).toUpperCase()) ?? "refuse";

const rules: ReadonlyMap<string, IncomingKey["onDelete"]> = new Map([
  ["CASCADE", "cascade"],
  ["SET NULL", "clear"],
  ["SET DEFAULT", "clear"],
]);
