/**
 * Writes that meet locks: record locks between update, delete and adjust, and locks of lock/acquire where they are
 * enforced. Locks are in memory here; `test/stores` tests them in Redis.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { check, record } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import type { Answer } from "./harness.ts";
import { openShop, type Shop } from "./shop.ts";

const crud = { create: true, first: true, update: true, delete: true, lock: true };
const bulk = { "bulk-update": true, "bulk-delete": true };
const endpoints = {
  items: { tableName: "items", primaryKey: "item_id", action: { ...crud, ...bulk } },
  twins: { tableName: "items", primaryKey: "item_id", action: crud },
  masked: { tableName: "items", primaryKey: "item_id", action: crud, hiddenFields: ["item_id"] },
  cascade: { ...shopOptions.endpoints["cascade"], action: crud },
  counters: {
    tableName: "counters",
    primaryKey: "counter_id",
    action: { ...crud, adjust: true },
    adjustConfig: { fields: { stock: { type: "integer", min: 0 } } },
  },
};
const openWith = (locking: object): Shop =>
  openShop({ ...shopOptions, endpoints, project: { cache: { enabled: false }, locking } });

/** Each test has its own records. */
let made = 0;
let id = "";
let other = "";
beforeEach(() => {
  id = `w${++made}`;
  other = `${id}b`;
});
const makeItems = async (shop: Shop): Promise<void> => {
  for (const item_id of [id, other])
    check(await shop.post("items", "create", { item_id, code: item_id, name: "old", secret: id }), {
      status: 201,
    });
};
const nameOf = async (shop: Shop, item_id = id): Promise<unknown> =>
  (await shop.post("items", "first", { where: { key: "item_id", value: item_id } })).body.data
    ?.name;
const key = (value = id) => ({ key: "item_id", value });
const count = (answers: Answer[]) =>
  Object.groupBy(answers, ({ status }) => String(status)) as Partial<Record<string, Answer[]>>;

describe("with enforceResourceLocks", () => {
  const shop = openWith({ enforceResourceLocks: true });
  const acquire = async (keys: object[] = [key()], more: object = {}): Promise<string> => {
    const answer = await shop.post("items", "lock/acquire", {
      lock_keys: keys,
      owner: "anna",
      ...more,
    });
    check(answer, { status: 200 });
    return answer.body.data.lock_token;
  };
  const update = (headers?: Record<string, string>, name = "new") =>
    shop.post("items", "update", { item_id: id, name }, headers);
  const remove = (where: object[], headers?: Record<string, string>) =>
    shop.post("items", "delete", { where }, headers);
  const holding = (token: string) => ({ "X-Lock-Token": token });
  const refusal = { status: 409, error: "Lock conflict" };
  beforeEach(() => makeItems(shop));

  test("a write to a locked record without its token answers 409 and says who holds it", async () => {
    await acquire();
    const answer = await update();
    check(answer, refusal);
    expect(answer.body.data).toEqual({
      conflicting_key: key(),
      locked_by: "anna",
      ttl_remaining: expect.any(Number),
    });
    expect(answer.body.data.ttl_remaining).toBeGreaterThan(25);
    expect(await nameOf(shop)).toBe("old");
  });

  test("an update that changes nothing is refused like others", async () => {
    const token = await acquire();
    check(await shop.post("items", "update", { item_id: id }), refusal);
    check(await shop.post("items", "update", { item_id: id }, holding(token)), {
      status: 200,
      data: { name: "old" },
    });
  });

  test("a write with the token of the lock goes on", async () => {
    const token = await acquire();
    check(await update(holding(token)), { status: 200, data: { name: "new" } });
    check(await remove([key()], holding(token)), { status: 200, data: { deleted_count: 1 } });
  });

  test("a write to another record needs no token", async () => {
    await acquire([key(other)]);
    check(await update(), { status: 200 });
  });

  test("a write through another endpoint of the table needs the token too", async () => {
    const token = await acquire();
    const body = { item_id: id, name: "new" };
    check(await shop.post("twins", "update", body), refusal);
    check(await shop.post("twins", "update", body, holding(token)), { status: 200 });
  });

  test.each([
    ["both", (one: string, two: string) => `${one}, ${two}`, 200],
    ["both without a space", (one: string, two: string) => `${two},${one}`, 200],
    ["one, and a wrong one", (one: string) => `nonsense, ${one}`, 409],
    ["only the other", (_: string, two: string) => two, 409],
    ["two wrong ones", () => "nonsense, more", 409],
    ["nothing but commas", () => ", ,,", 409],
  ])(
    "a write to records of two locks, with %s of the tokens: %s %s",
    async (_name, tokensOf, status) => {
      const tokens = holding(tokensOf(await acquire(), await acquire([key(other)])));
      const answer = await remove([{ key: "secret", value: id }], tokens);
      check(answer, status === 200 ? { status } : refusal);
      expect(await nameOf(shop)).toBe(status === 200 ? undefined : "old");
    },
  );

  test("a write with several tokens may change free records, and needs the one of a locked record", async () => {
    const mine = await acquire([key(other)]);
    check(await update(holding(`${mine}, nonsense`)), { status: 200 });
    await acquire();
    check(await update(holding(`${mine}, nonsense`)), refusal);
    check(await update(holding(`, ${mine}`)), refusal);
  });

  test("a write with a wrong token is refused", async () => {
    const foreign = await acquire([key(other)]);
    await acquire();
    for (const token of [foreign, "nonsense", crypto.randomUUID()])
      check(await update(holding(token)), refusal);
    expect(await nameOf(shop)).toBe("old");
  });

  test("a write with a token that was given back is refused", async () => {
    const token = await acquire();
    await shop.post("items", "lock/release", { lock_keys: [key()], lock_token: token });
    const answer = await update(holding(token));
    check(answer, refusal);
    expect(answer.body.data).toEqual({ conflicting_key: key(), locked_by: null, ttl_remaining: 0 });
    check(await update(), { status: 200 });
  });

  test("a write with a token whose time is over is refused, also when another has the lock", async () => {
    const token = await acquire([key()], { ttl: 1 });
    await sleep(1_100);
    check(await update(holding(token)), refusal);
    const newer = await acquire();
    check(await update(holding(token)), refusal);
    check(await update(holding(newer)), { status: 200 });
  });

  test("adjust of a locked record needs the token", async () => {
    const start = { counter_id: id, stock: 5, balance: 0, big: 0, free: 0 };
    check(await shop.post("counters", "create", start), { status: 201 });
    const locked = await shop.post("counters", "lock/acquire", {
      lock_keys: [{ key: "counter_id", value: id }],
    });
    const body = { counter_id: id, adjustments: [{ field: "stock", value: -1 }] };
    check(await shop.post("counters", "adjust", body), refusal);
    const headers = holding(locked.body.data.lock_token);
    check(await shop.post("counters", "adjust", body, headers), {
      status: 200,
      data: { stock: 4 },
    });
  });

  test("delete removes nothing when one of its records is locked", async () => {
    await acquire([key(other)]);
    const where = [{ key: "secret", value: id }];
    const answer = await remove(where);
    check(answer, { ...refusal, data: { conflicting_key: key(other) } });
    expect([await nameOf(shop), await nameOf(shop, other)]).toEqual(["old", "old"]);
  });

  test("delete with the token of one of its records removes the free ones with it", async () => {
    const token = await acquire();
    const where = [{ key: "secret", value: id }];
    const answer = await remove(where, holding(token));
    check(answer, { status: 200 });
    const removed = answer.body.data.deleted_items.map(
      ({ item_id }: { item_id: string }) => item_id,
    );
    expect(removed).toEqual(expect.arrayContaining([id, other]));
  });

  test("delete that matches nothing answers 404, with and without a token", async () => {
    const where = [key("nobody")];
    check(await remove(where), { status: 404, error: "Not found" });
    check(await remove(where, holding("nonsense")), { status: 404, error: "Not found" });
  });

  test("delete with cascadeDelete leaves the details of a locked record", async () => {
    await shop.fixture.sql(`insert into item_lines (item_id, amount) values ('${id}', 1)`);
    const token = await acquire();
    check(await shop.post("cascade", "delete", { where: [key()] }), refusal);
    const lines = () => shop.fixture.sql(`select line_id from item_lines where item_id = '${id}'`);
    expect(await lines()).toHaveLength(1);
    check(await shop.post("cascade", "delete", { where: [key()] }, holding(token)), {
      status: 200,
    });
    expect(await lines()).toHaveLength(0);
  });

  test("a lock of another column stops no write", async () => {
    await acquire([{ key: "code", value: id }]);
    check(await update(), { status: 200 });
  });

  test("a lock stops no read, and no create", async () => {
    await acquire([key(), key(`${id}c`)]);
    expect(await nameOf(shop)).toBe("old");
    check(await shop.post("items", "create", { item_id: `${id}c`, code: `${id}c`, name: "c" }), {
      status: 201,
    });
  });

  test("the token and If-Match are both needed", async () => {
    const token = await acquire();
    const first = await shop.post("items", "first", { where: key() });
    const match = { "If-Match": first.headers.get("ETag") ?? "" };
    check(await update(match), refusal);
    check(await update({ ...match, ...holding(token) }), { status: 200 });
    check(await update({ ...match, ...holding(token) }), {
      status: 412,
      error: "Precondition failed",
    });
  });

  test("a hidden key is not shown by a refusal", async () => {
    await acquire();
    const answer = await shop.post("masked", "delete", { where: [{ key: "code", value: id }] });
    check(answer, refusal);
    expect(answer.body.data.conflicting_key).toBeNull();
    expect(JSON.stringify(answer.body)).not.toContain("item_id");
  });

  test("a token of 8000 characters is only a wrong one", async () => {
    check(await update(holding("x".repeat(8_000))), refusal);
  });
});

describe.each([{}, { enabled: true }, { enforceResourceLocks: true }])("with %j", (locking) => {
  const shop = openWith(locking);
  beforeEach(() => makeItems(shop));
  const where = () => ({ conditions: [{ key: "secret", operator: "=", value: id }] });

  const bodies: { action: string; body: () => object }[] = [
    { action: "update", body: () => ({ item_id: `${id}-no`, name: "new" }) },
    { action: "bulk-update", body: () => ({ data: [{ item_id: `${id}-no`, name: "new" }] }) },
    { action: "bulk-update", body: () => ({ where: where(), set: { name: "new" }, expect: 0 }) },
    { action: "bulk-delete", body: () => ({ where: where(), expect: 0 }) },
  ];
  test.each(bodies)(
    "$action tells of text that is not Unicode before it looks at records",
    async ({ action, body }) => {
      const sent = { ...body(), "\ud800": 1 };
      check(await shop.post("items", action, sent), { status: 400, error: "Invalid payload" });
    },
  );
});

const lockMessage = /lock/i;
describe("with locking enabled and the strategy fail", () => {
  const shop = openWith({ enabled: true, strategy: "fail" });
  beforeEach(() => makeItems(shop));

  test("of many updates of one record those that do not get its lock answer 500", async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        shop.post("items", "update", { item_id: id, name: `n${at}` }),
      ),
    );
    const { 200: done = [], 500: refused = [] } = count(answers);
    expect(done.length + refused.length).toBe(30);
    expect(done.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      check(answer, { status: 500, error: "Internal server error" });
      expect(answer.body.message).toMatch(lockMessage);
    }
  });

  test("of many deletes of one record one removes it, and none fails otherwise", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => shop.post("items", "delete", { where: [key()] })),
    );
    const counts = count(answers);
    expect(counts[200]).toHaveLength(1);
    for (const { status, body } of answers) {
      expect([200, 404, 500]).toContain(status);
      if (status === 500) expect(body.message).toMatch(lockMessage);
    }
  });

  test("updates of different records do not meet", async () => {
    const answers = await Promise.all(
      [id, other].map((item_id) => shop.post("items", "update", { item_id, name: "new" })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  const failing: { name: string; body: () => object; status: number }[] = [
    { name: "that succeeded", body: () => ({ item_id: id, name: "new" }), status: 200 },
    { name: "that found nothing", body: () => ({ item_id: `${id}-no`, name: "new" }), status: 404 },
    { name: "that the database refused", body: () => ({ item_id: id, qty: 100_000 }), status: 400 },
    { name: "that met a unique value", body: () => ({ item_id: id, code: "A-1" }), status: 409 },
  ];
  test.each(failing)("an update $name gives its lock back", async ({ body, status }) => {
    for (let round = 0; round < 3; round++) {
      const answer = await shop.post("items", "update", body());
      expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    }
  });

  test("a lock of lock/acquire that nobody enforces stops no write", async () => {
    check(await shop.post("items", "lock/acquire", { lock_keys: [key()] }), { status: 200 });
    check(await shop.post("items", "update", { item_id: id, name: "new" }), { status: 200 });
  });

  test("delete of records that match gives all of their locks back", async () => {
    const where = [{ key: "name", value: `both ${id}` }];
    for (const item_id of [id, other])
      check(await shop.post("items", "update", { item_id, name: `both ${id}` }), { status: 200 });
    check(await shop.post("items", "delete", { where }), {
      status: 200,
      data: { deleted_count: 2 },
    });
    check(await shop.post("items", "delete", { where }), { status: 404, error: "Not found" });
    await makeItems(shop);
    check(await shop.post("items", "update", { item_id: id, name: "new" }), { status: 200 });
  });

  test("delete of more records than one call of the store takes removes them all", async () => {
    const rows = Array.from(
      { length: 1_201 },
      (_, at) => `('${id}-${at}', '${id}-${at}', 'bulk ${id}')`,
    );
    await shop.fixture.sql(`insert into items (item_id, code, name) values ${rows.join(", ")}`);
    const where = [{ key: "name", value: `bulk ${id}` }];
    check(await shop.post("items", "delete", { where }), {
      status: 200,
      data: { deleted_count: 1_201 },
    });
    expect(await shop.fixture.sql(`select 1 as one from items where name = 'bulk ${id}'`)).toEqual(
      [],
    );
  });
});

describe("with locking enabled and the strategy retry", () => {
  const shop = openWith({ enabled: true, retries: 100, retryDelayMs: 20 });

  test("everybody gets the lock in turn, and no change is lost", async () => {
    const start = { counter_id: id, stock: 0, balance: 0, big: 0, free: 0 };
    check(await shop.post("counters", "create", start), { status: 201 });
    const body = { counter_id: id, adjustments: [{ field: "stock", value: 1 }] };
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => shop.post("counters", "adjust", body)),
    );
    expect(Object.keys(count(answers))).toEqual(["200"]);
    const first = await shop.post("counters", "first", { where: { key: "counter_id", value: id } });
    expect(record(first)["stock"]).toBe(15);
  });
});

describe("with both", () => {
  const shop = openWith({
    enabled: true,
    enforceResourceLocks: true,
    retries: 100,
    retryDelayMs: 10,
  });

  test("once lock/acquire has answered, no write of another is still to come", async () => {
    await makeItems(shop);
    let token: string | null = null;
    let lastWritten = "";
    const writers = Array.from({ length: 8 }, async (_each, writer) => {
      for (let round = 0; round < 40; round++) {
        const name = `${writer}-${round}`;
        const answer = await shop.post("items", "update", { item_id: id, name });
        // 500: on a slow machine its turn among so many does not come in time.
        expect([200, 409, 500]).toContain(answer.status);
        if (answer.status === 409) return;
        if (answer.status === 200) lastWritten = name;
      }
    });
    await sleep(5);
    while (token === null) {
      const answer = await shop.post("items", "lock/acquire", { lock_keys: [key()] });
      expect([200, 409]).toContain(answer.status);
      token = answer.status === 200 ? answer.body.data.lock_token : null;
    }
    const seen = await nameOf(shop);
    await Promise.all(writers);
    expect(await nameOf(shop)).toBe(seen);
    expect(lastWritten).not.toBe("");
    const headers = { "X-Lock-Token": token };
    check(await shop.post("items", "update", { item_id: id, name: "mine" }, headers), {
      status: 200,
    });
  });
});
