/** The bench's one table, made and filled the same way on each engine. */
import Database from "better-sqlite3";
import mysql from "mysql2/promise";
import postgres from "postgres";

export const rowsAtStart = 100_000;

/** The nth row's key, in the form of a UUID. */
export const keyOf = (at: number): string =>
  `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;

const columns = (types: { key: string; text: string; boolean: string; time: string }) => `(
  id ${types.key} PRIMARY KEY,
  name ${types.text} NOT NULL,
  price DECIMAL(12, 2) NOT NULL,
  stock INTEGER NOT NULL,
  active ${types.boolean} NOT NULL,
  created_at ${types.time},
  created_by ${types.text},
  updated_at ${types.time},
  updated_by ${types.text}
)`;

const insert = (chunk: readonly number[], yes: string) =>
  `INSERT INTO items (id, name, price, stock, active, created_at, created_by) VALUES ${chunk
    .map(
      (at) =>
        `('${keyOf(at)}', 'Item ${at}', ${(at % 900) + 0.5}, 1000000, ${yes}, '2026-01-01 00:00:00', 'bench')`,
    )
    .join(", ")}`;

const chunks = Array.from({ length: rowsAtStart / 1000 }, (_, chunk) =>
  Array.from({ length: 1000 }, (__, at) => chunk * 1000 + at),
);

/** Makes the table in an empty database. */
export async function createTable(
  engine: "postgres" | "mysql" | "sqlite",
  url: string,
): Promise<void> {
  if (engine === "postgres") {
    const sql = postgres(url, { max: 1 });
    await sql.unsafe(
      `CREATE TABLE items ${columns({ key: "varchar(36)", text: "varchar(100)", boolean: "boolean", time: "timestamp(3)" })}`,
    );
    for (const chunk of chunks) await sql.unsafe(insert(chunk, "true"));
    await sql.unsafe("ANALYZE items");
    await sql.end();
  } else if (engine === "mysql") {
    const connection = await mysql.createConnection(url);
    await connection.query(
      `CREATE TABLE items ${columns({ key: "varchar(36)", text: "varchar(100)", boolean: "tinyint(1)", time: "datetime(3)" })}`,
    );
    for (const chunk of chunks) await connection.query(insert(chunk, "1"));
    await connection.end();
  } else {
    const db = new Database(url);
    db.pragma("journal_mode = WAL");
    db.exec(
      `CREATE TABLE items ${columns({ key: "VARCHAR(36)", text: "VARCHAR(100)", boolean: "BOOLEAN", time: "TIMESTAMP" })}`,
    );
    for (const chunk of chunks) db.exec(insert(chunk, "1"));
    db.close();
  }
}
