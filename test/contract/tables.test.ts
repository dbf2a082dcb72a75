/** The harness itself: a fixture's tables mean the same on every engine, which all other contract tests rely on. */
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { createTables } from "./tables.ts";

let database: FreshDatabase;
let session: PlainSession;

beforeAll(async () => {
  const engine = inject("engine");
  database = await freshDatabase(engine);
  session = await openSession(engine, database.url);
  const texts = createTables(engine, [
    { name: "shelves", columns: { id: "key", label: { type: "text(20)", notNull: true } } },
    {
      name: "things",
      columns: {
        id: "identity",
        shelf: { type: "text(36)", references: "shelves" },
        word: { type: "text(20)", unique: true },
        state: { type: "text(20)", default: "'new'" },
        price: { type: "decimal(10,2)", check: "price >= 0" },
        count: "unsigned",
        small: "smallint",
        big: "bigint",
        rough: "float",
        flag: "boolean",
        day: "date",
        moment: "timestamp",
        clock: "time",
        token: "uuid",
        document: "json",
        raw: "bytes",
        note: "longtext",
      },
      unique: [["small", "big"]],
    },
  ]);
  for (const text of texts) await session.run(text);
});

afterAll(async () => {
  await session?.close();
  await database?.drop();
});

test("text is told apart and ordered by its bytes", async () => {
  await session.run("INSERT INTO things (word) VALUES ('b'), ('B'), ('a'), ('ä')");
  const rows = await session.run("SELECT word, state FROM things ORDER BY word");
  expect(rows).toEqual(["B", "a", "b", "ä"].map((word) => ({ word, state: "new" })));
});

test.each([
  ["a second equal word", "INSERT INTO things (word) VALUES ('twice'), ('twice')"],
  ["a pair that is there", "INSERT INTO things (small, big) VALUES (1, 2), (1, 2)"],
  ["a price below zero", "INSERT INTO things (price) VALUES (-1)"],
  ["an unsigned number below zero", "INSERT INTO things (count) VALUES (-1)"],
  ["a shelf that is not there", "INSERT INTO things (shelf) VALUES ('nowhere')"],
  ["a label of null", "INSERT INTO shelves (id, label) VALUES ('s', NULL)"],
  ["a key of null", "INSERT INTO shelves (id, label) VALUES (NULL, 'x')"],
])("the database refuses %s", async (_, text) => {
  await expect(session.run(text)).rejects.toThrow();
});
