/** lock/acquire, lock/release and lock/status over HTTP: who gets a lock, what other callers see, and how it ends. */
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { check, instant, uuid, type Case } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import type { Answer } from "./harness.ts";
import { openShop } from "./shop.ts";

const crud = { create: true, first: true, update: true, delete: true, lock: true };
const shop = openShop({
  ...shopOptions,
  project: {
    cache: { enabled: false },
    cors: { origins: ["https://shop.example"] },
    locking: { maxResourceTtlSeconds: 60 },
  },
  endpoints: {
    items: { tableName: "items", primaryKey: "item_id", action: crud, hiddenFields: ["secret"] },
    twins: { tableName: "items", primaryKey: "item_id", action: crud },
    lines: { tableName: "item_lines", action: crud },
    kinds: { tableName: "kinds", action: { lock: true } },
    views: { viewName: "item_view", action: { lock: true } },
    half: { tableName: "items", primaryKey: "item_id", action: { "lock/status": true } },
    none: { tableName: "items", primaryKey: "item_id", action: { first: true } },
  },
});

/** Each test has its own records, which need not exist. */
let id = "";
let made = 0;
beforeEach(() => {
  id = `r${++made}`;
});

const key = (value: unknown = id, name = "item_id") => ({ key: name, value });
const acquire = (keys: unknown = [key()], more: object = {}, endpoint = "items") =>
  shop.post(endpoint, "lock/acquire", { lock_keys: keys, ...more });
const release = (token: unknown, keys: unknown = [key()], endpoint = "items") =>
  shop.post(endpoint, "lock/release", { lock_keys: keys, lock_token: token });
const status = (keys: unknown = [key()], endpoint = "items") =>
  shop.post(endpoint, "lock/status", { lock_keys: keys });
const tokenOf = (answer: Answer): string => {
  check(answer, { status: 200 });
  return answer.body.data.lock_token;
};
const isLocked = async (keys?: unknown, endpoint?: string) =>
  (await status(keys, endpoint)).body.data.keys.map(({ locked }: { locked: boolean }) => locked);
const refusal = { status: 409, error: "Lock conflict" };

describe("lock/acquire", () => {
  test("lock/acquire answers the token, the keys, the time and the fence, and nothing else", async () => {
    const answer = await acquire([key(), key(`${id}b`)], { ttl: 20, owner: "anna" });
    check(answer, { status: 200 });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "success", "timestamp"]);
    expect(answer.body.data).toEqual({
      lock_token: expect.stringMatching(uuid),
      resource: "items",
      locked_keys: [key(), key(`${id}b`)],
      ttl: 20,
      owner: "anna",
      acquired_at: expect.stringMatching(instant),
      fence: expect.any(Number),
    });
  });

  test("lock/acquire without ttl and owner takes 30 seconds and nobody", async () => {
    check(await acquire(), { status: 200, data: { ttl: 30, owner: null } });
  });

  test("lock/acquire of a locked record answers 409 and says who holds it, and for how long", async () => {
    await acquire([key()], { ttl: 20, owner: "anna" });
    const answer = await acquire([key(`${id}b`), key()]);
    check(answer, refusal);
    const { ttl_remaining, ...data } = answer.body.data;
    expect(data).toEqual({ conflicting_key: key(), locked_by: "anna" });
    expect([18, 19, 20]).toContain(ttl_remaining);
  });

  test("lock/acquire takes all keys or none", async () => {
    await acquire([key(`${id}b`)]);
    check(await acquire([key(), key(`${id}b`), key(`${id}c`)]), refusal);
    expect(await isLocked([key(), key(`${id}b`), key(`${id}c`)])).toEqual([false, true, false]);
  });

  test("lock/acquire gives each acquisition a greater fence", async () => {
    const fences: number[] = [];
    for (let round = 0; round < 5; round++) {
      const answer = await acquire();
      fences.push(answer.body.data.fence);
      await release(tokenOf(answer));
    }
    expect(fences).toEqual(fences.toSorted((left, right) => left - right));
    expect(new Set(fences).size).toBe(5);
  });

  test("lock/acquire with the token of its own locks starts their time anew", async () => {
    const first = await acquire([key()], { ttl: 3, owner: "anna" });
    const again = await acquire([key()], { ttl: 50, lock_token: tokenOf(first) });
    check(again, { status: 200, data: { ...first.body.data, ttl: 50 } });
    expect((await status()).body.data.keys[0].ttl_remaining).toBeGreaterThan(40);
  });

  test("lock/acquire with a token that holds nothing any more answers 409", async () => {
    const token = tokenOf(await acquire());
    await release(token);
    const answer = await acquire([key()], { lock_token: token });
    check(answer, {
      ...refusal,
      data: { conflicting_key: key(), locked_by: null, ttl_remaining: 0 },
    });
    expect(await isLocked()).toEqual([false]);
  });

  test("lock/acquire with a token never takes further keys", async () => {
    const token = tokenOf(await acquire());
    check(await acquire([key(), key(`${id}b`)], { lock_token: token }), refusal);
    expect(await isLocked([key(), key(`${id}b`)])).toEqual([true, false]);
  });

  test("lock/acquire of one record at the same time by twenty gives it to one", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => acquire()));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(19);
  });

  test("a lock ends when its time is over", async () => {
    const token = tokenOf(await acquire([key()], { ttl: 1 }));
    await sleep(1_100);
    expect(await isLocked()).toEqual([false]);
    check(await release(token), { status: 200, data: { released_keys: 0, total_keys: 1 } });
    check(await acquire(), { status: 200 });
  });

  test("lock/acquire asks nobody whether the record exists", async () => {
    check(await acquire([key("nobody")]), { status: 200 });
  });

  test("locks that nobody enforces stop no write", async () => {
    await shop.post("items", "create", { item_id: id, code: id, name: "free" });
    await acquire();
    check(await shop.post("items", "update", { item_id: id, name: "new" }), { status: 200 });
    const headers = { "X-Lock-Token": "no such token" };
    check(await shop.post("items", "update", { item_id: id, name: "newer" }, headers), {
      status: 200,
    });
    check(await shop.post("items", "delete", { where: [key()] }), { status: 200 });
  });
});

describe("what a key means", () => {
  test("one record is one lock however its key is written", async () => {
    check(await acquire([key(7, "line_id")], {}, "lines"), { status: 200 });
    for (const same of [7, "7", "007", 7.0])
      check(await acquire([key(same, "line_id")], {}, "lines"), refusal);
    check(await acquire([key(8, "line_id")], {}, "lines"), { status: 200 });
  });

  const spellings: { name: string; column: string; values: unknown[] }[] = [
    { name: "decimals", column: "money", values: [1.5, "1.50", "01.5"] },
    { name: "dates", column: "day", values: ["2026-01-31", "2026-01-31"] },
    {
      name: "instants",
      column: "moment",
      values: ["2026-01-31T10:00:00Z", "2026-01-31T11:00:00+01:00"],
    },
    {
      name: "UUIDs",
      column: "token",
      values: ["C5B6D6A0-0000-4000-8000-000000000001", "c5b6d6a0-0000-4000-8000-000000000001"],
    },
    { name: "booleans", column: "flag", values: [true, 1, "true"] },
    { name: "large integers", column: "big", values: ["9007199254740993", "09007199254740993"] },
  ];
  test.each(spellings)(
    "$name are one lock however they are written",
    async ({ column, values }) => {
      const token = tokenOf(await acquire([key(values[0], column)], {}, "kinds"));
      for (const value of values) check(await acquire([key(value, column)], {}, "kinds"), refusal);
      for (const value of values)
        expect(await isLocked([key(value, column)], "kinds")).toEqual([true]);
      await release(token, [key(values[1], column)], "kinds");
      expect(await isLocked([key(values[0], column)], "kinds")).toEqual([false]);
    },
  );

  test("the same value in another column is another lock", async () => {
    await acquire();
    check(await acquire([key(id, "code")]), { status: 200 });
  });

  test("a key twice in the list counts once", async () => {
    const answer = await acquire([key(), key()]);
    check(answer, { status: 200, data: { locked_keys: [key()] } });
    check(await release(tokenOf(answer), [key(), key()]), {
      status: 200,
      data: { released_keys: 1, total_keys: 1 },
    });
  });

  test("endpoints of one table lock each other's records", async () => {
    const token = tokenOf(await acquire());
    check(await acquire([key()], {}, "twins"), refusal);
    check(await release(token, [key()], "twins"), { status: 200, data: { released_keys: 1 } });
  });

  test("a view's keys are the endpoint's own", async () => {
    await acquire();
    check(await acquire([key()], {}, "views"), { status: 200, data: { resource: "views" } });
    check(await acquire([key()], {}, "views"), refusal);
  });
});

describe("lock/release", () => {
  test("lock/release gives the locks back and counts them", async () => {
    const token = tokenOf(await acquire([key(), key(`${id}b`)]));
    const answer = await release(token, [key(), key(`${id}b`), key(`${id}c`)]);
    check(answer, { status: 200 });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "success", "timestamp"]);
    expect(answer.body.data).toEqual({ released_keys: 2, total_keys: 3 });
    check(await acquire([key(), key(`${id}b`)]), { status: 200 });
  });

  test("lock/release of some keys keeps the others", async () => {
    const token = tokenOf(await acquire([key(), key(`${id}b`)]));
    check(await release(token), { status: 200, data: { released_keys: 1, total_keys: 1 } });
    expect(await isLocked([key(), key(`${id}b`)])).toEqual([false, true]);
  });

  test("lock/release with a wrong token gives back nothing", async () => {
    await acquire();
    for (const token of ["nonsense", crypto.randomUUID(), "*", "a".repeat(10_000)])
      check(await release(token), { status: 200, data: { released_keys: 0, total_keys: 1 } });
    expect(await isLocked()).toEqual([true]);
  });
});

describe("lock/status", () => {
  test("lock/status tells of each key whether it is locked, by whom and for how long", async () => {
    await acquire([key()], { ttl: 20, owner: "anna" });
    const answer = await status([key(), key(`${id}b`)]);
    check(answer, { status: 200 });
    expect(Object.keys(answer.body).sort()).toEqual(["data", "success", "timestamp"]);
    expect(answer.body.data).toEqual({
      keys: [
        { ...key(), locked: true, owner: "anna", ttl_remaining: expect.any(Number) },
        { ...key(`${id}b`), locked: false, owner: null, ttl_remaining: 0 },
      ],
    });
    expect([19, 20]).toContain(answer.body.data.keys[0].ttl_remaining);
  });

  test("lock/status never shows a token", async () => {
    const token = tokenOf(await acquire());
    expect(JSON.stringify((await status()).body)).not.toContain(token);
  });
});

describe("the project's own paths", () => {
  const send = (action: string, body: unknown, method = "POST") =>
    shop.send(`/lock/${action}`, {
      method,
      headers: { "Content-Type": "application/json" },
      ...(method === "POST" && { body: JSON.stringify(body) }),
    });

  test("lock actions of the project name the endpoint as resource", async () => {
    const answer = await send("acquire", { resource: "items", lock_keys: [key()] });
    check(answer, { status: 200, data: { resource: "items" } });
    check(await acquire(), refusal);
    const body = { resource: "items", lock_keys: [key()], lock_token: tokenOf(answer) };
    check(await send("status", body), { status: 200, data: { keys: [{ locked: true }] } });
    check(await send("release", body), { status: 200, data: { released_keys: 1 } });
  });

  const unknown = ["nothing", "none", "half", "Items", "__proto__", "constructor", ""];
  test.each(unknown)("lock/acquire of the resource %j answers 404", async (resource) => {
    check(await send("acquire", { resource, lock_keys: [key()] }), {
      status: 404,
      error: "Not found",
    });
  });

  test.each([undefined, null, 1, ["items"], {}])(
    "lock/acquire of the project with the resource %j answers 400",
    async (resource) => {
      const answer = await send("acquire", { resource, lock_keys: [key()] });
      check(answer, { status: 400, error: "Invalid payload" });
    },
  );

  test("the project's lock paths take POST alone, and no other action", async () => {
    const wrong = await send("acquire", {}, "GET");
    check(wrong, { status: 405, error: "Method not allowed" });
    expect(wrong.headers.get("Allow")).toBe("POST");
    check(await send("break", {}), { status: 404, error: "Not found" });
    check(await shop.send("/lock", { method: "POST" }), { status: 404, error: "Not found" });
  });
});

describe("paths", () => {
  const missing: { name: string; path: string }[] = [
    { name: "an endpoint without lock answers 404 to lock/acquire", path: "/none/lock/acquire" },
    {
      name: "an endpoint with lock/status alone answers 404 to lock/acquire",
      path: "/half/lock/acquire",
    },
    { name: "an unknown lock action answers 404", path: "/items/lock/steal" },
    { name: "lock without an action answers 404", path: "/items/lock" },
    { name: "a lock action as one segment answers 404", path: "/items/lock%2Fbreak" },
    { name: "a lock action with more behind it answers 404", path: "/items/lock/acquire/now" },
    { name: "another action behind lock answers 404", path: "/items/lock/first" },
  ];
  test.each(missing)("$name", async ({ path }) => {
    const init = { method: "POST", headers: { "Content-Type": "application/json" } };
    const body = JSON.stringify({ lock_keys: [key()] });
    check(await shop.send(path, { ...init, body }), { status: 404, error: "Not found" });
  });

  test("lock actions take POST alone", async () => {
    for (const action of ["acquire", "release", "status"]) {
      const answer = await shop.send(`/items/lock/${action}`, { method: "GET" });
      check(answer, { status: 405, error: "Method not allowed" });
      expect(answer.headers.get("Allow")).toBe("POST");
    }
  });

  test("pages of an allowed origin may use the lock actions and send X-Lock-Token", async () => {
    for (const path of ["/api/test/items/lock/acquire", "/api/test/lock/acquire"]) {
      const headers = {
        Origin: "https://shop.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-lock-token",
      };
      const answer = await shop.fixture.request(path, { method: "OPTIONS", headers });
      expect(answer.status).toBe(204);
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("https://shop.example");
      expect(answer.headers.get("Access-Control-Allow-Headers")).toContain("X-Lock-Token");
    }
  });

  test("lock/status alone works where it is switched on alone", async () => {
    check(await status([key()], "half"), { status: 200 });
  });
});

const many = (count: number) => Array.from({ length: count }, (_, at) => key(`m${at}`));
const payload = { status: 400, error: "Invalid payload" };
const parameter = { status: 400, error: "Invalid parameter" };
const keys = [key("z")];

describe("lock/acquire refuses", () => {
  const cases: Case[] = [
    { name: "no body", body: undefined, ...payload },
    { name: "an empty body", body: {}, ...payload },
    { name: "a body that is an array", body: [keys], ...payload },
    { name: "no lock_keys", body: { ttl: 5 }, ...payload },
    { name: "lock_keys []", body: { lock_keys: [] }, ...payload },
    { name: "lock_keys as an object", body: { lock_keys: key("z") }, ...payload },
    { name: "101 lock_keys", body: { lock_keys: many(101) }, ...payload },
    { name: "a key that is a text", body: { lock_keys: ["z"] }, ...payload },
    { name: "a key without value", body: { lock_keys: [{ key: "item_id" }] }, ...payload },
    {
      name: "a key whose name is no text",
      body: { lock_keys: [{ key: 1, value: 1 }] },
      ...payload,
    },
    {
      name: "a key whose name is an array",
      body: { lock_keys: [{ key: ["item_id"], value: 1 }] },
      ...payload,
    },
    {
      name: "an unknown column",
      body: { lock_keys: [key("z", "itemid")] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "a hidden column",
      body: { lock_keys: [key("z", "secret")] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "a column named __proto__",
      body: { lock_keys: [key("z", "__proto__")] },
      status: 400,
      error: "Invalid field",
    },
    { name: "the value null", body: { lock_keys: [key(null)] }, ...parameter },
    { name: "a value that is an object", body: { lock_keys: [key({ a: 1 })] }, ...parameter },
    { name: "a value that is an array", body: { lock_keys: [key(["z"])] }, ...parameter },
    {
      name: "a value that its column cannot have",
      body: { lock_keys: [key("much", "qty")] },
      ...parameter,
    },
    { name: "the ttl 0", body: { lock_keys: keys, ttl: 0 }, ...parameter },
    { name: "a negative ttl", body: { lock_keys: keys, ttl: -1 }, ...parameter },
    { name: "a ttl with a fraction", body: { lock_keys: keys, ttl: 1.5 }, ...parameter },
    { name: "a ttl above the maximum", body: { lock_keys: keys, ttl: 61 }, ...parameter },
    { name: "a ttl that is a text", body: { lock_keys: keys, ttl: "5" }, ...parameter },
    {
      name: "a ttl of 1e999",
      body: '{"lock_keys":[{"key":"item_id","value":"z"}],"ttl":1e999}',
      ...parameter,
    },
    { name: "an owner that is no text", body: { lock_keys: keys, owner: 5 }, ...parameter },
    {
      name: "an owner of 201 characters",
      body: { lock_keys: keys, owner: "é".repeat(201) },
      ...parameter,
    },
    {
      name: "an owner that is no Unicode",
      body: { lock_keys: keys, owner: "\ud800" },
      ...parameter,
    },
    { name: "a lock_token that is no text", body: { lock_keys: keys, lock_token: 1 }, ...payload },
    {
      name: "another resource than the endpoint of its path",
      body: { lock_keys: keys, resource: "lines" },
      ...parameter,
    },
  ];
  test.each(cases)("$name", async ({ body, ...expected }) => {
    check(await shop.post("items", "lock/acquire", body), expected);
    expect(await isLocked(keys)).toEqual([false]);
  });

  test("nothing that is at its limit", async () => {
    const more = { ttl: 60, owner: "😀".repeat(200), resource: "items" };
    const answer = await acquire(many(100), more);
    check(answer, { status: 200, data: { ttl: 60, owner: more.owner } });
    check(await release(tokenOf(answer), many(100)), {
      status: 200,
      data: { released_keys: 100, total_keys: 100 },
    });
  });
});

test("lock/acquire answers 429 to a client with 10,000 locks until it gives some back", async () => {
  const batch = (at: number) => Array.from({ length: 100 }, (_, n) => key(`share ${at} ${n}`));
  const tokens: string[] = [];
  let refused: Answer | null = null;
  while (refused === null && tokens.length <= 100) {
    const answer = await acquire(batch(tokens.length), { ttl: 60 });
    if (answer.status === 200) tokens.push(tokenOf(answer));
    else refused = answer;
  }
  // Other tests leave a few locks behind, which count too.
  expect(tokens.length).toBeOneOf([99, 100]);
  check(refused!, { status: 429, error: "Too many requests" });
  expect(refused!.headers.get("Retry-After")).toBe("2");
  await release(tokens[0], batch(0));
  check(await acquire(batch(0), { ttl: 1 }), { status: 200 });
  for (const [at, token] of tokens.entries()) await release(token, batch(at));
});

describe("lock/release and lock/status refuse", () => {
  const cases: (Case & { action: string })[] = [
    {
      name: "a release without lock_token",
      action: "release",
      body: { lock_keys: keys },
      ...payload,
    },
    {
      name: "a release whose lock_token is null",
      action: "release",
      body: { lock_keys: keys, lock_token: null },
      ...payload,
    },
    {
      name: "a release whose lock_token is an object",
      action: "release",
      body: { lock_keys: keys, lock_token: {} },
      ...payload,
    },
    {
      name: "a release without lock_keys",
      action: "release",
      body: { lock_token: "t" },
      ...payload,
    },
    {
      name: "a release of an unknown column",
      action: "release",
      body: { lock_keys: [key("z", "no")], lock_token: "t" },
      status: 400,
      error: "Invalid field",
    },
    { name: "a status without lock_keys", action: "status", body: {}, ...payload },
    { name: "a status of 101 keys", action: "status", body: { lock_keys: many(101) }, ...payload },
    {
      name: "a status of an unknown column",
      action: "status",
      body: { lock_keys: [key("z", "no")] },
      status: 400,
      error: "Invalid field",
    },
    {
      name: "a status of a value that names no record",
      action: "status",
      body: { lock_keys: [key(null)] },
      ...parameter,
    },
  ];
  test.each(cases)("$name", async ({ action, body, ...expected }) => {
    check(await shop.post("items", `lock/${action}`, body), expected);
  });
});
