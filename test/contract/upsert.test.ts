/** upsert: the indexes it finds records by, the rights of what a record counts as, scopes and marked rows, and races. */
import { beforeEach, describe, expect, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { apiKey, by as headersOf } from "./api-keys.ts";
import { check } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

/** Unique indexes that are no keys: each row could have the same value as another one. */
const partialIndexes: Record<EngineName, readonly string[]> = {
  sqlite: [
    "create unique index goods_part on goods (part) where price > 0",
    "create unique index goods_loud on goods (upper(loud))",
  ],
  postgres: [
    "create unique index goods_part on goods (part) where price > 0",
    "create unique index goods_loud on goods (upper(loud))",
  ],
  mysql: ["create unique index goods_loud on goods (loud(3))"],
};

const action = { read: true, first: true, create: true, update: true, upsert: true };
const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "goods",
      columns: {
        good_id: "key",
        code: { type: "text(40)", unique: true },
        shelf: "integer",
        place: "integer",
        name: { type: "text(40)", notNull: true },
        price: { type: "decimal(10,2)", check: "price < 1000" },
        part: "text(40)",
        loud: "text(40)",
        tenant: "text(10)",
        is_deleted: "boolean",
        deleted_at: "timestamp",
      },
      unique: [["shelf", "place"]],
    },
    { name: "slots", columns: { slot_id: "identity", label: "text(20)" } },
    {
      name: "pairs",
      columns: { a: "integer", b: "text(20)", note: "text(20)" },
      primaryKey: ["a", "b"],
    },
  ],
  setUp: (engine) => partialIndexes[engine],
  endpoints: {
    goods: {
      tableName: "goods",
      fieldName: ["good_id", "code", "shelf", "place", "name", "price", "part", "loud", "tenant"],
      action: { ...action, delete: true },
      softDelete: {},
      fieldValidation: [
        { name: "name", type: "string", constraints: { required: true, minLength: 2 } },
      ],
      access: {
        admin: "*",
        changer: ["read", "update", "upsert"],
        maker: ["read", "create", "upsert"],
        neither: ["read", "upsert"],
        creator: ["read", "create", "update"],
        clerk: ["read", "create", "update", "upsert"],
        blind: ["read", "create", "update", "upsert"],
      },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
      hiddenFields: { blind: ["code"] },
    },
    // Neither create nor update.
    only: {
      tableName: "goods",
      fieldName: ["good_id", "code", "name"],
      action: { upsert: true },
      access: { admin: "*", neither: ["upsert"] },
    },
    slots: { tableName: "slots", action, access: { admin: "*" } },
    pairs: { tableName: "pairs", action, access: { admin: "*" } },
  },
  project: {
    auth: {
      apiKeys: [
        ...["admin", "changer", "maker", "neither", "creator", "blind"].map((id) =>
          apiKey(id, [id]),
        ),
        apiKey("clerk a", ["clerk"], { tenant: "a" }),
        apiKey("clerk b", ["clerk"], { tenant: "b" }),
      ],
    },
  },
});
beforeEach(async () => {
  for (const table of ["goods", "slots", "pairs"]) await fixture.sql(`delete from ${table}`);
});

const post = (path: string, body: unknown, id = "admin"): Promise<Answer> =>
  fixture.post(path, body, headersOf(id));
const upsert = (body: unknown, id?: string): Promise<Answer> => post("goods/upsert", body, id);
const rows = (): Promise<Record<string, unknown>[]> =>
  fixture.sql("select code, name from goods order by code");
const add = async (code: string, more: object = {}): Promise<string> => {
  const answer = await post("goods/create", { code, name: `of ${code}`, ...more });
  check(answer, { status: 201 });
  return answer.body.data.good_id;
};

describe("by", () => {
  test.each<[string, unknown]>([
    ["a column without an index", ["name"]],
    ["a part of an index", ["shelf"]],
    ["an index with a condition, or none", ["part"]],
    ["an index of an expression, or of a prefix", ["loud"]],
    ["more columns than the index", ["code", "shelf"]],
    ["a column twice", ["code", "code"]],
    ["an unknown column", ["nope"]],
    ["no columns", []],
    ["a text", "code"],
    ["an object", { code: 1 }],
    ["a number", 1],
  ])("refuses %s, and names the candidates", async (_name, by) => {
    const answer = await upsert({ data: [{ code: "x", name: "xx" }], by });
    check(answer, { status: 400, error: "Invalid parameter" });
    for (const candidate of ['["good_id"]', '["code"]', '["shelf","place"]'])
      expect(answer.body.message).toContain(candidate);
    for (const other of ["part", "loud"]) expect(answer.body.message).not.toContain(other);
    expect(await rows()).toEqual([]);
  });

  test("takes the columns of an index in any order", async () => {
    await add("x", { shelf: 1, place: 2 });
    const data = [
      { place: 2, shelf: 1, name: "changed" },
      { place: 3, shelf: 1, name: "added" },
    ];
    const answer = await upsert({ data, by: ["place", "shelf"] });
    check(answer, { status: 200 });
    expect(answer.body.results.map(({ created }: { created: boolean }) => created)).toEqual([
      false,
      true,
    ]);
  });

  test("refuses a key that the column cannot hold, for its record alone", async () => {
    const data = [{ slot_id: "9223372036854775808", label: "far" }, { label: "near" }];
    const each = await post("slots/upsert", { data, mode: "each" });
    expect(each.status, JSON.stringify(each.body)).toBe(207);
    expect(each.body.results).toMatchObject([
      { success: false, error: "Validation failed", errors: { slot_id: [expect.any(String)] } },
      { success: true, created: true },
    ]);
    const all = await post("slots/upsert", { data });
    check(all, { status: 400, error: "Validation failed", errors: ["[0].slot_id"] });
  });

  test("refuses a record without a value of the index, each on its field", async () => {
    const data = [
      { shelf: 1, name: "no place" },
      { shelf: null, place: 1, name: "null" },
      { name: "neither" },
      { shelf: "many", place: 1, name: "no number" },
    ];
    check(await upsert({ data, by: ["shelf", "place"] }), {
      status: 400,
      error: "Validation failed",
      errors: ["[0].place", "[1].shelf", "[2].place", "[2].shelf", "[3].shelf"],
    });
  });

  test("does not name the index of a column that the caller does not see", async () => {
    const answer = await upsert({ data: [{ name: "xx" }], by: ["code"] }, "blind");
    check(answer, { status: 400, error: "Invalid parameter" });
    expect(answer.body.message).not.toContain("code");
  });

  test("finds by the key that the database numbers, and stores a record without one", async () => {
    const first = await post("slots/upsert", { data: [{ label: "one" }, { label: "two" }] });
    check(first, { status: 200 });
    const [one, two] = first.body.data;
    const data = [
      { slot_id: two.slot_id, label: "changed" },
      { label: "three" },
      { slot_id: String(one.slot_id), label: "by text" },
    ];
    const second = await post("slots/upsert", { data });
    check(second, { status: 200 });
    expect(second.body.results.map(({ created }: { created: boolean }) => created)).toEqual([
      false,
      true,
      false,
    ]);
    check(await post("slots/upsert", { data: { slot_id: null, label: "null" } }), { status: 200 });
    expect(await fixture.sql("select label from slots order by slot_id")).toMatchObject([
      { label: "by text" },
      { label: "changed" },
      { label: "three" },
      { label: "null" },
    ]);
  });

  test("finds by a key of two columns", async () => {
    const data = [
      { a: 1, b: "x", note: "1" },
      { b: "y", a: 1, note: "2" },
    ];
    check(await post("pairs/upsert", { data }), { status: 200 });
    const again = await post("pairs/upsert", {
      data: [...data.map((one) => ({ ...one, note: "changed" })), { a: 2, b: "x" }],
      by: ["b", "a"],
    });
    check(again, { status: 200 });
    expect(again.body.results.map(({ created }: { created: boolean }) => created)).toEqual([
      false,
      false,
      true,
    ]);
    check(await post("pairs/upsert", { data: [{ a: 1, note: "no b" }] }), {
      status: 400,
      error: "Validation failed",
      errors: ["[0].b"],
    });
    check(await post("pairs/upsert", { data: [data[0], data[1], data[0]] }), {
      status: 400,
      error: "Validation failed",
      errors: ["[2].a"],
    });
  });
});

describe("a record", () => {
  test("counts as a create or an update, with the rules of that action", async () => {
    await add("old");
    const data = [
      { code: "old", price: 5 },
      { code: "new", price: 5 },
      { code: "old2", name: "x" },
      { code: "other", name: "fine", price: "dear" },
    ];
    check(await upsert({ data, by: ["code"] }), {
      status: 400,
      error: "Validation failed",
      errors: ["[1].name", "[2].name", "[3].price"],
    });
    expect(await rows()).toHaveLength(1);
    check(await upsert({ data: data.slice(0, 1), by: ["code"] }), { status: 200 });
    expect(await rows()).toMatchObject([{ code: "old", name: "of old" }]);
  });

  test("that the database refuses is named under the database's status", async () => {
    await add("old");
    const data = [
      { code: "one", name: "fine" },
      { code: "old", price: 5000 },
      { code: "two", name: "fine", price: 6000 },
    ];
    const answer = await upsert({ data, by: ["code"] });
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(Object.keys(answer.body.errors ?? {})[0]).toMatch(/^\[1\]/);
    expect(await rows()).toHaveLength(1);
    const each = await upsert({ data, by: ["code"], mode: "each" });
    expect(each.status).toBe(207);
    expect(each.body.summary).toEqual({ succeeded: 1, failed: 2 });
    expect(each.body.results).toMatchObject([
      { index: 0, success: true, created: true },
      { index: 1, success: false },
      { index: 2, success: false },
    ]);
  });

  test("needs another key than the stored one's to be refused", async () => {
    const id = await add("old");
    const own = { code: "old", good_id: id, name: "changed" };
    check(await upsert({ data: own, by: ["code"] }), { status: 200 });
    check(await upsert({ data: { ...own, good_id: "other" }, by: ["code"] }), {
      status: 400,
      error: "Validation failed",
      errors: ["[0].good_id"],
    });
  });

  test.each([[null], [""], ["-"]])(
    "whose key is %j is the stored one with any key",
    async (good_id) => {
      const data = { code: "new", name: "first", good_id };
      const [made, again] = [
        await upsert({ data, by: ["code"] }),
        await upsert({ data: { ...data, name: "second" }, by: ["code"] }),
      ];
      check(again, { status: 200 });
      expect([made, again].map(({ body }) => body.results[0].created)).toEqual([true, false]);
      const { good_id: key } = made.body.data[0];
      expect(again.body.data).toMatchObject([{ good_id: key, name: "second" }]);
    },
  );

  test("as an object is a list of one, and any other form is refused", async () => {
    const one = await upsert({ data: { code: "x", name: "one" }, by: ["code"] });
    check(one, { status: 200 });
    expect(one.body.data).toMatchObject([{ code: "x" }]);
    expect(one.body.etags).toHaveLength(1);
    expect(one.body.results).toEqual([{ index: 0, created: true }]);
    for (const data of [undefined, null, 7, "x", [], [null], [[]], ["x"]])
      check(await upsert({ data, by: ["code"] }), { status: 400, error: "Invalid payload" });
  });
});

describe("rights", () => {
  const data = [
    { code: "old", name: "changed" },
    { code: "new", name: "added" },
  ];

  test.each([
    ["changer", "[1]", [true, false]],
    ["maker", "[0]", [false, true]],
    ["neither", "[0]", [false, false]],
  ])("of %s are those of what a record counts as", async (id, place, success) => {
    await add("old");
    const all = await upsert({ data, by: ["code"] }, id);
    check(all, { status: 403, error: "Forbidden", errors: [place] });
    expect(await rows()).toMatchObject([{ code: "old", name: "of old" }]);
    const each = await upsert({ data, by: ["code"], mode: "each" }, id);
    expect(each.status).toBe(207);
    expect(each.body.results.map((one: { success: boolean }) => one.success)).toEqual(success);
    for (const one of each.body.results) if (!one.success) expect(one.error).toBe("Forbidden");
    expect(await rows()).toHaveLength(success[1] ? 2 : 1);
  });

  test("to create and update are not those to upsert", async () => {
    check(await upsert({ data, by: ["code"] }, "creator"), { status: 403, error: "Forbidden" });
    expect(await rows()).toEqual([]);
  });

  test("to upsert are enough where create and update are off", async () => {
    const body = { data: [{ code: "new", name: "added" }], by: ["code"] };
    check(await post("only/upsert", body, "neither"), { status: 200 });
    check(await post("only/upsert", body, "neither"), { status: 200 });
  });
});

describe("a row that the caller does not see", () => {
  test.each([["code"], ["good_id"]])(
    "is a duplicate that names %s alone, and stays as it is",
    async (by) => {
      const id = await add("foreign", { tenant: "b" });
      const asked = { good_id: id, code: by === "code" ? "foreign" : "free", name: "mine" };
      const { [by as "code"]: value, name } = asked;
      const data = [
        { code: "mine", name: "mine" },
        { name, [by]: value },
      ];
      if (by === "good_id") data.shift();
      const at = data.length - 1;
      const all = await upsert({ data, by: [by] }, "clerk a");
      check(all, { status: 409, error: "Duplicate entry" });
      expect(all.body.errors).toEqual({ [`[${String(at)}].${by}`]: ["already exists"] });
      expect(JSON.stringify(all.body)).not.toMatch(/of foreign|"b"/);
      const each = await upsert({ data, by: [by], mode: "each" }, "clerk a");
      expect(each.status).toBe(207);
      expect(each.body.results[at]).toMatchObject({
        error: "Duplicate entry",
        errors: { [by]: ["already exists"] },
      });
      expect(await fixture.sql(`select name from goods where good_id = '${id}'`)).toMatchObject([
        { name: "of foreign" },
      ]);
      check(await upsert({ data: data.slice(at), by: [by] }, "clerk b"), { status: 200 });
    },
  );

  test("because it is marked is a duplicate, too", async () => {
    const id = await add("gone");
    check(await post("goods/delete", { where: [{ key: "good_id", value: id }] }), { status: 200 });
    for (const one of [{ code: "gone" }, { good_id: id }]) {
      const by = Object.keys(one);
      const answer = await upsert({ data: [{ ...one, name: "again" }], by });
      check(answer, { status: 409, error: "Duplicate entry" });
      expect(answer.body.errors).toEqual({ [`[0].${by[0]!}`]: ["already exists"] });
    }
  });

  test("new records get the scope, and may not leave it", async () => {
    check(await upsert({ data: [{ code: "mine", name: "mine" }], by: ["code"] }, "clerk a"), {
      status: 200,
    });
    expect(await fixture.sql("select tenant from goods")).toMatchObject([{ tenant: "a" }]);
    for (const code of ["mine", "new"])
      check(
        await upsert({ data: [{ code, name: "moved", tenant: "b" }], by: ["code"] }, "clerk a"),
        { status: 403, error: "Forbidden" },
      );
    expect(await rows()).toMatchObject([{ name: "mine" }]);
  });
});

describe("many clients at once", () => {
  const own = Array.from({ length: 100 }, (_, at) => `r${String(at).padStart(3, "0")}`);

  test("with the same 100 keys store each once, and no write is lost", async () => {
    const clients = Array.from({ length: 16 }, (_, at) => at);
    const answers = await Promise.all(
      clients.map((client) => {
        const data = own.map((code) => ({ code, name: `client ${String(client)}`, shelf: null }));
        return upsert({ data: client % 2 ? data.toReversed() : data, by: ["code"] });
      }),
    );
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      clients.map(() => [200, undefined]),
    );
    const created = answers.flatMap(({ body }) => body.results).filter((one) => one.created);
    expect(created).toHaveLength(100);
    const stored = await rows();
    expect(stored.map(({ code }) => code)).toEqual(own);
    expect(new Set(stored.map(({ name }) => name)).size).toBe(1);
  }, 60_000);

  test("in mode each, and by keys that overlap, store each once", async () => {
    const clients = Array.from({ length: 8 }, (_, at) => at);
    const answers = await Promise.all(
      clients.map((client) => {
        const some = own.slice(client * 5, client * 5 + 40);
        const data = some.map((code) => ({ code, name: `client ${String(client)}` }));
        return upsert({ data: client % 2 ? data.toReversed() : data, by: ["code"], mode: "each" });
      }),
    );
    for (const { status, body } of answers) expect(status, JSON.stringify(body)).toBe(200);
    expect(await rows()).toHaveLength(75);
  }, 60_000);
});
