/** Quick reads that arrive at the same time share connections, on the engines that have several: none gets another's record. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Fixture, openFixture } from "../contract/harness.ts";

const engine = inject("engine");

describe.skipIf(engine === "sqlite")("reads that share a connection", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables: [{ name: "items", columns: { item_id: "key", name: "text(80)", stock: "integer" } }],
      setUp: () =>
        Array.from(
          { length: 50 },
          (_, at) => `insert into items values ('i${at}', '${"x".repeat(at)}', ${at})`,
        ),
      endpoints: {
        items: { tableName: "items", action: { first: true, read: true, lookup: true } },
      },
      project: { cache: { enabled: false }, database: { pool: 1 } },
    });
    // Statements count as quick once they were.
    for (let round = 0; round < 20; round++) await readAll(10);
  });
  afterAll(() => fixture?.close());

  const first = async (at: number) => {
    const where = { key: "item_id", value: `i${at}` };
    const { status, body } = await fixture.post("items/first", { where });
    return [status, body.data?.name.length, body.data?.stock];
  };
  const read = async (at: number) => {
    const where = { conditions: [{ key: "stock", operator: ">=", value: at }] };
    const sort_columns = [{ column: "stock" }];
    const answer = await fixture.post("items/read", { where, limit: 3, sort_columns });
    const stocks = answer.body.data?.map(({ stock }: { stock: number }) => stock);
    return [answer.status, ...(stocks ?? [])];
  };
  const readAll = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, n) => (n % 3 === 0 ? read(n % 40) : first(n % 50))),
    );
  const expected = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      n % 3 === 0
        ? [200, n % 40, (n % 40) + 1, (n % 40) + 2].filter((one, at) => at === 0 || one < 50)
        : [200, n % 50, n % 50],
    );

  test("get each their own record", async () => {
    expect(await readAll(300)).toEqual(expected(300));
  });

  test("are all answered although their session is killed", async () => {
    const sessions =
      engine === "postgres"
        ? "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        : "select id from information_schema.processlist where db = database() and id <> connection_id()";
    for (let round = 0; round < 4; round++) {
      const reading = readAll(200);
      await new Promise((resolve) => setTimeout(resolve, 5 * round));
      for (const { id } of await fixture.sql(sessions))
        if (engine === "mysql") await fixture.sql(`kill ${String(id)}`);
      expect(await reading).toEqual(expected(200));
    }
  });
});
