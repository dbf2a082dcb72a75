/**
 * Idempotency-Key over HTTP: who gets the stored answer, when a key is free, which bodies count as equal, and what is
 * stored and for how long. `idempotency-races.test.ts` tests concurrent requests and those whose process died.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { check, column, record } from "./cases.ts";
import type { Answer } from "./harness.ts";
import { isReplayed, openKeyed, setClockAheadBy } from "./keyed.ts";

const { on, send, post, sql, request, openOther, previewed } = openKeyed();

/** Each test has its own part and key. */
let made = 0;
let id = "";
let key = "";
beforeEach(async () => {
  id = `p${++made}`;
  key = `key-${id}`;
  const body = { part_id: id, code: id, name: "bolt", stock: 10 };
  check(await post("plain/create", body), { status: 201 });
});

/** The database's contents besides the keys. */
const stored = async () => [
  await sql("select part_id, code, name, stock, updated_at from parts order by part_id"),
  await sql("select note_id, part_id, text from notes order by note_id"),
];
const newPart = () => ({ part_id: `${id}n`, code: `new-${id}`, name: "nut" });
const more = (value: number) => ({ part_id: id, adjustments: [{ field: "stock", value }] });
const document = (text: string) => ({
  parts: { part_id: `${id}d`, code: `doc-${id}`, notes: [{ text }] },
});

/** A request of each action with a key; `bodies` gives the body and another one. */
const actions = [
  {
    path: "parts/create",
    status: 201,
    hasETag: true,
    bodies: async () => [newPart(), { ...newPart(), name: "another" }],
  },
  {
    path: "plain/create",
    status: 201,
    hasETag: true,
    bodies: async () => [newPart(), { ...newPart(), name: "another" }],
  },
  { path: "parts/adjust", status: 200, hasETag: true, bodies: async () => [more(5), more(6)] },
  { path: "plain/adjust", status: 200, hasETag: true, bodies: async () => [more(5), more(6)] },
  {
    path: "documents/create-composite",
    status: 201,
    hasETag: true,
    bodies: async () => [document("one"), document("two")],
  },
  {
    path: "parts/import-commit",
    status: 200,
    hasETag: false,
    bodies: async () => {
      const ids = [await previewed("parts", `i-${id}`), await previewed("parts", `j-${id}`)];
      return ids.map((preview_job_id) => ({ preview_job_id }));
    },
  },
];

describe.each(actions)("$path", ({ path, status, hasETag, bodies }) => {
  test("with the same key and body gives the stored answer, and is done once", async () => {
    const [body] = await bodies();
    const first = await send(path, body, key);
    check(first, { status });
    expect(isReplayed(first)).toBe(false);
    const after = path.endsWith("import-commit") ? null : await stored();
    for (let repeat = 0; repeat < 3; repeat++) {
      const again = await send(path, body, key);
      expect(again.status).toBe(status);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get("ETag")).toBe(first.headers.get("ETag"));
      expect(isReplayed(again)).toBe(true);
    }
    expect(first.headers.has("ETag")).toBe(hasETag);
    if (after) expect(await stored()).toEqual(after);
  });

  test("with the same key and another body is refused, and changes nothing", async () => {
    const [body, another] = await bodies();
    check(await send(path, body, key), { status });
    const after = path.endsWith("import-commit") ? null : await stored();
    const refused = await send(path, another, key);
    check(refused, { status: 422, error: "Idempotency key reuse" });
    check(await send(path, {}, key), { status: 422, error: "Idempotency key reuse" });
    if (after) expect(await stored()).toEqual(after);
    expect((await send(path, body, key)).status).toBe(status);
  });

  test("runs no handler for a repeat", async () => {
    const [body] = await bodies();
    const seen: string[] = [];
    for (const event of ["onBeforeInsert", "onAfterInsert", "onBeforeAdjust"] as const)
      on[event] = () => void seen.push(event);
    check(await send(path, body, key), { status });
    const once = seen.length;
    check(await send(path, body, key), { status });
    expect(seen).toHaveLength(once);
  });

  test("with another key is done again", async () => {
    const [body] = await bodies();
    check(await send(path, body, key), { status });
    const again = await send(path, body, `${key}-2`);
    expect(isReplayed(again)).toBe(false);
    // What is unique is there already; an adjust counts twice; a preview has one job.
    expect(again.status).toBe(status === 201 ? 409 : 200);
  });
});

describe("a key is free", () => {
  const nameless = { name: "made again and again" };
  const many = async () =>
    Number((await sql(`select count(*) as n from parts where name like '%again'`))[0]!["n"]);

  test("for another endpoint", async () => {
    const before = await many();
    for (const path of ["plain/create", "twins/create", "parts/create"])
      check(await send(path, nameless, key), { status: 201 });
    expect(await many()).toBe(before + 3);
  });

  test("for another action", async () => {
    check(await send("plain/create", newPart(), key), { status: 201 });
    check(await send("plain/adjust", more(1), key), { status: 200, data: { stock: 11 } });
  });

  test("for another project on the same database", async () => {
    const elsewhere = await openOther("other");
    const before = await many();
    check(await send("plain/create", nameless, key), { status: 201 });
    check(await elsewhere("plain/create", nameless, key), { status: 201 });
    expect(isReplayed(await elsewhere("plain/create", nameless, key))).toBe(true);
    expect(await many()).toBe(before + 2);
  });

  test("in another case of its letters", async () => {
    check(await send("plain/adjust", more(1), key.toLowerCase()), { status: 200 });
    const other = await send("plain/adjust", more(1), key.toUpperCase());
    check(other, { status: 200, data: { stock: 12 } });
  });

  test.each([
    ["400", { ...newPart(), stock: "many" }, { error: "Validation failed" }],
    ["400 of an empty body", {}, { error: "Invalid payload" }],
  ])("after %s, for a body that was put right", async (_, wrong, { error }) => {
    check(await send("plain/create", wrong, key), { status: 400, error });
    check(await send("plain/create", wrong, key), { status: 400, error });
    const right = await send("plain/create", newPart(), key);
    check(right, { status: 201 });
    expect(isReplayed(right)).toBe(false);
  });

  test("after a 409 whose cause has gone, for the same body", async () => {
    const body = { ...newPart(), code: id };
    check(await send("plain/create", body, key), { status: 409, error: "Duplicate entry" });
    await sql(`delete from parts where part_id = '${id}'`);
    check(await send("plain/create", body, key), { status: 201 });
  });

  test("after a 404 of a record that is there now", async () => {
    const body = { ...more(5), part_id: `${id}n` };
    check(await send("plain/adjust", body, key), { status: 404, error: "Not found" });
    check(await post("plain/create", { ...newPart(), stock: 1 }), { status: 201 });
    check(await send("plain/adjust", body, key), { status: 200, data: { stock: 6 } });
  });

  test.each([
    ["422 of a handler", 422, "Rejected by hook"],
    ["500 of a handler", 500, "Internal server error"],
  ])("after %s, for the same body", async (_, status, error) => {
    on.onAfterInsert = ({ reject }) => {
      if (status === 422) reject("no");
      throw new Error("broken");
    };
    check(await send("parts/create", newPart(), key), { status, error });
    delete on.onAfterInsert;
    check(await send("parts/create", newPart(), key), { status: 201 });
  });

  test("after 24 hours, for any body", async () => {
    check(await send("plain/adjust", more(1), key), { status: 200, data: { stock: 11 } });
    setClockAheadBy(23 * 3_600_000);
    const kept = await send("plain/adjust", more(1), key);
    check(kept, { status: 200, data: { stock: 11 } });
    setClockAheadBy(25 * 3_600_000);
    check(await send("plain/adjust", more(2), key), { status: 200, data: { stock: 13 } });
    expect(isReplayed(await send("plain/adjust", more(2), key))).toBe(true);
  });
});

describe("a body is the same", () => {
  const exact = `"big": 9007199254740993`;
  const start = (text: string) => `{"part_id": "${id}n", ${text}}`;
  test.each([
    ["in another order", `"name": "a", "stock": 1`, `"stock":1,"name":"a"`],
    ["with other blanks and escapes", `"name": "a"`, `\n "name"\t: "\\u0061" `],
    ["with a number written otherwise", `"stock": 1`, `"stock": 1.0`],
    ["with a number of many digits", exact, exact],
  ])("%s", async (_, one, other) => {
    check(await send("plain/create", start(one), key), { status: 201 });
    expect(isReplayed(await send("plain/create", start(other), key))).toBe(true);
  });

  test.each([
    ["a text in place of a number", `"stock": 1`, `"stock": "1"`],
    ["another last digit", exact, exact.replace("93", "95")],
    ["a null in place of nothing", `"name": "a"`, `"name": "a", "stock": null`],
    ["another text", `"name": "a"`, `"name": "b"`],
  ])("but not with %s", async (_, one, other) => {
    check(await send("plain/create", start(one), key), { status: 201 });
    const refused = await send("plain/create", start(other), key);
    check(refused, { status: 422, error: "Idempotency key reuse" });
  });

  test("but not with other options", async () => {
    const wrapped = (options: object) => ({ data: newPart(), options });
    check(await send("plain/create", wrapped({ dry: true }), key), { status: 201 });
    const refused = await send("plain/create", wrapped({ dry: false }), key);
    check(refused, { status: 422, error: "Idempotency key reuse" });
  });
});

describe("a key", () => {
  test.each([
    ["empty", ""],
    ["of 256 characters", "k".repeat(256)],
    ["with a blank", "a b"],
    ["with a tab", "a\tb"],
    ["with a letter beyond ASCII", "schlüssel"],
    ["that is two", "one, two"],
  ])("%s is refused before anything is done", async (_, wrong) => {
    const answer = await send("plain/adjust", more(1), wrong);
    check(answer, { status: 400, error: "Invalid parameter" });
    check(await post("plain/adjust", more(1)), { status: 200, data: { stock: 11 } });
  });

  test.each([
    ["of 255 characters", "k".repeat(255)],
    ["of one character", "1"],
    [
      "with every sign",
      Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join(""),
    ],
    ["that looks like SQL", "';drop/**/table/**/parts;--"],
    ["that names what every object has", "__proto__"],
    ["that looks like JSON", `"],"x":["`],
  ])("%s is taken", async (_, odd) => {
    check(await send("plain/adjust", more(1), odd), { status: 200, data: { stock: 11 } });
    const again = await send("plain/adjust", more(1), odd);
    check(again, { status: 200, data: { stock: 11 } });
    expect(isReplayed(again)).toBe(true);
  });

  test("means nothing to an action that is not repeatable", async () => {
    const where = { where: { key: "part_id", value: id } };
    for (let repeat = 0; repeat < 2; repeat++) {
      const answer = await send("plain/first", where, "not a key");
      check(answer, { status: 200 });
      expect(isReplayed(answer)).toBe(false);
    }
  });
});

describe("a repeat", () => {
  test("of an adjust with If-Match gives the stored success, and not 412", async () => {
    const where = { where: { key: "part_id", value: id } };
    const tag = (await post("plain/first", where)).headers.get("ETag")!;
    const first = await send("plain/adjust", more(1), key, { "If-Match": tag });
    check(first, { status: 200, data: { stock: 11 } });
    const again = await send("plain/adjust", more(1), key, { "If-Match": tag });
    expect(again.body).toEqual(first.body);
    const late = await send("plain/adjust", more(1), `${key}-2`, { "If-Match": tag });
    check(late, { status: 412, error: "Precondition failed" });
  });

  test("needs no lock of the record", async () => {
    check(await send("plain/adjust", more(1), key), { status: 200 });
    const lock_keys = [{ key: "part_id", value: id }];
    check(await post("plain/lock/acquire", { lock_keys }), { status: 200 });
    check(await send("plain/adjust", more(1), key), { status: 200, data: { stock: 11 } });
    const other = await send("plain/adjust", more(1), `${key}-2`);
    check(other, { status: 409, error: "Lock conflict" });
  });

  test("is followed by reads that see the write, whatever became of the first request", async () => {
    const conditions = [{ key: "part_id", operator: "LIKE", value: `${id}%` }];
    const list = () => post("plain/read", { page: 1, per_page: 100, where: { conditions } });
    const has = async (name: string) => column(await list(), "part_id").includes(name);
    check(await send("plain/create", newPart(), key), { status: 201 });
    expect(await has(`${id}n`)).toBe(true);
    // As if the first request had stored this and died before the cache knew.
    await sql(`insert into parts (part_id, code) values ('${id}x', '${id}x')`);
    expect(await has(`${id}x`), "the list is kept").toBe(false);
    check(await send("plain/create", newPart(), key), { status: 201 });
    expect(await has(`${id}x`)).toBe(true);
  });

  test("may come from a page of another origin", async () => {
    const headers = { Origin: "http://page.test", "Content-Type": "application/json" };
    const asking = {
      ...headers,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "idempotency-key",
    };
    const url = "/api/test/plain/adjust";
    const preflight = await request(url, { method: "OPTIONS", headers: asking });
    const allowed = preflight.headers.get("Access-Control-Allow-Headers")!.toLowerCase();
    expect(allowed).toContain("idempotency-key");
    const body = JSON.stringify(more(1));
    const sent = { method: "POST", headers: { ...headers, "Idempotency-Key": key }, body };
    await request(url, sent);
    const answer: Answer = await request(url, sent);
    expect(isReplayed(answer)).toBe(true);
    expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("Idempotency-Replayed");
  });

  test("shows the record as it was answered, not as it is now", async () => {
    check(await send("plain/adjust", more(1), key), { status: 200 });
    check(await post("plain/adjust", more(100)), { status: 200, data: { stock: 111 } });
    expect(record(await send("plain/adjust", more(1), key))["stock"]).toBe(11);
  });
});

test("A claim from before the clock was set back expires all the same", async () => {
  setClockAheadBy(3_600_000);
  check(await send("plain/adjust", more(1), key), { status: 200 });
  // As if the process had died before it answered.
  await sql("update rowgate_requests set answer = null where answer is not null");
  setClockAheadBy(0);
  check(await send("plain/adjust", more(1), key), { status: 200, data: { stock: 12 } });
});

test("Keyed writes go on when the table of the keys disappears while the service runs", async () => {
  check(await send("plain/adjust", more(1), key), { status: 200 });
  await sql("drop table rowgate_requests");
  const answer = await send("plain/adjust", more(1), `${key}-2`);
  expect([200, 503]).toContain(answer.status);
  check(await send("plain/adjust", more(1), `${key}-3`), { status: 200 });
  const stock = answer.status === 200 ? 13 : 12;
  const again = await send("plain/adjust", more(1), `${key}-3`);
  check(again, { status: 200, data: { stock } });
  expect(isReplayed(again)).toBe(true);
});

test("Answers that are kept no longer are removed, some at a time, while others come", async () => {
  const rows = async () =>
    Number((await sql("select count(*) as n from rowgate_requests"))[0]!["n"]);
  const before = await rows();
  expect(before).toBeGreaterThan(0);
  setClockAheadBy(50 * 3_600_000);
  for (let at = 0; at < 60; at++)
    check(await send("plain/adjust", more(1), `${key}-${at}`), { status: 200 });
  expect(await rows()).toBe(60);
});
