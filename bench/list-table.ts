/** A table with four texts to search, of any size, made by the database itself the same way on each engine. */
import Database from "better-sqlite3";
import mysql from "mysql2/promise";
import postgres from "postgres";
import type { EngineName } from "./contest.ts";

const create = (types: { text: string; time: string }) => `CREATE TABLE items (
  id INTEGER PRIMARY KEY,
  code ${types.text} NOT NULL,
  name ${types.text} NOT NULL,
  category ${types.text} NOT NULL,
  remark ${types.text},
  price DECIMAL(12, 2) NOT NULL,
  stock INTEGER NOT NULL,
  created_at ${types.time}
)`;

/** Every thirteenth name holds the word that the searches look for. */
const rowOf = (n: string, text: (...parts: string[]) => string): string =>
  [
    n,
    text("'C-'", n),
    `CASE WHEN ${n} % 13 = 0 THEN ${text("'Brass valve '", n)} ELSE ${text("'Steel bolt '", n)} END`,
    text("'Group '", `(${n} % 40)`),
    `CASE WHEN ${n} % 3 = 0 THEN NULL ELSE ${text("'Stored in hall '", `(${n} % 9)`)} END`,
    `${n} % 900 + 0.5`,
    `${n} % 100`,
    "'2026-01-01 00:00:00'",
  ].join(", ");

/** Fills a new database. SQLite: the path of its file. */
export async function createList(engine: EngineName, url: string, rows: number): Promise<void> {
  if (engine === "postgres") {
    const sql = postgres(url, { max: 1 });
    const concat = (...parts: string[]) => `concat(${parts.join(", ")})`;
    await sql.unsafe(create({ text: "varchar(100)", time: "timestamp(3)" }));
    await sql.unsafe(
      `INSERT INTO items SELECT ${rowOf("n", concat).replace(/'2026[^']*'/, "timestamp $&")} FROM generate_series(1, ${rows}) AS s(n)`,
    );
    await sql.unsafe("VACUUM ANALYZE items");
    await sql.end();
  } else if (engine === "mysql") {
    const connection = await mysql.createConnection(url);
    const concat = (...parts: string[]) => `concat(${parts.join(", ")})`;
    await connection.query(create({ text: "varchar(100)", time: "datetime(3)" }));
    await connection.query(`SET SESSION max_recursive_iterations = ${rows + 1}`);
    await connection.query(
      `INSERT INTO items WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${rows}) SELECT ${rowOf("n", concat)} FROM s`,
    );
    await connection.query("ANALYZE TABLE items");
    await connection.end();
  } else {
    const db = new Database(url);
    const concat = (...parts: string[]) => `(${parts.join(" || ")})`;
    db.pragma("journal_mode = WAL");
    db.exec(create({ text: "VARCHAR(100)", time: "TIMESTAMP" }));
    db.exec(
      `INSERT INTO items WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${rows}) SELECT ${rowOf("n", concat)} FROM s`,
    );
    db.close();
  }
}
