/** bulk-create, bulk-update and bulk-delete: modes, keys, versions, conditions, limits, and what they answer. */
import { describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import { shopOptions } from "./fixture.ts";
import { openShop } from "./shop.ts";

const [items] = [shopOptions.endpoints["items"] as { action: object }];
const bulk = { "bulk-create": true, "bulk-update": true, "bulk-delete": true, upsert: true };
const shop = openShop({
  ...shopOptions,
  endpoints: {
    ...shopOptions.endpoints,
    items: { ...items, action: { ...items!.action, ...bulk } },
    // Without the action.
    plain: { ...items },
  },
  project: { limits: { bulkRecords: 60 } },
});

let count = 0;
const codes = (number: number): string[] =>
  Array.from({ length: number }, () => `B-${String(count++)}`);
const added = async (number: number): Promise<Record<string, unknown>[]> => {
  const data = codes(number).map((code, at) => ({ code, name: "made", qty: at }));
  const answer = await shop.post("items", "bulk-create", { data });
  check(answer, { status: 201, message: "items data successfully added" });
  return answer.body.data;
};
const total = async (): Promise<number> =>
  Number((await shop.fixture.sql("select count(*) as n from items"))[0]!["n"]);
const nameOf = async (id: unknown): Promise<unknown> =>
  (await shop.post("items", "first", { where: { key: "item_id", value: id } })).body.data?.name;

describe("bulk-create", () => {
  test("answers 201 with the records in their order, and their versions", async () => {
    const data = codes(3).map((code, at) =>
      at === 1 ? { code, name: "x" } : { name: "y", code, qty: at },
    );
    const answer = await shop.post("items", "bulk-create", { data });
    check(answer, { status: 201 });
    expect(Object.keys(answer.body).sort()).toEqual([
      "data",
      "etags",
      "message",
      "success",
      "timestamp",
    ]);
    expect(answer.body.data.map((one: { code: string }) => one.code)).toEqual(
      data.map(({ code }) => code),
    );
    for (const [at, one] of answer.body.data.entries()) {
      const where = { key: "item_id", value: one.item_id };
      const first = await shop.post("items", "first", { where });
      expect(first.body.data).toEqual(one);
      expect(first.headers.get("ETag")).toBe(answer.body.etags[at]);
    }
  });

  test("tells all faults of all records at once, and stores none", async () => {
    const before = await total();
    const [good] = codes(1);
    const data = [
      { code: good, name: "good" },
      { name: "no code" },
      { code: { no: 1 }, name: null },
    ];
    const answer = await shop.post("items", "bulk-create", { data });
    check(answer, {
      status: 400,
      error: "Validation failed",
      errors: ["[1].code", "[2].code", "[2].name"],
    });
    expect(await total()).toBe(before);
  });

  test.each([
    [0, 5],
    [3, 5],
    [4, 5],
    [20, 50],
  ])("names record %i of %i when the database refuses it, and stores none", async (at, of) => {
    const before = await total();
    const data = codes(of).map((code, index) => ({ code: index === at ? "A-1" : code, name: "n" }));
    const answer = await shop.post("items", "bulk-create", { data });
    check(answer, { status: 409, error: "Duplicate entry", errors: [`[${String(at)}].code`] });
    expect(await total()).toBe(before);
  });

  test("names the second of two records that contradict each other", async () => {
    const [code] = codes(1);
    const data = [code, ...codes(3), code].map((one) => ({ code: one, name: "n" }));
    const answer = await shop.post("items", "bulk-create", { data });
    check(answer, { status: 409, error: "Duplicate entry", errors: ["[4].code"] });
  });

  test("names a missing reference with its record", async () => {
    const data = codes(3).map((code, at) => ({
      code,
      name: "n",
      category_id: at === 2 ? "no" : "c1",
    }));
    const answer = await shop.post("items", "bulk-create", { data });
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body.errors)[0]).toMatch(/^\[2\]/);
  });

  test("in mode each stores the others, and answers 207", async () => {
    const before = await total();
    const [a, b, c] = codes(3);
    const data = [
      { code: a, name: "a" },
      { code: "A-1", name: "taken" },
      { name: "no code" },
      { code: b, name: "b" },
      { code: c, name: "c", category_id: "no" },
    ];
    const answer = await shop.post("items", "bulk-create", { data, mode: "each" });
    expect(answer.status).toBe(207);
    expect(answer.body).toMatchObject({
      success: false,
      summary: { succeeded: 2, failed: 3 },
      results: [
        { index: 0, success: true, data: { code: a } },
        { index: 1, success: false, error: "Duplicate entry", errors: { code: expect.any(Array) } },
        { index: 2, success: false, error: "Validation failed", errors: { code: ["is required"] } },
        { index: 3, success: true, data: { code: b } },
        { index: 4, success: false, error: "Foreign key constraint" },
      ],
    });
    expect(await total()).toBe(before + 2);
  });

  test("in mode each answers 200 when all were stored", async () => {
    const data = codes(2).map((code) => ({ code, name: "n" }));
    const answer = await shop.post("items", "bulk-create", { data, mode: "each" });
    check(answer, { status: 200 });
    expect(answer.body.summary).toEqual({ succeeded: 2, failed: 0 });
  });

  test.each([
    ["no data", { mode: "all" }],
    ["data that is no list", { data: { code: "x" } }],
    ["an empty list", { data: [] }],
    ["an item that is no object", { data: [7] }],
    ["an unknown mode", { data: [{ code: "x", name: "x" }], mode: "some" }],
    ["more records than the limit", { data: Array.from({ length: 61 }, () => ({})) }],
    ["a dry_run that is no boolean", { data: [{ code: "x", name: "x" }], dry_run: "yes" }],
  ])("refuses %s", async (_name, body) => {
    check(await shop.post("items", "bulk-create", body), { status: 400, error: "Invalid payload" });
  });

  test("dry_run answers what would be stored, and stores nothing", async () => {
    const before = await total();
    const data = codes(3).map((code) => ({ code, name: "n" }));
    const answer = await shop.post("items", "bulk-create", { data, dry_run: true });
    expect(answer.body).toMatchObject({ success: true, dry_run: true, data });
    expect(await total()).toBe(before);
  });

  test.each(["all", "each"])(
    "in mode %s repeats its answer under an Idempotency-Key",
    async (mode) => {
      const before = await total();
      const data = [...codes(2), ...(mode === "each" ? ["A-1"] : [])].map((code) => ({
        code,
        name: "n",
      }));
      const headers = { "Idempotency-Key": `bulk-${mode}-${String(count)}` };
      const first = await shop.post("items", "bulk-create", { data, mode }, headers);
      const second = await shop.post("items", "bulk-create", { data, mode }, headers);
      expect(first.status).toBe(mode === "each" ? 207 : 201);
      expect(second).toMatchObject({ status: first.status, body: first.body });
      expect(second.headers.get("Idempotency-Replayed")).toBe("true");
      expect(await total()).toBe(before + 2);
    },
  );

  test("is switched off by default, and says how to switch it on", async () => {
    const answer = await shop.post("plain", "bulk-create", { data: [{}] });
    check(answer, { status: 404, error: "Not found" });
    expect(answer.body.message).toContain('{"action": {"bulk-create": true}}');
  });
});

describe("bulk-update", () => {
  test("changes other fields of each record, and answers them in their order", async () => {
    const [a, b, c] = await added(3);
    const data = [
      { item_id: c!["item_id"], name: "third" },
      { item_id: a!["item_id"], qty: 70, price: 1.5 },
      { item_id: b!["item_id"] },
    ];
    const answer = await shop.post("items", "bulk-update", { data });
    check(answer, { status: 200, message: "items data successfully updated" });
    expect(answer.body.data).toMatchObject([
      { name: "third", qty: 2, updated_by: "Update from API" },
      { name: "made", qty: 70, price: 1.5 },
      { name: "made", updated_at: null },
    ]);
    for (const [at, { item_id }] of data.entries()) {
      const first = await shop.post("items", "first", {
        where: { key: "item_id", value: item_id },
      });
      expect(first.headers.get("ETag")).toBe(answer.body.etags[at]);
    }
  });

  test("tells all faults, missing and repeated keys among them", async () => {
    const [a, b] = await added(2);
    const data = [
      { item_id: a!["item_id"], name: "changed" },
      { name: "no key" },
      { item_id: a!["item_id"], name: "again" },
      { item_id: b!["item_id"], name: null },
    ];
    const answer = await shop.post("items", "bulk-update", { data });
    check(answer, {
      status: 400,
      error: "Validation failed",
      errors: ["[1].item_id", "[2].item_id", "[3].name"],
    });
    expect(await nameOf(a!["item_id"])).toBe("made");
    const each = await shop.post("items", "bulk-update", { data, mode: "each" });
    expect(each.status).toBe(207);
    expect(each.body.results.map((one: { success: boolean }) => one.success)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  test("names the index of an unknown key, and changes nothing", async () => {
    const [a] = await added(1);
    const data = [
      { item_id: a!["item_id"], name: "changed" },
      { item_id: "nobody", name: "x" },
    ];
    check(await shop.post("items", "bulk-update", { data }), {
      status: 404,
      error: "Not found",
      errors: ["[1]"],
    });
    expect(await nameOf(a!["item_id"])).toBe("made");
    const each = await shop.post("items", "bulk-update", { data, mode: "each" });
    expect(each.body.results).toMatchObject([
      { success: true },
      { success: false, error: "Not found" },
    ]);
  });

  test("names a missing reference with its record, as an update does", async () => {
    const [a, b] = await added(2);
    const key = a!["item_id"];
    const data = [
      { item_id: b!["item_id"], category_id: "c1" },
      { item_id: key, category_id: "nowhere" },
    ];
    const where = { conditions: [{ key: "item_id", operator: "=", value: key }] };
    const requests: [action: string, body: object, field: string][] = [
      ["bulk-update", { data }, "[1].category_id"],
      ["upsert", { data }, "[1].category_id"],
      ["bulk-update", { where, set: { category_id: "nowhere" }, expect: 1 }, "category_id"],
    ];
    for (const [action, body, field] of requests)
      check(await shop.post("items", action, body), {
        status: 400,
        error: "Foreign key constraint",
        errors: { [field]: ["does not exist"] },
      });
  });

  test("compares versions, of which null means any", async () => {
    const data = codes(2).map((code) => ({ code, name: "made" }));
    const made = (await shop.post("items", "bulk-create", { data })).body;
    const keys = made.data.map((one: { item_id: string }) => ({
      item_id: one.item_id,
      name: "new",
    }));
    check(await shop.post("items", "bulk-update", { data: keys, etags: [null, '"old"'] }), {
      status: 412,
      error: "Precondition failed",
      errors: ["[1]"],
    });
    check(await shop.post("items", "bulk-update", { data: keys, etags: [null] }), {
      status: 400,
      error: "Invalid payload",
    });
    check(await shop.post("items", "bulk-update", { data: keys, etags: made.etags }), {
      status: 200,
    });
  });

  test("refuses versions beside where, which names no record for them", async () => {
    const data = codes(1).map((code) => ({ code, name: "made" }));
    const [made] = (await shop.post("items", "bulk-create", { data })).body.data;
    const where = { conditions: [{ key: "item_id", operator: "=", value: made.item_id }] };
    const requests: [action: string, body: object][] = [
      ["bulk-update", { where, set: { name: "changed" }, expect: 1 }],
      ["bulk-delete", { where, expect: 1 }],
    ];
    for (const [action, body] of requests) {
      check(await shop.post("items", action, { ...body, etags: ['"old"'] }), {
        status: 400,
        error: "Invalid payload",
      });
      expect(await nameOf(made.item_id)).toBe("made");
    }
    for (const [action, body] of requests)
      check(await shop.post("items", action, { ...body, etags: null }), { status: 200 });
  });

  test("refuses beside data and keys what belongs to where", async () => {
    const data = codes(1).map((code) => ({ code, name: "made" }));
    const [{ item_id }] = (await shop.post("items", "bulk-create", { data })).body.data;
    const changed = { data: [{ item_id, name: "changed" }] };
    const requests: [action: string, body: object, member: string][] = [
      ["bulk-update", { ...changed, set: { name: "all" } }, "set"],
      ["bulk-update", { ...changed, expect: 2 }, "expect"],
      ["bulk-delete", { keys: [item_id], expect: 0 }, "expect"],
    ];
    for (const [action, body, member] of requests) {
      const answer = await shop.post("items", action, body);
      check(answer, { status: 400, error: "Invalid payload" });
      expect(answer.body.message).toContain(`${member} goes with where`);
      expect(await nameOf(item_id)).toBe("made");
    }
  });

  test("refuses If-Match, which is the version of one record", async () => {
    const data = codes(1).map((code) => ({ code, name: "made" }));
    const [{ item_id }] = (await shop.post("items", "bulk-create", { data })).body.data;
    const where = { conditions: [{ key: "item_id", operator: "=", value: item_id }] };
    const requests: [action: string, body: object][] = [
      ["bulk-update", { data: [{ item_id, name: "changed" }] }],
      ["bulk-update", { where, set: { name: "changed" }, expect: 1 }],
      ["upsert", { data: { item_id, name: "changed" } }],
      ["bulk-delete", { keys: [item_id] }],
      ["bulk-delete", { where, expect: 1 }],
    ];
    for (const [action, body] of requests) {
      check(await shop.post("items", action, body, { "If-Match": '"old"' }), {
        status: 400,
        error: "Invalid payload",
      });
      expect(await nameOf(item_id)).toBe("made");
    }
  });

  const named = (name: string) => ({ conditions: [{ key: "name", operator: "=", value: name }] });

  test("sets the same fields of all that match, if they are as many as expected", async () => {
    const some = await added(3);
    const data = some.map(({ item_id }) => ({ item_id, name: "to set" }));
    await shop.post("items", "bulk-update", { data });
    const wrong = await shop.post("items", "bulk-update", {
      where: named("to set"),
      set: { qty: 5 },
      expect: 2,
    });
    check(wrong, { status: 409, error: "Unexpected count" });
    expect(wrong.body.message).toContain("3 records match, not 2");
    const few = await shop.post("items", "bulk-update", {
      where: named("to set"),
      set: { qty: 5 },
      expect: 4,
    });
    check(few, { status: 409, error: "Unexpected count" });
    expect(few.body.message).toContain("3 records match, not 4");
    const answer = await shop.post("items", "bulk-update", {
      where: named("to set"),
      set: { qty: 5 },
      expect: 3,
    });
    check(answer, { status: 200 });
    expect(answer.body.data.map(({ qty }: { qty: number }) => qty)).toEqual([5, 5, 5]);
    expect(answer.body.etags).toHaveLength(3);
  });

  test("stores each that matches for itself in mode each", async () => {
    const some = await added(3);
    const data = some.map(({ item_id }) => ({ item_id, name: "to code" }));
    await shop.post("items", "bulk-update", { data });
    const [code] = codes(1);
    const asked = { where: named("to code"), set: { code }, expect: 3 };
    check(await shop.post("items", "bulk-update", asked), {
      status: 409,
      error: "Duplicate entry",
    });
    const each = await shop.post("items", "bulk-update", { ...asked, mode: "each" });
    expect(each.status).toBe(207);
    const taken = { success: false, error: "Duplicate entry", errors: { code: expect.any(Array) } };
    expect(each.body).toMatchObject({
      success: false,
      summary: { succeeded: 1, failed: 2 },
      results: [{ index: 0, success: true, data: { code } }, taken, taken],
    });
    const whole = { where: named("to code"), set: { qty: 8 }, expect: 3, mode: "each" };
    const stored = await shop.post("items", "bulk-update", whole);
    expect(stored.status).toBe(200);
    expect(stored.body).toMatchObject({ success: true, summary: { succeeded: 3, failed: 0 } });
  });

  test("changes nothing where none match and none are expected", async () => {
    const answer = await shop.post("items", "bulk-update", {
      where: named("none"),
      set: { qty: 5 },
      expect: 0,
    });
    check(answer, { status: 200 });
    expect(answer.body).toMatchObject({ data: [], etags: [] });
    const asked = { where: named("none"), expect: 0 };
    const gone = await shop.post("items", "bulk-delete", asked);
    check(gone, { status: 200 });
    expect(gone.body).toEqual({
      success: true,
      message: "items data successfully deleted",
      data: [],
      timestamp: gone.body.timestamp,
    });
    const each = await shop.post("items", "bulk-delete", { ...asked, mode: "each" });
    expect(each.body).toMatchObject({ summary: { succeeded: 0, failed: 0 }, results: [] });
  });

  test.each([
    [
      "where beside data",
      { data: [{ item_id: "i01" }], where: named("x"), set: { qty: 1 }, expect: 1 },
    ],
    ["neither where nor data", { set: { qty: 1 } }],
    ["where without expect", { where: named("x"), set: { qty: 1 } }],
    ["where without set", { where: named("x"), expect: 1 }],
    ["an empty set", { where: named("x"), set: {}, expect: 1 }],
    ["a key in set", { where: named("x"), set: { item_id: "i01", qty: 1 }, expect: 1 }],
    ["where without a condition", { where: { conditions: [] }, set: { qty: 1 }, expect: 1 }],
    [
      "where with an empty group",
      { where: { conditions: [{ conditions: [] }] }, set: { qty: 1 }, expect: 1 },
    ],
    ["an expect beyond the limit", { where: named("x"), set: { qty: 1 }, expect: 61 }],
  ])("refuses %s", async (_name, body) => {
    check(await shop.post("items", "bulk-update", body), { status: 400, error: "Invalid payload" });
  });

  test("refuses an unknown field in where, and rule faults in set", async () => {
    const where = { conditions: [{ key: "no", operator: "=", value: 1 }] };
    check(await shop.post("items", "bulk-update", { where, set: { qty: 1 }, expect: 1 }), {
      status: 400,
      error: "Invalid field",
    });
    check(
      await shop.post("items", "bulk-update", { where: named("x"), set: { qty: "a" }, expect: 1 }),
      { status: 400, error: "Validation failed", errors: ["qty"] },
    );
  });

  test("two of the same records in opposite order both succeed", async () => {
    const some = await added(40);
    const one = some.map(({ item_id }) => ({ item_id, name: "one" }));
    const two = some.map(({ item_id }) => ({ item_id, name: "two" })).toReversed();
    const rounds = Array.from({ length: 6 }, () => [one, two]).flat();
    const answers = await Promise.all(
      rounds.map((data) => shop.post("items", "bulk-update", { data })),
    );
    expect(answers.map(({ status }) => status)).toEqual(rounds.map(() => 200));
  });
});

describe("bulk-delete", () => {
  test("takes keys as objects or values, and answers the deleted records", async () => {
    const [a, b] = await added(2);
    const keys = [b!["item_id"], { item_id: a!["item_id"] }];
    const answer = await shop.post("items", "bulk-delete", { keys });
    check(answer, { status: 200, message: "items data successfully deleted" });
    expect(answer.body.data).toEqual([b, a]);
    expect(answer.body.etags).toBeUndefined();
    expect(await nameOf(a!["item_id"])).toBeUndefined();
  });

  test("names the index of an unknown key, a repeated one, and one that others reference", async () => {
    const before = await total();
    const [a] = await added(1);
    const id = a!["item_id"];
    check(await shop.post("items", "bulk-delete", { keys: [id, "nobody"] }), {
      status: 404,
      error: "Not found",
      errors: ["[1]"],
    });
    check(await shop.post("items", "bulk-delete", { keys: [id, id] }), {
      status: 400,
      error: "Validation failed",
      errors: ["[1].item_id"],
    });
    await shop.post("lines", "create", { item_id: "i02", amount: 1 });
    const used = await shop.post("items", "bulk-delete", { keys: [id, "i02"] });
    check(used, { status: 409, error: "Foreign key constraint", errors: ["[1]"] });
    expect(await total()).toBe(before + 1);
    const each = await shop.post("items", "bulk-delete", {
      keys: ["nobody", "i02", id],
      mode: "each",
    });
    expect(each.status).toBe(207);
    expect(each.body.results.map((one: { success: boolean }) => one.success)).toEqual([
      false,
      false,
      true,
    ]);
  });

  test("deletes what matches, if they are as many as expected", async () => {
    const [a] = await added(1);
    const where = { conditions: [{ key: "code", operator: "=", value: a!["code"] }] };
    check(await shop.post("items", "bulk-delete", { where, expect: 2 }), {
      status: 409,
      error: "Unexpected count",
    });
    const answer = await shop.post("items", "bulk-delete", { where, expect: 1 });
    check(answer, { status: 200 });
    expect(answer.body.data).toEqual([a]);
  });
});

describe("upsert", () => {
  test("changes records that exist, and stores the others", async () => {
    const [a] = await added(1);
    const [code] = codes(1);
    const data = [
      { code, name: "new" },
      { code: a!["code"], name: "changed" },
    ];
    const answer = await shop.post("items", "upsert", { data, by: ["code"] });
    check(answer, { status: 200, message: "items data successfully stored" });
    expect(answer.body.data).toMatchObject([
      { name: "new" },
      { name: "changed", item_id: a!["item_id"], qty: 0 },
    ]);
    expect(answer.body.results).toEqual([
      { index: 0, created: true },
      { index: 1, created: false },
    ]);
  });

  test("finds by the primary key by default; a record without it is new", async () => {
    const [a] = await added(1);
    const [code, other] = codes(2);
    const one = await shop.post("items", "upsert", { data: { code, name: "one" } });
    expect(one.body.results).toEqual([{ index: 0, created: true }]);
    const data = [
      { item_id: a!["item_id"], name: "changed" },
      { item_id: "own", code: other, name: "own" },
    ];
    const many = await shop.post("items", "upsert", { data });
    expect(many.body.results).toEqual([
      { index: 0, created: false },
      { index: 1, created: true },
    ]);
    expect(many.body.data[1].item_id).toBe("own");
  });

  test("refuses missing, repeated and contradicting values", async () => {
    const [a] = await added(1);
    const [code] = codes(1);
    const data = [
      { name: "no code" },
      { code: null, name: "null" },
      { code, name: "once" },
      { code, name: "twice" },
      { code: a!["code"], item_id: "other" },
      { code: "new-one" },
    ];
    const answer = await shop.post("items", "upsert", { data, by: ["code"], mode: "each" });
    expect(answer.status).toBe(207);
    expect(answer.body.results).toMatchObject([
      { error: "Validation failed", errors: { code: ["is required"] } },
      { error: "Validation failed", errors: { code: expect.any(Array) } },
      { success: true, created: true },
      { error: "Validation failed", errors: { code: ["is already in record [2]"] } },
      { error: "Validation failed", errors: { item_id: expect.any(Array) } },
      { error: "Validation failed", errors: { name: ["is required"] } },
    ]);
  });

  test("refuses a by that is no unique index, and names those that are", async () => {
    const answer = await shop.post("items", "upsert", { data: { code: "x" }, by: ["name"] });
    check(answer, { status: 400, error: "Invalid parameter" });
    expect(answer.body.message).toContain('["item_id"] or ["code"]');
  });

  test("never changes another row that has a value of the record", async () => {
    const [a, b] = await added(2);
    const data = [{ item_id: a!["item_id"], code: b!["code"], name: "x" }];
    check(await shop.post("items", "upsert", { data }), {
      status: 409,
      error: "Duplicate entry",
      errors: ["[0].code"],
    });
    expect(await nameOf(b!["item_id"])).toBe("made");
  });

  test("16 clients with the same 60 keys store each once, and no write is lost", async () => {
    const own = codes(60);
    const clients = Array.from({ length: 16 }, (_, at) => at);
    const answers = await Promise.all(
      clients.map((client) => {
        const data = own.map((code) => ({ code, name: `client ${String(client)}`, qty: client }));
        return shop.post("items", "upsert", {
          data: client % 2 ? data.toReversed() : data,
          by: ["code"],
        });
      }),
    );
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      clients.map(() => [200, undefined]),
    );
    const created = answers.flatMap(({ body }) => body.results).filter((one) => one.created);
    expect(created).toHaveLength(60);
    const list = own.map((code) => `'${code}'`).join(", ");
    const rows = await shop.fixture.sql(`select distinct name from items where code in (${list})`);
    expect(rows).toHaveLength(1);
  });
});
