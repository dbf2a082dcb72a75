/** Keys, versions, conditions and counts of the bulk actions, and what the database checks only at the end. */
import { beforeEach, describe, expect, inject, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { check } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const bulk = { "bulk-create": true, "bulk-update": true, "bulk-delete": true, upsert: true };
const action = { ...bulk, read: true, first: true, create: true };

/** A key whose collation ignores case. */
const caseless: Record<EngineName, string> = {
  sqlite: "text collate nocase primary key",
  postgres: "citext primary key",
  mysql: "varchar(40) collate utf8mb4_general_ci primary key",
};

const fixture = openForTests(openFixture, {
  tables: [
    { name: "owners", columns: { owner_id: "key", title: "text(20)" } },
    {
      name: "pets",
      columns: {
        pet_id: "identity",
        name: { type: "text(20)", notNull: true },
        age: "integer",
        owner_id: { type: "text(36)", references: { table: "owners", column: "owner_id" } },
      },
    },
    {
      name: "visits",
      columns: {
        visit_id: "identity",
        pet_id: { type: "integer", references: { table: "pets", column: "pet_id" } },
        cost: "integer",
      },
    },
    {
      name: "pairs",
      columns: { a: "integer", b: "text(20)", note: "text(20)" },
      primaryKey: ["a", "b"],
    },
    { name: "papers", columns: { paper_id: "identity", body: "longtext", pages: "integer" } },
    {
      name: "branches",
      columns: {
        branch_id: "key",
        trunk_id: { type: "text(36)", references: { table: "branches", column: "branch_id" } },
        size: { type: "integer", notNull: true, default: "7" },
      },
    },
  ],
  setUp: (name) => [
    ...(name === "postgres" ? ["create extension citext"] : []),
    `create table words (word ${caseless[name]}, meaning varchar(40))`,
    "insert into owners (owner_id, title) values ('o1', 'one'), ('o2', 'two')",
  ],
  endpoints: {
    pets: {
      tableName: "pets",
      action,
      relations: {
        owner: { endpoint: "owners", column: "owner_id" },
        visits: { endpoint: "visits", foreignColumn: "pet_id" },
      },
      defaultScope: { age: { operator: "<", value: 50 } },
    },
    owners: { tableName: "owners", action },
    visits: { tableName: "visits", action },
    pairs: { tableName: "pairs", action },
    words: { tableName: "words", action },
    branches: { tableName: "branches", action },
    papers: { tableName: "papers", action },
    handled: {
      tableName: "pets",
      action,
      components: { onBeforeInsert: ["components/pets.ts#keyed"] },
    },
  },
  components: {
    "components/pets.ts": {
      keyed: ({ data }: { data: object & { age?: number } }) => ({
        ...(data.age !== undefined && { pet_id: data.age }),
        ...data,
      }),
    },
  },
  project: { limits: { bulkRecords: 50 } },
  env: { BODY_LIMIT: "50000000" },
});
beforeEach(async () => {
  for (const table of ["visits", "pets", "pairs", "words"])
    await fixture.sql(`delete from ${table}`);
});

const post = (path: string, body: unknown): Promise<Answer> => fixture.post(path, body);
const pets = async (number: number, more: object = {}): Promise<Record<string, unknown>[]> => {
  const data = Array.from({ length: number }, (_, at) => ({ name: `pet ${at}`, age: at, ...more }));
  const answer = await post("pets/bulk-create", { data });
  check(answer, { status: 201 });
  return answer.body.data.map((one: object, at: number) => ({
    ...one,
    etag: answer.body.etags[at],
  }));
};
const names = async (): Promise<unknown[]> =>
  (await fixture.sql("select name from pets order by pet_id")).map(({ name }) => name);
const successes = ({ body }: Answer): boolean[] =>
  body.results.map(({ success }: { success: boolean }) => success);

describe("more records than limits.bulkRecords", () => {
  const many = Array.from({ length: 51 }, () => ({ pet_id: "faulty", nope: 1 }));
  test.each<[string, object]>([
    ["bulk-create", { data: many }],
    ["bulk-create", { data: many, mode: "each" }],
    ["bulk-update", { data: many, etags: [1] }],
    ["bulk-delete", { keys: many.map(() => ["faulty"]) }],
    ["upsert", { data: many, by: ["nope"] }],
  ])("are refused by %s before anything else", async (name, body) => {
    const answer = await post(`pets/${name}`, body);
    check(answer, { status: 400, error: "Invalid payload" });
    expect(answer.body.message).toContain("50");
    expect(answer.body.errors).toBeUndefined();
  });
});

describe("a key", () => {
  test.each(["bulk-update", "bulk-delete"])(
    "twice, missing, null or of another type is 400 on its record in %s",
    async (name) => {
      const [one, two] = await pets(2);
      const list: object[] = [
        { pet_id: one!["pet_id"] },
        { pet_id: String(one!["pet_id"]) },
        {},
        { pet_id: null },
        { pet_id: "x" },
        { pet_id: two!["pet_id"] },
        { pet_id: two!["pet_id"] },
        { pet_id: 1.5 },
      ];
      const isUpdate = name === "bulk-update";
      const data = isUpdate ? list.map((each) => ({ name: "new", ...each })) : list;
      const body = isUpdate ? { data } : { keys: data };
      const all = await post(`pets/${name}`, body);
      check(all, {
        status: 400,
        error: "Validation failed",
        errors: [1, 2, 3, 4, 6, 7].map((at) => `[${at}].pet_id`),
      });
      expect(await names()).toEqual(["pet 0", "pet 1"]);
      const each = await post(`pets/${name}`, { ...body, mode: "each" });
      expect(each.status).toBe(207);
      expect(each.body.summary).toEqual({ succeeded: 2, failed: 6 });
      expect(successes(each)).toEqual([true, false, false, false, false, true, false, false]);
      for (const result of each.body.results)
        if (!result.success)
          expect(result).toMatchObject({
            error: "Validation failed",
            errors: { pet_id: expect.any(Array) },
          });
      expect(await names()).toEqual(isUpdate ? ["new", "new"] : []);
    },
  );

  test.each<[string, string, object[]]>([
    ["one column", "[2].pet_id", [{ pet_id: 7 }, {}, { pet_id: "7" }, {}]],
    [
      "two columns",
      "[2].a",
      [
        { a: 1, b: "x" },
        { a: 1, b: "y" },
        { a: 1, b: "x" },
        { a: 2, b: "x" },
      ],
    ],
    [
      "one column, which a handler sees",
      "[2].pet_id",
      [{ pet_id: 7 }, { pet_id: 8 }, { pet_id: "7" }, { pet_id: 9 }],
    ],
    [
      "one column, which a handler makes",
      "[2].pet_id",
      [{ age: 7 }, { age: 8 }, { age: 7 }, { age: 9 }],
    ],
  ])("of %s twice is 400 on its second record in bulk-create", async (name, fault, keys) => {
    const [endpoint, column] =
      fault === "[2].a"
        ? ["pairs", "note"]
        : [name.includes("handler") ? "handled" : "pets", "name"];
    const data = keys.map((one) => ({ ...one, [column!]: "new" }));
    const faulty = [...data, { ...data[1], [column!]: { no: 1 } }];
    check(await post(`${endpoint}/bulk-create`, { data: faulty }), {
      status: 400,
      error: "Validation failed",
      errors: [fault, `[4].${column}`],
    });
    const each = await post(`${endpoint}/bulk-create`, { data, mode: "each" });
    expect(each.status).toBe(207);
    expect(successes(each)).toEqual([true, true, false, true]);
    expect(each.body.results[2]).toMatchObject({ error: "Validation failed" });
    const again = await post(`${endpoint}/bulk-create`, { data: data.slice(0, 1) });
    check(again, { status: 409, error: "Duplicate entry" });
  });

  test("of two columns is an object with both", async () => {
    const data = [
      { a: 1, b: "x" },
      { a: 1, b: "y" },
      { a: 2, b: "x" },
    ];
    check(await post("pairs/bulk-create", { data }), { status: 201 });
    check(await post("pairs/bulk-delete", { keys: [1] }), {
      status: 400,
      error: "Invalid payload",
    });
    check(await post("pairs/bulk-delete", { keys: [{ a: 1 }, { b: "x" }] }), {
      status: 400,
      error: "Validation failed",
      errors: ["[0].b", "[1].a"],
    });
    check(await post("pairs/bulk-update", { data: data.map((one) => ({ ...one, note: one.b })) }), {
      status: 200,
    });
    const keys = [{ b: "x", a: 2 }, data[0], { a: 9, b: "x" }];
    check(await post("pairs/bulk-delete", { keys }), {
      status: 404,
      error: "Not found",
      errors: ["[2]"],
    });
    const answer = await post("pairs/bulk-delete", { keys: keys.slice(0, 2) });
    check(answer, { status: 200 });
    expect(answer.body.data).toMatchObject([
      { a: 2, b: "x", note: "x" },
      { a: 1, b: "x", note: "x" },
    ]);
  });

  test("of another record that exists already is a duplicate with its index", async () => {
    check(await post("pairs/bulk-create", { data: [{ a: 1, b: "x" }] }), { status: 201 });
    const data = [
      { a: 2, b: "x" },
      { a: 1, b: "x" },
    ];
    const answer = await post("pairs/bulk-create", { data });
    check(answer, { status: 409, error: "Duplicate entry" });
    expect(Object.keys(answer.body.errors).every((name) => name.startsWith("[1]"))).toBe(true);
  });

  test("whose collation ignores case is one key in any case", async () => {
    const data = [{ word: "Acme" }, { word: "Other" }, { word: "Third" }];
    check(await post("words/bulk-create", { data }), { status: 201 });
    const twice = { data: ["acme", "other", "ACME"].map((word) => ({ word, meaning: "new" })) };
    check(await post("words/bulk-update", twice), {
      status: 400,
      error: "Validation failed",
      errors: ["[2].word"],
    });
    const updated = await post("words/bulk-update", { data: twice.data.slice(0, 2) });
    check(updated, { status: 200 });
    const stored = await post("words/upsert", {
      data: ["ACME", "new", "tHird"].map((word) => ({ word, meaning: "stored" })),
    });
    check(stored, { status: 200 });
    expect(stored.body.results.map(({ created }: { created: boolean }) => created)).toEqual([
      false,
      true,
      false,
    ]);
    check(await post("words/upsert", { data: [{ word: "A" }, { word: "a" }] }), {
      status: 400,
      error: "Validation failed",
      errors: ["[1].word"],
    });
    check(await post("words/bulk-delete", { keys: ["aCME", "THIRD", "other", "NEW"] }), {
      status: 200,
    });
    expect(await fixture.sql("select * from words")).toEqual([]);
  });

  describe.runIf(inject("engine") === "mysql").each(["café", "cafe "])(
    "that the collation calls equal to a stored one: %j",
    (other) => {
      const both = ["cafe", other].map((word) => ({ word, meaning: "new" }));
      test.each([
        ["bulk-update", { data: both }],
        ["upsert", { data: both }],
        ["bulk-delete", { keys: ["cafe", other] }],
      ])("is the same record in %s", async (name, body) => {
        check(await post("words/create", { word: "cafe", meaning: "old" }), { status: 201 });
        check(await post(`words/${name}`, body), {
          status: 400,
          error: "Validation failed",
          errors: { "[1].word": ["is already in record [0]"] },
        });
        expect(await fixture.sql("select meaning from words")).toEqual([{ meaning: "old" }]);
      });
    },
  );

  test.runIf(inject("engine") === "mysql")(
    "that only the database calls equal to a stored one is not another request's in upsert",
    async () => {
      check(await post("words/create", { word: "strase", meaning: "old" }), { status: 201 });
      const data = ["strase", "straße"].map((word) => ({ word, meaning: "new" }));
      check(await post("words/upsert", { data }), {
        status: 400,
        error: "Validation failed",
        errors: { "[1].word": ["is already in record [0]"] },
      });
      const each = await post("words/upsert", { data, mode: "each" });
      expect(successes(each)).toEqual([true, false]);
      expect(await fixture.sql("select word, meaning from words")).toEqual([
        { word: "strase", meaning: "new" },
      ]);
    },
  );
});

describe("etags", () => {
  test.each(["bulk-update", "bulk-delete"])("of %s: another version is 412", async (name) => {
    const made = await pets(3);
    const list = made.map(({ pet_id }) => ({ pet_id }));
    const body =
      name === "bulk-update"
        ? { data: list.map((one) => ({ ...one, name: "new" })) }
        : { keys: list };
    const own = made.map(({ etag }) => etag);
    for (const etags of [[], own.slice(1), [...own, null]])
      check(await post(`pets/${name}`, { ...body, etags }), {
        status: 400,
        error: "Invalid payload",
      });
    check(await post(`pets/${name}`, { ...body, etags: [null, 7, null] }), {
      status: 400,
      error: "Invalid payload",
    });
    const etags = [own[0], '"other"', null];
    check(await post(`pets/${name}`, { ...body, etags }), {
      status: 412,
      error: "Precondition failed",
      errors: ["[1]"],
    });
    expect(await names()).toEqual(["pet 0", "pet 1", "pet 2"]);
    const each = await post(`pets/${name}`, { ...body, etags, mode: "each" });
    expect(each.status).toBe(207);
    expect(each.body.results).toMatchObject([
      { success: true },
      { success: false, error: "Precondition failed" },
      { success: true },
    ]);
  });
});

describe("where", () => {
  const has = (operator: string, where?: object) => ({
    conditions: [{ key: "visits", operator, ...(where && { where }) }],
  });
  const dear = { conditions: [{ key: "cost", operator: ">", value: 10 }] };

  /** Four pets: no visit, a cheap one, a dear one, both. The second owner has the last two. */
  async function visited(): Promise<void> {
    const made = await pets(4);
    const ids = made.map(({ pet_id }) => pet_id);
    await fixture.sql(
      `update pets set owner_id = 'o2' where pet_id in (${String(ids[2])}, ${String(ids[3])})`,
    );
    const costs = [
      [1, 5],
      [2, 50],
      [3, 5],
      [3, 50],
    ] as const;
    const data = costs.map(([at, cost]) => ({ pet_id: ids[at], cost }));
    check(await post("visits/bulk-create", { data }), { status: 201 });
  }

  test.each<[string, object, number[]]>([
    ["ANY", has("ANY"), [1, 2, 3]],
    ["ANY with a condition", has("ANY", dear), [2, 3]],
    ["NONE", has("NONE"), [0]],
    ["NONE with a condition", has("NONE", dear), [0, 1]],
    ["ALL", has("ALL", dear), [0, 2]],
    ["a path", { conditions: [{ key: "owner.title", operator: "=", value: "two" }] }, [2, 3]],
    [
      "both",
      {
        logic: "AND",
        conditions: [
          { key: "owner.title", operator: "=", value: "two" },
          { key: "visits", operator: "ALL", where: dear },
        ],
      },
      [2],
    ],
  ])("takes %s", async (_name, where, found) => {
    await visited();
    const listed = await post("pets/read", { where });
    expect(listed.body.count).toBe(found.length);
    check(await post("pets/bulk-update", { where, set: { name: "hit" }, expect: 4 }), {
      status: 409,
      error: "Unexpected count",
      data: { count: found.length },
    });
    const answer = await post("pets/bulk-update", {
      where,
      set: { name: "hit" },
      expect: found.length,
    });
    check(answer, { status: 200 });
    expect(answer.body.data).toHaveLength(found.length);
    const expected = [0, 1, 2, 3].map((at) => (found.includes(at) ? "hit" : `pet ${at}`));
    expect(await names()).toEqual(expected);
    await fixture.sql("delete from visits");
  });

  test("of bulk-delete takes conditions on many, and deletes nothing when another one counts", async () => {
    await visited();
    const where = has("NONE");
    check(await post("pets/bulk-delete", { where, expect: 2 }), {
      status: 409,
      error: "Unexpected count",
      data: { count: 1 },
    });
    expect(await names()).toHaveLength(4);
    check(await post("pets/bulk-delete", { where, expect: 1 }), { status: 200 });
    expect(await names()).toEqual(["pet 1", "pet 2", "pet 3"]);
    check(await post("pets/bulk-delete", { where: has("ANY"), expect: 3 }), {
      status: 409,
      error: "Foreign key constraint",
    });
    expect(await names()).toHaveLength(3);
  });

  test.each([9_007_199_254_740_992, "99999999999999999999", -1])(
    "counts a condition that no record meets: %s",
    async (value) => {
      await pets(2);
      const where = { conditions: [{ key: "pet_id", operator: "=", value }] };
      const told = { status: 409, error: "Unexpected count", data: { count: 0 } };
      for (const [name, more] of [
        ["bulk-update", { set: { age: 1 } }],
        ["bulk-delete", {}],
      ] as const) {
        check(await post(`pets/${name}`, { where, ...more, expect: 1 }), told);
        check(await post(`pets/${name}`, { where, ...more, expect: 0 }), { status: 200 });
      }
      expect(await names()).toHaveLength(2);
    },
  );

  test("passes over defaultScope", async () => {
    await pets(3, { age: 80 });
    const where = { conditions: [{ key: "age", operator: "=", value: 80 }] };
    expect((await post("pets/read", { where })).body.count).toBe(0);
    check(await post("pets/bulk-update", { where, set: { age: 90 }, expect: 3 }), { status: 200 });
  });

  test("a path in data or set is an unknown field", async () => {
    const [one] = await pets(1);
    const path = { "owner.title": "x" };
    const strict = await post("pets/bulk-update", { data: [{ pet_id: one!["pet_id"], ...path }] });
    expect(strict.status, JSON.stringify(strict.body)).toBe(400);
    const set = await post("pets/bulk-update", {
      where: { conditions: [{ key: "age", operator: "=", value: 0 }] },
      set: path,
      expect: 1,
    });
    expect(set.status, JSON.stringify(set.body)).toBe(400);
  });

  test.each<[string, object]>([
    ["bulk-delete with where and keys", { keys: [1], where: has("ANY"), expect: 1 }],
    ["bulk-delete without expect", { where: has("ANY") }],
    ["bulk-delete with a negative expect", { where: has("ANY"), expect: -1 }],
    ["bulk-delete with an expect that is a text", { where: has("ANY"), expect: "1" }],
    ["bulk-delete with half an expect", { where: has("ANY"), expect: 0.5 }],
    ["bulk-delete with an expect beyond the limit", { where: has("ANY"), expect: 51 }],
    ["bulk-delete with an empty where", { where: {}, expect: 0 }],
    ["bulk-delete with where null", { where: null, expect: 0 }],
    ["bulk-delete with neither", {}],
    ["bulk-delete with ALL without where", { where: has("ALL"), expect: 0 }],
  ])("refuses %s", async (_name, body) => {
    check(await post("pets/bulk-delete", body), { status: 400, error: "Invalid payload" });
  });
});

describe.each(["bulk-create", "upsert"])("records of %s that refer to each other", (name) => {
  const branch = (branch_id: string, trunk_id: string | null, more: object = {}) => ({
    branch_id,
    trunk_id,
    ...more,
  });
  beforeEach(async () => {
    await fixture.sql("update branches set trunk_id = null");
    await fixture.sql("delete from branches");
  });

  test.each([
    ["behind the other", [branch("a", null), branch("b", "a")]],
    ["before the other", [branch("c", "b"), branch("b", "a"), branch("a", "a")]],
    [
      "with other columns",
      [branch("x", null, { size: 5 }), branch("a", null), branch("b", "a", { size: 5 })],
    ],
    ["in a chain", Array.from({ length: 50 }, (_, at) => branch(`n${at}`, `n${at && at - 1}`))],
  ])("are stored %s, and answered in their order", async (_, data) => {
    const answer = await post(`branches/${name}`, { data });
    check(answer, { status: name === "upsert" ? 200 : 201 });
    expect(answer.body.data).toEqual(data.map((one) => ({ size: 7, ...one })));
  });
});

describe("dry_run", () => {
  test.each<[string, (made: Record<string, unknown>[]) => object]>([
    ["bulk-create", () => ({ data: [{ name: "new" }, { name: "newer" }] })],
    ["bulk-update", (made) => ({ data: made.map(({ pet_id }) => ({ pet_id, name: "new" })) })],
    ["bulk-delete", (made) => ({ keys: made.map(({ pet_id }) => pet_id) })],
    ["upsert", (made) => ({ data: [{ pet_id: made[0]!["pet_id"], name: "new" }, { name: "x" }] })],
  ])(
    "of %s answers in both modes what would be answered, and stores nothing",
    async (name, bodyOf) => {
      const body = bodyOf(await pets(2));
      for (const mode of ["all", "each"]) {
        const headers = { "Idempotency-Key": `dry-${name}-${mode}` };
        const answer = await fixture.post(
          `pets/${name}`,
          { ...body, mode, dry_run: true },
          headers,
        );
        expect(answer.status).toBe(name === "bulk-create" && mode === "all" ? 201 : 200);
        expect(answer.body).toMatchObject({ success: true, dry_run: true });
        expect(answer.body[mode === "all" ? "data" : "results"]).toHaveLength(2);
        expect(await names()).toEqual(["pet 0", "pet 1"]);
      }
      const real = await fixture.post(`pets/${name}`, body, {
        "Idempotency-Key": `dry-${name}-all`,
      });
      expect(real.body.dry_run).toBeUndefined();
      expect(real.headers.has("Idempotency-Replayed")).toBe(false);
      expect(real.status).toBe(name === "bulk-create" ? 201 : 200);
    },
  );

  test("of refused records has dry_run, too", async () => {
    const each = await post("pets/bulk-create", {
      data: [{ name: "x" }, { name: null }],
      mode: "each",
      dry_run: true,
    });
    expect(each.status).toBe(207);
    expect(each.body).toMatchObject({
      success: false,
      dry_run: true,
      summary: { succeeded: 1, failed: 1 },
    });
    const all = await post("pets/bulk-create", { data: [{ name: null }], dry_run: true });
    expect(all).toMatchObject({ status: 400, body: { dry_run: true } });
    expect(await names()).toEqual([]);
  });
});

describe("records that are too large for one statement together", () => {
  const papers = (...lengths: number[]): object[] =>
    lengths.map((length) => ({ body: "x".repeat(length) }));

  test.each(["bulk-create", "upsert"])("are stored by several in %s", async (name) => {
    const answer = await post(`papers/${name}`, { data: papers(6e6, 6e6, 6e6) });
    check(answer, { status: name === "upsert" ? 200 : 201 });
    expect(answer.body.data.map(({ body }: { body: string }) => body.length)).toEqual(
      Array.from({ length: 3 }, () => 6e6),
    );
  });

  test.runIf(inject("engine") === "mysql")("are refused where one of them is", async () => {
    const data = papers(9e6, 9e6, 17e6);
    const refused = { status: 413, error: "Payload too large", errors: ["[2]"] };
    check(await post("papers/bulk-create", { data }), refused);
    const each = await post("papers/bulk-create", { data, mode: "each" });
    expect(successes(each)).toEqual([true, true, false]);
  });
});

test("A response that the database cannot keep for an Idempotency-Key is 413, and nothing is stored", async () => {
  // MariaDB takes 16 MB at once, unless its max_allowed_packet says otherwise; the other databases much more.
  const isTooLong = fixture.engine === "mysql";
  await fixture.sql("delete from papers");
  const body = isTooLong ? "repeat('x', 6000000)" : "'short'";
  await fixture.sql(`insert into papers (body) values (${body}), (${body}), (${body})`);
  const data = (await fixture.sql("select paper_id from papers")).map((key) => ({
    ...key,
    pages: 7,
  }));
  for (const _ of ["first", "repeated"]) {
    const answer = await fixture.post(
      "papers/bulk-update",
      { data },
      { "Idempotency-Key": "long" },
    );
    const refused = { status: 413, error: "Payload too large" };
    check(answer, isTooLong ? refused : { status: 200 });
    if (isTooLong) expect(answer.body.message).toContain("send fewer records");
  }
  const stored = await fixture.sql("select distinct pages from papers");
  expect(stored).toEqual([{ pages: isTooLong ? null : 7 }]);
});
