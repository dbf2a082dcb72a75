/**
 * `query` in a handler: one statement in the action's transaction, values as parameters, rows in the form of answers,
 * and no way to leave the transaction.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { HookContext } from "../../core/plans/hook.ts";
import { check, records } from "./cases.ts";
import { openWorkshop } from "./workshop.ts";

const { workshop, on, logged } = openWorkshop();
const { post } = workshop;

const full = {
  code: "C-1",
  name: 'it\'s 100% \\ "full" ÉЖ🙂',
  stock: 7,
  price: 12.5,
  big: "9007199254740993",
  active: true,
  made_on: "2026-02-03",
  made_at: "2026-02-03T04:05:06.789Z",
  extra: { a: [1, null, "x"] },
  secret: "hidden",
};

let id = "";
let made = 0;
beforeEach(async () => {
  id = `q${++made}`;
  check(await post("plain", "create", { ...full, part_id: id, code: `C-${id}` }), { status: 201 });
});

/** What the handler gives, run around an update that answers with the status. */
async function within<T>(work: (context: HookContext) => Promise<T> | T, status = 200): Promise<T> {
  let result: T | undefined;
  on.onBeforeUpdate = async (context) => {
    result = await work(context);
  };
  const answer = await post("parts", "update", { part_id: id, name: "touched" });
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return result as T;
}

const journal = async () =>
  (await workshop.fixture.sql("select note from journal order by note")).map(({ note }) => note);

describe("rows", () => {
  test("have the values that answers show, hidden columns among them", async () => {
    const first = await post("plain", "first", { where: [{ key: "part_id", value: id }] });
    const rows = await within(({ query }) => query("select * from parts where part_id = ?", [id]));
    expect(rows).toEqual([first.body.data]);
    expect(rows[0]).toMatchObject({ ...full, code: `C-${id}` });
  });

  test("of expressions are numbers, texts and nulls", async () => {
    const text =
      "select count(*) as number, min(name) as lowest, sum(stock) as total, null as empty_one from parts where part_id = ?";
    expect(await within(({ query }) => query(text, [id]))).toEqual([
      { number: 1, lowest: full.name, total: 7, empty_one: null },
    ]);
  });

  test("are none where nothing is found, and after a statement that gives none", async () => {
    expect(await within(({ query }) => query("select name from parts where 1 = 0"))).toEqual([]);
    const text = "update parts set stock = 8 where part_id = ?";
    expect(await within(({ query }) => query(text, [id]))).toEqual([]);
  });

  test("of WITH come too", async () => {
    const text =
      "with found as (select stock from parts where part_id = ?) select stock from found";
    expect(await within(({ query }) => query(text, [id]))).toEqual([{ stock: 7 }]);
  });
});

describe("values", () => {
  test.each<[string, string, (key: string) => readonly unknown[] | Record<string, unknown>]>([
    ["by place", "select stock from parts where part_id = ? and stock > ?", (key) => [key, 1]],
    ["by number", "select stock from parts where stock > $2 and part_id = $1", (key) => [key, 1]],
    [
      "by number, twice",
      "select stock from parts where (part_id = $1 or $1 is null)",
      (key) => [key],
    ],
    [
      "by name",
      "select stock from parts where part_id = :key and stock > :least",
      (key) => ({ key, least: 1, more: "x" }),
    ],
    [
      "beside what only looks like one",
      "select stock /* ? */ from parts where part_id = ? and name <> '?' -- ?",
      (key) => [key],
    ],
    ["and a semicolon at the end", "select stock from parts where part_id = ?;", (key) => [key]],
  ])("are found %s", async (_, text, params) => {
    expect(await within(({ query }) => query(text, params(id)))).toEqual([{ stock: 7 }]);
  });

  test.each<[string, string, unknown, unknown]>([
    [
      "a text with every quote",
      "name",
      `'; drop table parts; -- "\``,
      `'; drop table parts; -- "\``,
    ],
    ["an empty text", "name", "", ""],
    ["a null", "name", null, null],
    ["an integer", "stock", -12, -12],
    ["a bigint", "big", -9007199254740995n, "-9007199254740995"],
    ["a decimal", "price", 1234.56, 1234.56],
    ["a boolean", "active", false, false],
    ["a day", "made_on", "2027-12-31", "2027-12-31"],
    ["a Date", "made_at", new Date("2027-01-02T03:04:05.678Z"), "2027-01-02T03:04:05.678Z"],
    ["an object", "extra", { deep: [{ a: "'" }] }, { deep: [{ a: "'" }] }],
    ["an array", "extra", [1, "two", null], [1, "two", null]],
  ])("can be %s", async (_, column, value, shown) => {
    const text = `update parts set ${column} = ? where part_id = ?`;
    on.onAfterUpdate = async ({ query }) => void (await query(text, [value, id]));
    check(await post("parts", "update", { part_id: id, stock: 1 }), { status: 200 });
    const answer = await post("plain", "first", { where: [{ key: "part_id", value: id }] });
    expect(answer.body.data[column]).toEqual(shown);
  });

  test.each<[string, string, unknown]>([
    ["too few", "select stock from parts where part_id = ? and stock = ?", ["x"]],
    ["too many", "select stock from parts where part_id = ?", ["x", 1]],
    ["too few numbers", "select stock from parts where part_id = $2", ["x"]],
    ["a number 0", "select stock from parts where part_id = $0", ["x"]],
    ["an unknown name", "select stock from parts where part_id = :kye", { key: "x" }],
    ["a name of every object", "select stock from parts where part_id = :toString", {}],
    ["undefined", "select stock from parts where part_id = ?", [undefined]],
    ["a function", "select stock from parts where part_id = ?", [() => "x"]],
    ["no number", "select stock from parts where stock = ?", [Number.NaN]],
    ["an invalid date", "select stock from parts where made_at = ?", [new Date(Number.NaN)]],
    ["a text", "select stock from parts where part_id = ?", "x"],
    ["none at all", "select stock from parts where part_id = ?", undefined],
  ])("are refused: %s", async (_, text, params) => {
    await within(({ query }) => query(text, params as never), 500);
  });
});

describe("a statement is refused", () => {
  test.each<[string, unknown]>([
    ["that is two", "select 1; select 2"],
    ["that is two, with a comment between", "select 1; /* */ delete from parts"],
    ["that is none", "   "],
    ["that is a comment", "-- select 1"],
    ["with a literal that never ends", "select 'x"],
    ["that commits", "commit"],
    ["that commits behind a comment", "/* x */ COMMIT"],
    ["that rolls back", "rollback"],
    ["that begins", "begin"],
    ["that saves a point", "savepoint here"],
    ["that makes a table", "create table t (a integer)"],
    ["that drops one", "drop table journal"],
    ["that changes a setting", "set search_path = public"],
    ["that is a pragma", "pragma query_only = on"],
    ["that the database does not understand", "select from where"],
    ["about a table that is not there", "select * from nowhere"],
    ["that is no text", 17],
  ])("%s, and everything is undone", async (_, text) => {
    const before = await journal();
    await within(async ({ query }) => {
      await query("insert into journal (note) values ('undone')");
      await query(text as string);
    }, 500);
    expect(await journal()).toEqual(before);
    const answer = await post("plain", "first", { where: [{ key: "part_id", value: id }] });
    expect(answer.body.data.name).toBe(full.name);
  });

  test("also when the handler catches what the database said", async () => {
    await within(async ({ query }) => {
      await query("insert into journal (note) values ('caught')");
      await query("select * from nowhere").catch(() => undefined);
    }, 500);
    expect(await journal()).not.toContain("caught");
  });

  test("also when the handler does not wait for it", async () => {
    await within(({ query }) => void query("select * from nowhere"), 500);
    on.onAfterUpdate = ({ query }) => void query("insert into journal (note) values (null, 1)");
    delete on.onBeforeUpdate;
    expect((await post("parts", "update", { part_id: id, name: "x" })).status).toBe(500);
  });

  test("without telling the client, and with the database's words in the log", async () => {
    on.onBeforeUpdate = async ({ query }) => void (await query("select * from nowhere"));
    const headers = { "X-Request-Id": `told-${id}` };
    const answer = await post("parts", "update", { part_id: id, name: "x" }, headers);
    expect(JSON.stringify(answer.body)).not.toContain("nowhere");
    const line = logged.find((one) => one["requestId"] === `told-${id}` && one["level"] === 50);
    expect(JSON.stringify(line)).toContain("nowhere");
  });

  test("that breaks a constraint, as a fault of the operator", async () => {
    const insert = "insert into journal (note) values ('once')";
    await within(({ query }) => query(insert));
    check(await post("parts", "update", { part_id: id, name: "x" }), {
      status: 500,
      error: "Internal server error",
    });
    on.onBeforeUpdate = ({ query }) => query("delete from parts where part_id = 'nobody'").then();
    expect((await post("parts", "update", { part_id: id })).status).toBe(500);
  });
});

describe("the transaction", () => {
  test("shows a handler what was written in it", async () => {
    const stock = (context: HookContext) =>
      context.query("select stock from parts where part_id = ?", [id]);
    const seen: unknown[] = [];
    on.onBeforeUpdate = async (context) => void seen.push(await stock(context));
    on.onAfterUpdate = async (context) => void seen.push(await stock(context));
    check(await post("parts", "update", { part_id: id, stock: 99 }), { status: 200 });
    expect(seen).toEqual([[{ stock: 7 }], [{ stock: 99 }]]);
  });

  test("runs the statements that a handler starts at once in their order", async () => {
    await within(({ query }) =>
      Promise.all([
        query("insert into journal (note) values (?)", [`order-${id}`]),
        query("update journal set note = ? where note = ?", [`order-${id}-2`, `order-${id}`]),
        query("update journal set note = ? where note = ?", [`order-${id}-3`, `order-${id}-2`]),
      ]),
    );
    expect(await journal()).toContain(`order-${id}-3`);
  });

  test("waits for a statement that the handler does not wait for", async () => {
    const note = `floating-${id}`;
    await within(({ query }) => void query("insert into journal (note) values (?)", [note]));
    expect(await journal()).toContain(note);
  });

  test("is closed to a handler that kept its query", async () => {
    let kept: HookContext["query"] | undefined;
    await within(({ query }) => void (kept = query));
    const before = await journal();
    await expect(kept!("insert into journal (note) values ('late')")).rejects.toThrow("ended");
    expect(await journal()).toEqual(before);
  });

  test("is closed to a handler that kept its query from a request that was undone", async () => {
    let kept: HookContext["query"] | undefined;
    await within(({ query, reject }) => {
      kept = query;
      return reject("No");
    }, 422);
    await expect(kept!("insert into journal (note) values ('late')")).rejects.toThrow("ended");
    expect(await journal()).not.toContain("late");
  });
});

test("what a handler wrote is in the answers that the cache would have kept", async () => {
  const list = async () =>
    records(await post("journal", "read", { per_page: 100 })).map(({ note }) => note);
  const note = `cached-${id}`;
  expect(await list()).not.toContain(note);
  expect(await list()).not.toContain(note);
  await within(({ query }) => query("insert into journal (note) values (?)", [note]));
  expect(await list()).toContain(note);
});

test("handlers run again with their transaction when the database gave it up", async (context) => {
  if (workshop.fixture.engine === "sqlite") context.skip("one writer never meets another");
  const other = `${id}-other`;
  check(await post("plain", "create", { part_id: other, code: other, name: "o" }), { status: 201 });
  let runs = 0;
  const both = Promise.withResolvers<void>();
  on.onBeforeUpdate = async ({ data, query }) => {
    if (++runs === 2) both.resolve();
    await both.promise;
    const crossed = data["part_id"] === id ? other : id;
    await query("update parts set stock = stock + 1 where part_id = ?", [crossed]);
  };
  const answers = await Promise.all([
    post("parts", "update", { part_id: id, stock: 50 }),
    post("parts", "update", { part_id: other, stock: 50 }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(runs).toBe(3);
});
