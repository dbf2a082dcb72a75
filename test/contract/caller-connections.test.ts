/** One caller's slow reads use at most half of a project's connections, so others are answered meanwhile. */
import { createHash } from "node:crypto";
import { expect, inject, test } from "vitest";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const engine = inject("engine");

/** About half a second in each row; on SQLite less, as it takes all of a core. */
const slow = {
  sqlite:
    "(with recursive n(i) as (select 1 union all select i + 1 from n where i < 700000) select count(*) from n)",
  postgres: "(select count(*) from pg_sleep(0.5))",
  mysql: "sleep(0.5)",
}[engine];

const callers = ["greedy", "modest"];
const endpoint = { tableName: "items", action: { read: true, first: true } };

const fixture = openForTests(openFixture, {
  project: {
    database: { pool: 2 },
    cache: { enabled: false },
    auth: {
      apiKeys: callers.map((id) => ({
        id,
        sha256: createHash("sha256").update(id).digest("hex"),
        roles: ["clerk"],
      })),
    },
  },
  tables: [{ name: "items", columns: { id: "key", name: "text(40)" } }],
  setUp: () => ["insert into items (id, name) values ('a', 'A')"],
  endpoints: {
    slow: {
      ...endpoint,
      viewQuery: `select id, name, ${slow} as delay from items`,
      access: { clerk: "*" },
    },
    items: { ...endpoint, access: { clerk: "*" } },
  },
});

const ask = (who: string, path: string, body: object): Promise<Answer> =>
  fixture.post(path, body, { "x-api-key": who });

test.each([
  ["a record", "items/first", { where: { key: "id", value: "a" } }],
  ["a read that is as slow", "slow/read", { limit: 10 }],
])("another caller gets %s before one caller's slow reads are done", async (_, path, body) => {
  // On SQLite, processes are started.
  await Promise.all(callers.map((who) => ask(who, "slow/read", { limit: 10 })));
  let answered = 0;
  const greedy = Array.from({ length: 10 }, () =>
    ask("greedy", "slow/read", { limit: 10 }).finally(() => answered++),
  );
  await expect.poll(() => answered, { timeout: 10_000 }).toBeGreaterThan(0);
  const before = answered;
  expect((await ask("modest", path, body)).status).toBe(200);
  expect(answered - before).toBeLessThan(7);
  for (const { status } of await Promise.all(greedy)) expect([200, 503]).toContain(status);
});
