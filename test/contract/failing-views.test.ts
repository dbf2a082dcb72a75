/** Views that fail while read: never a client error, except for client values that the database cannot convert. */
import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, inject, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");
/** Expressions over the column `n`, which is 0, and `word`, which is "x". */
const failing = {
  sqlite: ["abs(-9223372036854775807 - 1 + n)", "json_extract(word, '$.a')"],
  postgres: ["1 / n", "cast(word as integer)"],
  mysql: [
    "cast(-9223372036854775808 as signed) - 1 - n",
    "abs(cast(-9223372036854775808 as signed) - n)",
  ],
}[engine];

const action = {
  read: true,
  first: true,
  datatables: true,
  lookup: true,
  aggregate: true,
  export: true,
};
const logged: { level: number; msg?: string; err?: { message?: string } }[] = [];
const lines = new Writable({
  write(chunk, _encoding, done) {
    logged.push(JSON.parse(String(chunk)));
    done();
  },
});
const fixture = openForTests(openFixture, {
  log: pino({ level: "warn" }, lines),
  tables: [
    { name: "items", columns: { id: "key", n: "integer", word: "text(40)" } },
    { name: "turning", columns: { id: "key", n: "integer" } },
  ],
  setUp: () => [
    "insert into items values ('a', 0, 'x')",
    "insert into turning values ('a', 1), ('b', 1), ('c', 1)",
    ...(engine === "postgres"
      ? [
          "create view turned as select id, cast('10.0.0.1' as inet) as place, 1 / n as made from turning",
        ]
      : []),
    ...failing.map(
      (made, place) => `create view broken${place} as select id, n, ${made} as made from items`,
    ),
  ],
  endpoints: Object.fromEntries([
    [
      "turned",
      { tableName: engine === "postgres" ? "turned" : "turning", primaryKey: "id", action },
    ],
    ...failing.map((_, place) => [
      `broken${place}`,
      {
        tableName: `broken${place}`,
        primaryKey: "id",
        action,
        fieldNameLookup: { id: "id", text: "made" },
      },
    ]),
  ]),
});

const requests: readonly (readonly [string, object])[] = [
  ["read", { page: 1, per_page: 5 }],
  [
    "read",
    {
      page: 1,
      per_page: 5,
      where: { conditions: [{ key: "made", operator: ">", value: 1 }], logic: "AND" },
    },
  ],
  ["first", { where: { key: "id", value: "a" } }],
  ["datatables", { draw: 1, start: 0, length: 5 }],
  ["lookup", { page: 1 }],
  ["aggregate", { operations: [{ function: "count", field: "made" }] }],
];

test.each(failing.flatMap((made, place) => requests.map((one) => [made, place, ...one] as const)))(
  "a view with %s (%i) makes %s fail with 500 and a cause in the log",
  async (_, place, path, body) => {
    logged.length = 0;
    const answer = await fixture.post(`broken${place}/${path}`, body, {
      "X-Request-Mode": "static",
    });
    expect([answer.status, answer.body.error], JSON.stringify(answer.body)).toEqual([
      500,
      "Internal server error",
    ]);
    expect(logged.some(({ err }) => (err?.message ?? "") !== "")).toBe(true);
  },
);

test.runIf(engine === "postgres")(
  "a view that begins to fail is not taken for a bad cursor, whatever it is sorted by",
  async () => {
    const page = { per_page: 1, sort_columns: [{ column: "place", direction: "ASC" }] };
    const first = await fixture.post("turned/read", { ...page, cursor: true });
    expect(first.status).toBe(200);
    await fixture.sql("update turning set n = 0 where id = 'c'");
    const cursor = first.body.pagination.next_cursor;
    expect((await fixture.post("turned/read", { ...page, cursor })).status).toBe(500);
  },
);

test("an export of a failing view fails, with its cause in the log", async () => {
  logged.length = 0;
  const { body } = await fixture.post("broken0/export", { format: "csv" });
  const status = async () =>
    (await fixture.request(`/api/test/broken0/export-status?job_id=${body.job_id}`)).body.status;
  await expect.poll(status, { timeout: 25_000 }).toBe("failed");
  const failure = logged.find(({ msg }) => msg === "A job failed");
  expect(failure?.err?.message ?? "").not.toBe("");
});
