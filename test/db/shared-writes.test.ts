/**
 * Quick writes that arrive at the same time share connections of PostgreSQL and MariaDB, and one that is held up holds up
 * no other.
 */
import { describe, expect, inject, test } from "vitest";
import { type Fixture, openFixture, openForTests } from "../contract/harness.ts";

async function open(pool: number): Promise<Fixture> {
  const fixture = await openFixture({
    tables: [
      {
        name: "items",
        columns: {
          item_id: "key",
          code: { type: "text(20)", unique: true },
          stock: { type: "integer", check: "stock < 1000" },
        },
      },
      { name: "waits", columns: { wait_id: "key", lock: "text(20)", note: "text(20)" } },
    ],
    setUp: (name) => [
      name === "postgres"
        ? "alter table waits alter lock set default current_setting('lock_timeout')"
        : "create trigger tells before insert on waits for each row set new.`lock` = @@innodb_lock_wait_timeout",
    ],
    endpoints: {
      items: {
        tableName: "items",
        action: { create: true, update: true, adjust: true },
        adjustConfig: { fields: { stock: { type: "integer" } } },
      },
      waits: { tableName: "waits", action: { create: true } },
    },
    project: { cache: { enabled: false }, database: { pool } },
  });
  await warmUp(fixture);
  return fixture;
}

const adjust = (fixture: Fixture, item_id: string, value = 1) =>
  fixture.post("items/adjust", { item_id, adjustments: [{ field: "stock", value }] });

/** Statements count as quick once they were. */
async function warmUp(fixture: Fixture): Promise<void> {
  for (const item_id of ["one", "two", "three"]) {
    await fixture.post("items/create", { item_id, code: item_id, stock: 0 });
    for (let time = 0; time < 10; time++) {
      await fixture.post("items/update", { item_id, code: `${item_id} ${time}` });
      await adjust(fixture, item_id, time % 2 ? -1 : 1);
    }
  }
}

const engine = inject("engine");

describe.skipIf(engine === "sqlite")("writes that share a connection", () => {
  const one = openForTests(open, 1);
  const several = openForTests(open, 8);

  test("a refused write is undone alone", async () => {
    const [{ stock }] = (await one.sql("select stock from items where item_id = 'two'")) as [
      { stock: number },
    ];
    const answers = await Promise.all([
      adjust(one, "two"),
      adjust(one, "two", 5000),
      one.post("items/create", { item_id: "new", code: "three 9", stock: 0 }),
      one.post("items/update", { item_id: "two", code: "three 9", stock: 0 }),
      one.post("items/update", { item_id: "nobody", stock: 0 }),
      adjust(one, "two"),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 409, 409, 404, 200]);
    const rows = await one.sql("select item_id, stock from items where item_id in ('two', 'new')");
    expect(rows).toEqual([{ item_id: "two", stock: stock + 2 }]);
  });

  test("writes to a locked row wait for it, and others do not wait for them", async () => {
    await several.sql("begin");
    await several.sql("select * from items where item_id = 'one' for update");
    let released = false;
    const held = [1, 2].map(async () => {
      const answer = await adjust(several, "one");
      return { ...answer, released };
    });
    const others = await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        at % 2 === 0
          ? adjust(several, at % 4 === 0 ? "two" : "three")
          : several.post("items/create", { item_id: `item ${at}`, code: `code ${at}`, stock: at }),
      ),
    );
    expect(others.map(({ status }) => status)).toEqual(others.map((_, at) => (at % 2 ? 201 : 200)));
    released = true;
    await several.sql("commit");
    for (const answer of await Promise.all(held))
      expect(answer).toMatchObject({ status: 200, released: true });
    const rows = await several.sql(
      "select item_id, stock from items where item_id in ('one', 'two', 'three') order by item_id",
    );
    expect(rows).toEqual([
      { item_id: "one", stock: 2 },
      { item_id: "three", stock: 15 },
      { item_id: "two", stock: 15 },
    ]);
  });

  test("writes of a value that another session is about to store wait for it, and others do not", async () => {
    const create = (item_id: string, code = item_id) =>
      several.post("items/create", { item_id, code, stock: 0 });
    await several.sql("begin");
    await several.sql("insert into items (item_id, code, stock) values ('elsewhere', 'wanted', 0)");
    let released = false;
    const held = ["a", "b"].map(async (item_id) => {
      const answer = await create(`wants ${item_id}`, "wanted");
      return { ...answer, released };
    });
    const others = Array.from({ length: 40 }, (_, at) => create(`free ${at}`));
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 201));
    released = true;
    await several.sql("rollback");
    const answers = await Promise.all(held);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
    for (const answer of answers) expect(answer.released).toBe(true);
  });

  test("only a statement that shares its connection gives up on locks", async () => {
    const [brief, long] = engine === "postgres" ? ["100ms", "0"] : ["0", "10"];
    let times = 0;
    const create = async (other?: object) => {
      const answer = await one.post("waits/create", { wait_id: `wait ${++times}`, ...other });
      return answer.body.data.lock;
    };
    // On a busy machine, statements are not quick at once.
    await expect.poll(() => create(), { timeout: 10_000 }).toBe(brief);
    // The first statement of its text can take long.
    expect(await create({ note: "alone" })).toBe(long);
    await expect.poll(() => create(), { timeout: 10_000 }).toBe(brief);
  });
});
