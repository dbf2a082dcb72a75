/**
 * The table of the bench of jobs: twelve columns (two dates, four texts, two decimals, two whole numbers, a boolean and
 * a text that is mostly null). The database fills it, with the same rows on each engine.
 */
import { openSession } from "../test/servers/session.ts";
import type { EngineName } from "./contest.ts";

export const columnNames = [
  "number",
  "created",
  "due",
  "name",
  "city",
  "note",
  "code",
  "price",
  "rate",
  "quantity",
  "active",
  "remark",
] as const;

const types = {
  postgres: { time: "timestamp(3)", yes: "boolean" },
  mysql: { time: "datetime(3)", yes: "tinyint(1)" },
  sqlite: { time: "TIMESTAMP", yes: "BOOLEAN" },
} as const;

/** The endpoint over the table, limited to what the hand-written programs show. */
export const endpoint = {
  tableName: "items",
  primaryKey: "number",
  action: { read: true, first: true, export: true, import: true },
  fieldName: columnNames,
  columnFormats: {
    created: { type: "date", format: "YYYY-MM-DD" },
    due: { type: "date", format: "DD/MM/YYYY HH:mm" },
    price: { type: "number", format: "#,##0.00" },
  },
  auditColumns: false,
};

/** A statement that creates the table without rows. `code` is unique, so that an import can find rows by it. */
export function createTableText(engine: EngineName): string {
  const { time, yes } = types[engine];
  return `CREATE TABLE items (
    number INTEGER PRIMARY KEY, created DATE NOT NULL, due ${time} NOT NULL, name VARCHAR(100) NOT NULL,
    city VARCHAR(100) NOT NULL, note VARCHAR(200) NOT NULL, code VARCHAR(20) NOT NULL, price DECIMAL(12, 2) NOT NULL,
    rate DECIMAL(8, 3) NOT NULL, quantity INTEGER NOT NULL, active ${yes} NOT NULL, remark VARCHAR(100),
    UNIQUE (code))`;
}

/** Creates the table in a new database and fills it. SQLite: the path of its file. */
export async function createItems(engine: EngineName, url: string, rows: number): Promise<void> {
  const session = await openSession(engine, engine === "sqlite" ? `sqlite:${url}` : url);
  if (engine === "sqlite") await session.run("PRAGMA journal_mode = WAL");
  await session.run(createTableText(engine));
  if (engine === "mysql") await session.run(`SET SESSION max_recursive_iterations = ${rows + 1}`);
  if (rows > 0) await session.run(fillText(engine, rows));
  if (engine === "postgres") await session.run("VACUUM ANALYZE items");
  await session.close();
}

const numbersTo = (rows: number): string =>
  `WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${rows})`;

function fillText(engine: EngineName, rows: number): string {
  const selected = (from: string) => `SELECT ${rowOf(engine)} FROM ${from}`;
  if (engine === "postgres")
    return `INSERT INTO items ${selected(`generate_series(1, ${rows}) AS s(n)`)}`;
  return `INSERT INTO items ${numbersTo(rows)} ${selected("s")}`;
}

/** The nth row, as an expression for each column. */
function rowOf(engine: EngineName): string {
  const joined = (...parts: string[]): string =>
    engine === "sqlite" ? parts.join(" || ") : `concat(${parts.join(", ")})`;
  const [day, moment] = {
    postgres: [
      "date '2024-01-15' + (n % 3000)",
      "timestamp '2024-01-15' + n * interval '1 second'",
    ],
    mysql: ["'2024-01-15' + interval (n % 3000) day", "'2024-01-15' + interval n second"],
    sqlite: [
      "date('2024-01-15', '+' || (n % 3000) || ' days')",
      "strftime('%Y-%m-%dT%H:%M:%fZ', '2024-01-15', '+' || n || ' seconds')",
    ],
  }[engine] as [string, string];
  return [
    "n",
    day,
    moment,
    joined("'Customer '", "n"),
    joined("'City '", "(n % 500)"),
    joined("'Some note with the number '", "(n * 7 % 100003)"),
    joined("'C-'", "(10000000 + n)"),
    "(n % 10000) / 100.0",
    "(n % 997) / 1000.0",
    "n % 1000",
    "n % 3 = 0",
    `CASE WHEN n % 10 = 0 THEN ${joined("'Remark '", "n")} END`,
  ].join(", ");
}
