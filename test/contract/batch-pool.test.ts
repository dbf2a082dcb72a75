/** Many batches and upserts at once over few connections, with locks whose names only the database can tell. */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { openFixture, openForTests } from "./harness.ts";

const keys: Record<EngineName, string> = {
  sqlite: "text collate nocase primary key",
  postgres: "citext primary key",
  mysql: "varchar(40) collate utf8mb4_general_ci primary key",
};
const names = ["a", "b", "c", "d"];
/** Each gets at most half of the connections, so it takes several to use all of them. */
const callers = names.map((_, at) => `key ${at}`);

const as = (at: number) => ({ "x-api-key": callers[at % callers.length]! });

const fixture = openForTests(openFixture, {
  tables: [],
  setUp: (engine) => [
    ...(engine === "postgres" ? ["create extension citext"] : []),
    `create table words (word ${keys[engine]}, uses integer)`,
    ...names.map((word) => `insert into words (word, uses) values ('${word}', 0)`),
  ],
  endpoints: {
    words: {
      tableName: "words",
      action: { adjust: true, create: true, update: true, delete: true, upsert: true },
      access: { clerk: "*" },
      adjustConfig: { fields: { uses: { type: "integer" } } },
    },
  },
  project: {
    batch: { enabled: true },
    locking: { enabled: true, retries: 100, retryDelayMs: 20 },
    database: { pool: 2 },
    auth: {
      apiKeys: callers.map((key) => ({
        id: key,
        sha256: createHash("sha256").update(key).digest("hex"),
        roles: ["clerk"],
      })),
    },
  },
});

test("each batch gets the connections that it needs", async () => {
  const adjust = (word: string) => ({
    endpoint: "words",
    action: "adjust",
    body: { word, adjustments: [{ field: "uses", value: 1 }] },
  });
  const batches = Array.from({ length: 12 }, (_, at) => {
    const own = names[at % names.length]!;
    return [adjust(own), adjust(own.toUpperCase())];
  });
  const answers = await Promise.all(
    batches.map((steps, at) => fixture.post("_batch", { steps }, as(at))),
  );
  expect(answers.map(({ status, body }) => [status, body.message])).toEqual(
    answers.map(() => [200, undefined]),
  );
  const rows = await fixture.sql("select uses from words");
  expect(rows.map(({ uses }) => Number(uses))).toEqual([6, 6, 6, 6]);
}, 60_000);

test("each upsert of a record that another one has just stored gets the connections that it needs", async () => {
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, at) =>
      fixture.post(
        "words/upsert",
        { data: { word: at % 2 === 0 ? "new" : "NEW", uses: at } },
        as(at),
      ),
    ),
  );
  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
    answers.map(() => [200, undefined]),
  );
  expect(answers.filter(({ body }) => body.results[0].created)).toHaveLength(1);
}, 60_000);

test("an upsert of a record that another request deletes just then stores it", async () => {
  const upsert = () => fixture.post("words/upsert", { data: { word: "gone", uses: 1 } }, as(0));
  const remove = () =>
    fixture.post("words/delete", { where: [{ key: "word", value: "gone" }] }, as(1));
  for (let round = 0; round < 60; round++) {
    const [first, , second] = await Promise.all([upsert(), remove(), upsert(), remove()]);
    for (const { status, body } of [first, second])
      expect([status, body.error]).toEqual([200, undefined]);
  }
}, 60_000);
