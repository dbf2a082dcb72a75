/**
 * What MySQL or MariaDB would write through a view, and what is JSON in it. The server is asked by preparing statements,
 * which runs none.
 */
import { quoted, quotedTable } from "../../statements/quoted.ts";
import type { TableRefusal, WriteKind } from "../../../core/values/types/column.ts";
import type { MysqlConnection } from "./connection.ts";
import { passing, rowsFor } from "../engine.ts";
import { failure } from "./failure.ts";

export interface ViewWrites {
  readonly refusals: readonly TableRefusal[];
  /** Columns that the table under the view numbers. */
  readonly made: ReadonlySet<string>;
  /** Columns that are expressions. */
  readonly fixed: ReadonlySet<string>;
}

export const noWrites: ViewWrites = { refusals: [], made: new Set(), fixed: new Set() };

export async function writesOfView(
  connection: MysqlConnection,
  { schema, name }: { schema: string | null; name: string },
  columns: readonly string[],
): Promise<ViewWrites> {
  const rows = await rowsFor(connection, updatableQuery, [schema, name]);
  if (rows[0]?.["updatable"] !== "YES") return takesNothing;
  const view = quotedTable({ schema, name }, "`");
  const ask = (text: string): Promise<number> => refusal(connection, text);
  const refused = new Map<WriteKind, string>();
  const note = (statement: WriteKind, number: number): void => {
    const reason = reasonOf(statement, number);
    if (reason !== null) refused.set(statement, reason);
  };
  const first = quoted(columns[0] ?? "", "`");
  const deletes = await ask(`delete from ${view} where 1 = 0`);
  note("delete", deletes);
  const updates = await ask(`update ${view} set ${first} = ${first} where 1 = 0`);
  // An UPDATE of a join can set columns of only one of its tables; which one depends on the statement.
  // For an outer join, MariaDB reports only that nothing can be deleted.
  const isJoin = severalTables.has(deletes) || (deletes === notDeletable && updates === 0);
  note("update", isJoin ? deletes : updates);
  const fixed = new Set<string>();
  if (!refused.has("update"))
    for (const column of columns)
      if (
        (await ask(`insert into ${view} (${quoted(column, "`")}) values (null)`)) === notInsertable
      )
        fixed.add(column);
  const settable = columns
    .filter((column) => !fixed.has(column))
    .map((column) => quoted(column, "`"));
  const nulls = settable.map(() => "null");
  note(
    "insert",
    settable.length === 0
      ? notInsertable
      : await ask(`insert into ${view} (${settable.join(", ")}) values (${nulls.join(", ")})`),
  );
  const refusals = [...refused].map(([statement, reason]) => ({
    statement,
    columns: null,
    reason,
  }));
  const fields = refused.has("insert") ? [] : await connection.describe(`select * from ${view}`);
  const made = fields
    .filter(({ flags }) => (flags & autoIncrement) !== 0)
    .map((field) => field.name);
  return { refusals, made: new Set(made), fixed: refused.has("update") ? new Set() : fixed };
}

/** MariaDB: a view has no checks that tell JSON from text, but its results do. None of a view that is invalid. */
export async function jsonInView(
  connection: MysqlConnection,
  view: { schema: string | null; name: string },
): Promise<string[]> {
  try {
    const fields = await connection.describe(`select * from ${quotedTable(view, "`")}`);
    return fields.filter((field) => field.extendedFormat === "json").map((field) => field.name);
  } catch (error) {
    if (passing.has(failure(error).kind)) throw error;
    return [];
  }
}

/** The server's own views, such as those of information_schema, are not listed there. */
const updatableQuery = `
  select IS_UPDATABLE as updatable from information_schema.VIEWS
  where TABLE_SCHEMA = coalesce(?, database()) and TABLE_NAME = ?`;

/** A bit of a field's flags. */
const autoIncrement = 512;

const notInsertable = 1471;
const notDeletable = 1288;
const rightsMissing: ReadonlySet<number> = new Set([1142, 1143]);
const severalTables: ReadonlySet<number> = new Set([1393, 1394, 1395]);
const notUpdatable: ReadonlySet<number> = new Set([notDeletable, notInsertable]);

const takesNothing: ViewWrites = {
  ...noWrites,
  refusals: (["insert", "update", "delete"] as const).map((statement) => ({
    statement,
    columns: null,
    reason: `a view on which the database carries out no ${statement.toUpperCase()}, because its rows are not those of a table`,
  })),
};

/** The server's error number; 0 = it would run the statement, or refuse only a value. Rejects with temporary errors. */
async function refusal(connection: MysqlConnection, text: string): Promise<number> {
  try {
    await connection.describe(text);
    return 0;
  } catch (error) {
    const { errno } = error as { errno?: unknown };
    if (typeof errno !== "number" || passing.has(failure(error).kind)) throw error;
    return errno;
  }
}

function reasonOf(statement: WriteKind, number: number): string | null {
  const verb = statement.toUpperCase();
  if (rightsMissing.has(number)) return `on which the database user has no right to ${verb}`;
  if (severalTables.has(number))
    return `a view of several tables, on which the database carries out no ${verb}`;
  if (notUpdatable.has(number))
    return `a view on which the database carries out no ${verb}, because its rows are not those of a table`;
  return null;
}
