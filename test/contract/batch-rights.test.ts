/** `_batch`: what each caller may do in it, what counts for limits, locks, and repeats after rights have changed. */
import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import { apiKeysOf } from "./api-keys.ts";
import type { Step } from "./batched.ts";
import { check } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

/** Unique per run: another run can use the same Redis. */
const run = randomUUID().slice(0, 8);
const apiKey = apiKeysOf(run);

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "items",
      columns: {
        item_id: "key",
        tenant: "text(10)",
        name: "text(40)",
        cost: "integer",
        place_id: "text(36)",
        status: "text(20)",
      },
    },
    {
      name: "item_parts",
      columns: {
        part_id: "key",
        item_id: { type: "text(36)", references: { table: "items", column: "item_id" } },
      },
    },
    { name: "places", columns: { place_id: "key", tenant: "text(10)", name: "text(40)" } },
  ],
  endpoints: {
    items: {
      tableName: "items",
      action: {
        create: true,
        read: true,
        first: true,
        update: true,
        delete: true,
        lookup: true,
        lock: true,
        "bulk-create": true,
        "bulk-update": true,
        "bulk-delete": true,
        upsert: true,
        "change-status": true,
        "update-composite": true,
      },
      fieldNameLookup: { text: "name" },
      masterDetail: { detailTable: "item_parts", foreignKey: "item_id" },
      workflow: {},
      access: {
        admin: "*",
        limited: "*",
        clerk: [
          "create",
          "read",
          "first",
          "update",
          "delete",
          "bulk-create",
          "bulk-delete",
          "upsert",
          "change-status",
          "update-composite",
        ],
        reader: ["read"],
        moved: ["create", "read", "update", "delete"],
      },
      rowScope: { clerk: { tenant: "{{claims.tenant}}" } },
      hiddenFields: { clerk: ["cost"], moved: ["cost"] },
    },
    places: {
      tableName: "places",
      action: { create: true, read: true },
      access: { admin: "*", limited: "*", clerk: ["read"] },
    },
  },
  project: {
    batch: { enabled: true, maxSteps: 10 },
    locking: { enforceResourceLocks: true },
    rateLimit: { windowSeconds: 600, max: 1_000, actions: { lookup: 4 } },
    auth: {
      apiKeys: [
        apiKey("admin", ["admin"]),
        apiKey("clerk", ["clerk"], { tenant: "a" }),
        apiKey("reader", ["reader"]),
        apiKey("nobody", []),
        apiKey("limited", ["limited"]),
      ],
      anonymous: { roles: ["guest"] },
    },
  },
});
beforeEach(() => fixture.sql("delete from items"));

const by = (id: string): Record<string, string> =>
  id === "" ? {} : { "x-api-key": `key of ${id}` };
const batch = (
  id: string,
  steps: readonly Step[],
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Answer> => fixture.post("_batch", { steps, ...more }, { ...by(id), ...headers });
const create = (item_id: string, more: object = {}): Step => ({
  id: item_id,
  endpoint: "items",
  action: "create",
  body: { item_id, name: item_id, ...more },
});
const read: Step = { endpoint: "items", action: "read", body: { page: 1 } };
const rows = () => fixture.sql("select * from items order by item_id");

describe("each step needs its own right", () => {
  test.each<[string, Step[], number, string, number]>([
    ["reader", [read, create("x")], 403, "Forbidden", 1],
    [
      "clerk",
      [create("x"), { endpoint: "places", action: "create", body: { name: "p" } }],
      403,
      "Forbidden",
      1,
    ],
    ["nobody", [read], 403, "Forbidden", 0],
    ["", [read], 401, "Unauthorized", 0],
  ])("of %s: %j is %i", async (id, steps, status, error, index) => {
    const answer = await batch(id, steps);
    check(answer, { status, error });
    expect(answer.body.failed_step.index).toBe(index);
    expect(await rows()).toEqual([]);
  });

  test.each<[string, number, string]>([
    ["nobody", 403, "Forbidden"],
    ["", 401, "Unauthorized"],
  ])("and a caller without any is refused before the body is read: %s", async (id, ...refusal) => {
    const [status, error] = refusal;
    for (const body of ["{", {}, { steps: [] }, { steps: [{ endpoint: "none" }] }])
      check(await fixture.post("_batch", body, by(id)), { status, error });
    check(await fixture.post("_batch", {}, by("reader")), {
      status: 400,
      error: "Invalid payload",
    });
  });

  test("and a name that the caller may not use is not hinted at", async () => {
    const answer = await batch("reader", [{ endpoint: "place", action: "read", body: {} }]);
    check(answer, { status: 404, error: "Not found", message: "Unknown endpoint" });
  });

  test("credentials that are wrong are refused before all", async () => {
    check(await fixture.post("_batch", { steps: [read] }, { "x-api-key": "wrong" }), {
      status: 401,
      error: "Unauthorized",
    });
  });

  test("rows and columns are those of the caller, in references too", async () => {
    const answer = await batch("clerk", [
      create("x", { cost: 5 }),
      read,
      {
        endpoint: "items",
        action: "update",
        body: { item_id: "x", name: { $ref: "x.data.tenant" } },
      },
    ]);
    check(answer, { status: 200 });
    expect(answer.body.data[0].body.data).not.toHaveProperty("cost");
    expect(await rows()).toMatchObject([{ item_id: "x", tenant: "a", name: "a" }]);
    const hidden = await batch("clerk", [
      create("y"),
      {
        endpoint: "items",
        action: "update",
        body: { item_id: "y", name: { $ref: "y.data.cost" } },
      },
    ]);
    check(hidden, { status: 400, error: "Invalid payload" });
    expect(await rows()).toHaveLength(1);
    const outside = await batch("clerk", [create("z", { tenant: "b" })]);
    check(outside, { status: 403, error: "Forbidden" });
  });

  const independent = { independent: true };
  test.each<[string, Step]>([
    ["reader", { endpoint: "places", action: "read", body: { page: 1 } }],
    ["reader", { endpoint: "items", action: "create", body: {} }],
    ["reader", { endpoint: "place", action: "read", body: {} }],
    ["reader", { endpoint: "items", action: "aggregate", body: {} }],
    ["reader", { endpoint: "items", action: "nonsense", body: {} }],
    ["clerk", { endpoint: "items", action: "lookup", body: {} }],
    ["nobody", { endpoint: "place", action: "read", body: {} }],
    ["", read],
  ])("an independent step of %s is refused alone, as its request is: %j", async (id, step) => {
    const single = await fixture.post(`${step.endpoint}/${step.action}`, step.body, by(id));
    expect([401, 403, 404]).toContain(single.status);
    const answer = await batch(id, [step, { ...step, id: "again" }], independent);
    check(answer, { status: 200 });
    const { status, body } = single;
    expect(answer.body.data).toEqual([
      { id: null, status, body: { ...body, timestamp: expect.any(String) } },
      { id: "again", status, body: { ...body, timestamp: expect.any(String) } },
    ]);
  });

  test("and independent steps beside it are answered", async () => {
    const place = { endpoint: "places", action: "read", body: {} };
    const answer = await batch("reader", [read, place, read], independent);
    check(answer, { status: 200 });
    expect(answer.body.data).toMatchObject([
      { status: 200, body: { success: true } },
      { status: 403, body: { success: false, error: "Forbidden" } },
      { status: 200, body: { success: true } },
    ]);
  });

  test.each<[string, Step]>([
    ["a write", create("x")],
    ["an action that is no step", { endpoint: "items", action: "lock/status", body: {} }],
    ["if_match at a read", { ...read, if_match: '"x"' }],
    ["an unknown reference", { ...read, body: { page: { $ref: "no.count" } } }],
  ])(
    "but %s refuses an independent batch, beside steps that are refused alone",
    async (_, step) => {
      const unknown = { endpoint: "place", action: "read", body: {} };
      const refused = await batch("admin", [unknown, step], independent);
      check(refused, { status: 400, error: "Invalid payload" });
      expect(refused.body.failed_step.index).toBe(1);
    },
  );
});

describe("limits", () => {
  const left = ({ headers }: Answer, name: string): number =>
    Number(new RegExp(`"${name}";r=(\\d+)`).exec(headers.get("RateLimit") ?? "")?.[1]);

  test("count each step as a request", async () => {
    const before = left(await batch("admin", [read]), "default");
    const answer = await batch("admin", [read, read, read]);
    check(answer, { status: 200 });
    expect(left(answer, "default")).toBe(before - 3);
  });

  test("are both told of a single step, the general one first", async () => {
    const step = { endpoint: "items", action: "lookup", body: {} };
    const { headers } = await batch("admin", [step]);
    for (const name of ["RateLimit", "RateLimit-Policy"])
      expect(headers.get(name)).toMatch(/^"default";[^,]+, "lookup";[^,]+$/);
  });

  test("of an action count its steps; the first one too many refuses the batch", async () => {
    const lookup: Step = { endpoint: "items", action: "lookup", body: {} };
    const two = await batch("limited", [lookup, create("one"), lookup]);
    check(two, { status: 200 });
    expect(left(two, "lookup")).toBe(2);
    const three = await batch("limited", [
      create("two"),
      lookup,
      lookup,
      { ...lookup, id: "third" },
    ]);
    check(three, { status: 429, error: "Too many requests" });
    expect(three.body.failed_step).toEqual({ index: 3, id: "third" });
    expect(three.headers.get("Retry-After")).toMatch(/^\d+$/);
    expect((await rows()).map(({ item_id }) => item_id)).toEqual(["one"]);
    const alone = await batch("limited", [lookup, read, lookup], { independent: true });
    check(alone, { status: 200 });
    const tooMany = { success: false, error: "Too many requests" };
    expect(alone.body.data).toMatchObject([
      { status: 429, body: tooMany },
      { status: 200, body: { success: true } },
      { status: 429, body: tooMany },
    ]);
  });
});

describe("locks", () => {
  const acquire = async (item_id: string): Promise<string> => {
    const lock_keys = [{ key: "item_id", value: item_id }];
    const answer = await fixture.post("items/lock/acquire", { lock_keys }, by("admin"));
    check(answer, { status: 200 });
    return answer.body.data.lock_token;
  };
  const update = (item_id: string, lock_token?: string): Step => ({
    endpoint: "items",
    action: "update",
    body: { item_id, name: "changed" },
    ...(lock_token !== undefined && { lock_token }),
  });

  test("of a record need the token of its step", async () => {
    for (const id of ["a", "b", "c"])
      await fixture.post("items/create", create(id).body, by("admin"));
    const [a, b] = [await acquire("a"), await acquire("b")];
    const missing = await batch("admin", [update("c"), update("a", a), update("b")]);
    check(missing, { status: 409, error: "Lock conflict" });
    expect(missing.body).toMatchObject({
      failed_step: { index: 2 },
      data: { conflicting_key: { value: "b" } },
    });
    check(await batch("admin", [update("a", b)]), { status: 409, error: "Lock conflict" });
    expect(await rows()).toMatchObject([{ name: "a" }, { name: "b" }, { name: "c" }]);
    check(await batch("admin", [update("c"), update("a", a), update("b", `nonsense, ${b}`)]), {
      status: 200,
    });
    check(
      await batch("admin", [
        {
          endpoint: "items",
          action: "delete",
          body: { where: [{ key: "name", value: "changed" }] },
          lock_token: `${a},${b}`,
        },
      ]),
      { status: 200 },
    );
    expect(await rows()).toEqual([]);
  });
});

describe("a repeat under an Idempotency-Key", () => {
  test("belongs to its caller", async () => {
    const headers = { "Idempotency-Key": `own-${run}` };
    check(await batch("admin", [create("k")], {}, headers), { status: 200 });
    check(await batch("admin", [create("k")], {}, headers), { status: 200 });
    const other = await batch("clerk", [create("k")], {}, headers);
    check(other, { status: 409, error: "Duplicate entry" });
  });

  test("shows a record only while the caller may see it", async () => {
    const headers = { "Idempotency-Key": `seen-${run}` };
    const steps = [create("s"), read, { ...create("t"), id: null }];
    const first = await batch("clerk", steps, {}, headers);
    check(first, { status: 200 });
    await fixture.sql("update items set tenant = 'b' where item_id = 's'");
    const again = await batch("clerk", steps, {}, headers);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body.data[0].body).toMatchObject({ success: true, data: null });
    expect(again.body.data[2]).toEqual(first.body.data[2]);
    expect(await rows()).toHaveLength(2);
  });

  test.each([
    ["update", { item_id: "u", name: "mine" }],
    ["change-status", { item_id: "u", status: "mine" }],
    ["update-composite", { items: { item_id: "u", name: "mine" } }],
  ])("of a step %s shows the record only while the caller may see it", async (action, body) => {
    check(await batch("clerk", [create("u")]), { status: 200 });
    const headers = { "Idempotency-Key": `${action}-${run}` };
    const steps = [{ endpoint: "items", action, body }];
    const first = await batch("clerk", steps, {}, headers);
    check(first, { status: 200 });
    expect((await batch("clerk", steps, {}, headers)).body).toEqual(first.body);
    await move("u");
    const again = await batch("clerk", steps, {}, headers);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body.data[0]).toMatchObject({ status: 200, body: { success: true, data: null } });
  });

  test("of independent steps has the same refusals again", async () => {
    const headers = { "Idempotency-Key": `alone-${run}` };
    const steps = [read, { endpoint: "places", action: "create", body: {} }, read];
    const first = await batch("reader", steps, { independent: true }, headers);
    const again = await batch("reader", steps, { independent: true }, headers);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expect(first.body.data.map(({ status }: { status: number }) => status)).toEqual([
      200, 403, 200,
    ]);
  });

  const bulkBody = (ids: readonly string[]) => ({
    data: ids.map((item_id) => ({ item_id, name: item_id })),
  });
  const move = (id: string) => fixture.sql(`update items set tenant = 'b' where item_id = '${id}'`);

  test.each([
    ["bulk-create", "all"],
    ["bulk-create", "each"],
    ["upsert", "all"],
    ["upsert", "each"],
  ])("of %s in mode %s shows each record only while the caller may see it", async (name, mode) => {
    const body = { ...bulkBody(["one", "two", "three"]), mode };
    const headers = { ...by("clerk"), "Idempotency-Key": `bulk-${name}-${mode}-${run}` };
    const first = await fixture.post(`items/${name}`, body, headers);
    check(first, { status: name === "bulk-create" && mode === "all" ? 201 : 200 });
    await move("two");
    const again = await fixture.post(`items/${name}`, body, headers);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    expect(again.status).toBe(first.status);
    const shown = ({ body: { data, results } }: Answer): unknown[] =>
      data ?? results.map((one: { data: unknown }) => one.data);
    expect(shown(again)).toEqual(shown(first).map((one, at) => (at === 1 ? null : one)));
    expect(JSON.stringify(again.body)).not.toContain('"two"');
    expect(await rows()).toHaveLength(3);
  });

  test.each(["all", "each"])(
    "of bulk-delete in mode %s shows the deleted records",
    async (mode) => {
      for (const id of ["one", "two"])
        await fixture.post("items/create", create(id).body, by("clerk"));
      const headers = { ...by("clerk"), "Idempotency-Key": `bulk-delete-${mode}-${run}` };
      const body = { keys: ["one", "two"], mode };
      const first = await fixture.post("items/bulk-delete", body, headers);
      check(first, { status: 200 });
      const again = await fixture.post("items/bulk-delete", body, headers);
      expect(again.headers.get("Idempotency-Replayed")).toBe("true");
      expect(again.body).toEqual(first.body);
      check(await batch("clerk", [{ endpoint: "items", action: "bulk-delete", body }]), {
        status: mode === "all" ? 404 : 400,
        error: mode === "all" ? "Not found" : "Invalid payload",
      });
    },
  );

  test("of a bulk step shows each record only while the caller may see it", async () => {
    const headers = { "Idempotency-Key": `bulk-step-${run}` };
    const steps = ["bulk-create", "upsert"].map((action) => ({
      endpoint: "items",
      action,
      body: bulkBody(["one", "two", "three"].map((id) => `${id} of ${action}`)),
    }));
    const first = await batch("clerk", steps, {}, headers);
    check(first, { status: 200 });
    for (const action of ["bulk-create", "upsert"]) await move(`two of ${action}`);
    const again = await batch("clerk", steps, {}, headers);
    expect(again.headers.get("Idempotency-Replayed")).toBe("true");
    for (const at of [0, 1]) {
      const { data } = first.body.data[at].body;
      expect(again.body.data[at].body.data).toEqual([data[0], null, data[2]]);
    }
    expect(JSON.stringify(again.body)).not.toContain("two of");
    expect(await rows()).toHaveLength(6);
  });
});
