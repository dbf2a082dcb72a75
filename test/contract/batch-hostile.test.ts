/** `_batch`: what is refused before any step runs, hostile bodies, and a project without batches. */
import { beforeEach, describe, expect, test } from "vitest";
import { openBatched, type Step } from "./batched.ts";
import { check } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

const shop = openBatched();
const { post } = shop;
beforeEach(() => shop.empty());

const make = (id: unknown, extra?: unknown): Step => ({
  id,
  endpoint: "customers",
  action: "create",
  body: { name: `of ${String(id)}`, ...(extra !== undefined && { extra }) },
});
const named = (id: string, body: unknown): Step => ({ ...make(id), body });
const ref = (path: unknown) => ({ $ref: path });
const nested = (levels: number): unknown =>
  JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);

/** What is refused, the index of the step at fault (null: none), and a part of the message. */
const refused: readonly [string, unknown, number | null, RegExp][] = [
  ["a list in place of the body", [], null, /must be a JSON object/],
  ["no steps", {}, null, /steps must be a list/],
  ["an empty list of steps", { steps: [] }, null, /at least one step/],
  ["steps that are an object", { steps: { length: 1, 0: make("a") } }, null, /must be a list/],
  ["more steps than maxSteps", { steps: Array(21).fill(make(null)) }, null, /at most 20 .* has 21/],
  ["10,000 steps", { steps: Array(10_000).fill({}) }, null, /at most 20 .* has 10000/],
  [
    "an unknown member",
    { steps: [make("a")], dryrun: true },
    null,
    /"dryrun".*did you mean "dry_run"/,
  ],
  [
    "independent as a text",
    { steps: [make("a")], independent: "true" },
    null,
    /independent must be/,
  ],
  ["dry_run as a text", { steps: [make("a")], dry_run: "true" }, null, /dry_run must be/],
  ["a step that is null", { steps: [make("a"), null] }, 1, /must be an object/],
  ["a step that is a list", { steps: [[]] }, 0, /must be an object/],
  ["a step without an endpoint", { steps: [{ action: "create" }] }, 0, /endpoint is required/],
  [
    "an endpoint that is a number",
    { steps: [{ endpoint: 1, action: "create" }] },
    0,
    /endpoint must be a text/,
  ],
  [
    "a step without an action",
    { steps: [make("a"), { endpoint: "customers" }] },
    1,
    /action is required/,
  ],
  [
    "an unknown member of a step",
    { steps: [{ ...make("a"), ifMatch: "x" }] },
    0,
    /did you mean "if_match"/,
  ],
  ["an id that is a number", { steps: [make(7)] }, 0, /id must be a text/],
  ["an empty id", { steps: [make("")] }, 0, /id must be a text/],
  ["an id of 101 characters", { steps: [make("a".repeat(101))] }, 0, /1 to 100 characters/],
  ["an id that is not Unicode", { steps: [make("\ud800")] }, 0, /well formed/],
  ["an id that comes twice", { steps: [make("a"), make("b"), make("a")] }, 2, /"a" comes twice/],
  [
    "if_match that is a number",
    { steps: [{ ...make("a"), if_match: 1 }] },
    0,
    /if_match must be a text/,
  ],
  [
    "if_match of an action without it",
    { steps: [{ ...make("a"), if_match: "x" }] },
    0,
    /create does not take if_match/,
  ],
  [
    "a lock token of an action without it",
    { steps: [{ ...make("a"), lock_token: "x" }] },
    0,
    /create does not take lock_token/,
  ],
  [
    "a grid",
    { steps: [make("a"), { endpoint: "customers", action: "datatables", body: {} }] },
    1,
    /datatables cannot be a step/,
  ],
  [
    "a lock",
    { steps: [{ endpoint: "customers", action: "lock/acquire", body: {} }] },
    0,
    /lock\/acquire cannot be a step/,
  ],
  [
    "a lock of the project",
    { steps: [{ endpoint: "lock", action: "acquire", body: {} }] },
    0,
    /lock\/acquire cannot be a step/,
  ],
  [
    "a reference to a later step",
    { steps: [make("a", ref("b.data")), make("b")] },
    0,
    /must name an earlier step/,
  ],
  [
    "a reference to itself",
    { steps: [make("a", ref("a.data.name"))] },
    0,
    /must name an earlier step/,
  ],
  [
    "a reference to no step",
    { steps: [make("order"), make("b", ref("oder.data"))] },
    1,
    /no earlier step; did you mean "order"/,
  ],
  [
    "a reference to a whole answer",
    { steps: [make("a"), make("b", ref("a"))] },
    1,
    /must name a member/,
  ],
  [
    "a reference with an empty member",
    { steps: [make("a"), make("b", ref("a."))] },
    1,
    /must name members/,
  ],
  [
    "a reference with an empty member within",
    { steps: [make("a"), make("b", ref("a..name"))] },
    1,
    /must name members/,
  ],
  ["a reference that is a number", { steps: [make("a"), make("b", ref(1))] }, 1, /must be a text/],
  [
    "a reference that is an object",
    { steps: [make("a"), make("b", ref(ref("a.data")))] },
    1,
    /must be a text/,
  ],
  [
    "a reference to __proto__",
    { steps: [make("a"), make("b", ref("__proto__.data"))] },
    1,
    /names no earlier step/,
  ],
  [
    "a reference deep in a body",
    { steps: [make("a"), make("b", [{ x: [ref("c.d")] }])] },
    1,
    /body\.extra\[0\]\.x\[0\]/,
  ],
];

describe("before the first step", () => {
  test.each(refused)("a batch with %s is refused", async (_name, body, index, message) => {
    const answer = await post("_batch", body);
    check(answer, { status: 400, error: "Invalid payload" });
    expect(answer.body.message).toMatch(message);
    expect(answer.body.failed_step?.index ?? null).toBe(index);
    expect(await shop.rows("customers")).toEqual([]);
  });

  test.each<[string, Step, string]>([
    ["endpoint", { endpoint: "custmers", action: "create" }, "Unknown endpoint"],
    ["endpoint of the prototype", { endpoint: "__proto__", action: "create" }, "Unknown endpoint"],
    ["action", { endpoint: "customers", action: "creat" }, "Unknown action"],
    ["action of the prototype", { endpoint: "customers", action: "constructor" }, "Unknown action"],
    ["batch within a batch", { endpoint: "_batch", action: "_batch" }, "Unknown endpoint"],
    [
      "action that is off",
      { endpoint: "journal", action: "update" },
      "The action update is switched off",
    ],
    ["planned action", { endpoint: "journal", action: "clone" }, "The action clone is planned"],
  ])("an unknown %s is 404 in its step", async (_name, step, message) => {
    const answer = await post("_batch", { steps: [make("a"), { ...step, id: "last", body: {} }] });
    check(answer, { status: 404, error: "Not found" });
    expect(answer.body.message).toContain(message);
    expect(answer.body.failed_step).toEqual({ index: 1, id: "last" });
    expect(await shop.rows("customers")).toEqual([]);
  });
});

describe("at its step", () => {
  test.each([
    ["a missing member", "a.data.nope"],
    ["a member of a text", "a.data.name.length"],
    ["an inherited member", "a.data.toString"],
    ["the prototype", "a.data.__proto__"],
    ["the constructor", "a.constructor.name"],
    ["the length of a list", "list.data.length"],
    ["a method of a list", "list.data.at"],
    ["an item that is not there", "list.data.1"],
    ["an item before the first", "list.data.-1"],
    ["an item by another number", "list.data.00"],
    ["an item with an exponent", "list.data.1e0"],
    ["a very large item", "list.data.99999999999999999999"],
    ["a member of null", "a.data.deleted_at.x"],
    ["a path of 10,000 members", `a.data${".x".repeat(10_000)}`],
  ])("a reference to %s is refused", async (_name, path) => {
    const list: Step = { id: "list", endpoint: "customers", action: "read", body: { page: 1 } };
    const answer = await post("_batch", { steps: [make("a"), list, make("b", ref(path))] });
    check(answer, { status: 400, error: "Invalid payload" });
    expect(answer.body.message).toMatch(/^body\.extra: .* does not exist$/);
    expect(answer.body.failed_step).toEqual({ index: 2, id: "b" });
    expect(await shop.rows("customers")).toEqual([]);
  });

  test("own members with names of the prototype are like any other", async () => {
    const extra = JSON.parse(
      '{"__proto__": {"polluted": 1}, "constructor": [2], "toString": null}',
    );
    const answer = await post("_batch", {
      steps: [
        make("a", extra),
        make("b", {
          proto: ref("a.data.extra.__proto__.polluted"),
          list: ref("a.data.extra.constructor.0"),
          none: ref("a.data.extra.toString"),
        }),
        make("c", ref("a.data.extra")),
      ],
    });
    check(answer, { status: 200 });
    const [, b, c] = answer.body.data;
    expect(b.body.data.extra).toEqual({ proto: 1, list: 2, none: null });
    expect(JSON.stringify(c.body.data.extra)).toContain("polluted");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("an id may contain points; the longest one counts", async () => {
    const answer = await post("_batch", {
      steps: [make("a"), make("a.data"), make("c", [ref("a.data.data.name"), ref("a.success")])],
    });
    check(answer, { status: 200 });
    expect(answer.body.data[2].body.data.extra).toEqual(["of a.data", true]);
  });

  test("a value is checked like any other", async () => {
    const steps = [
      make("a"),
      { id: "b", endpoint: "accounts", action: "create", body: { balance: ref("a.data.name") } },
    ];
    const answer = await post("_batch", { steps });
    check(answer, { status: 400, error: "Validation failed", errors: ["balance"] });
    expect(answer.body.failed_step).toEqual({ index: 1, id: "b" });
  });

  test("values that together nest too deeply are refused", async () => {
    const steps = [make("a", nested(40))];
    for (const [id, from] of ["ab", "bc", "cd"])
      steps.push(make(from, wrapped(ref(`${id}.data.extra`), 20)));
    const answer = await post("_batch", { steps });
    check(answer, { status: 400, error: "Invalid payload" });
    expect(answer.body.message).toMatch(/nested deeper/);
  });

  test("references that multiply a value are refused before they fill the memory", async () => {
    const steps = [named("a", { name: "a", extra: "x".repeat(100_000) })];
    for (const [id, before] of ["ba", "cb", "dc", "ed"])
      steps.push(named(id!, { name: id, extra: Array(10).fill(ref(`${before}.data.extra`)) }));
    const answer = await post("_batch", { steps });
    check(answer, { status: 413, error: "Payload too large" });
    expect(answer.body.failed_step.index).toBe(2);
    expect(await shop.rows("customers")).toEqual([]);
  });

  test("thousands of references are replaced in a moment", async () => {
    const many = Array.from({ length: 5_000 }, () => ref("a.data.name"));
    const answer = await post("_batch", { steps: [make("a"), make("b", many)] });
    check(answer, { status: 200 });
    expect(answer.body.data[1].body.data.extra).toHaveLength(5_000);
  });
});

const wrapped = (value: unknown, levels: number): unknown =>
  levels === 0 ? value : { a: wrapped(value, levels - 1) };

test.each(["GET", "PUT", "DELETE"])("%s is 405", async (method) => {
  const answer = await shop.fixture.request("/api/test/_batch", { method });
  check(answer, { status: 405, error: "Method not allowed" });
  expect(answer.headers.get("Allow")).toBe("POST");
});

test("a path below _batch is no batch", async () => {
  check(await post("_batch/read", { steps: [make("a")] }), { status: 404, error: "Not found" });
});

describe("a project without batches", () => {
  const without = openForTests(openFixture, {
    tables: [{ name: "parts", columns: { part_id: "key" } }],
    endpoints: { parts: { tableName: "parts", action: { create: true } } },
  });

  test("says how to switch them on", async () => {
    const answer = await without.post("_batch", { steps: [] });
    check(answer, { status: 404, error: "Not found" });
    expect(answer.body.message).toBe(
      'Batches are switched off; the operator switches them on with {"batch": {"enabled": true}} in project.json',
    );
  });
});

test.each([
  [{ enabled: "yes" }, "batch.enabled"],
  [{ enabled: true, maxSteps: 0 }, "batch.maxSteps"],
  [{ enabled: true, maxSteps: 1001 }, "batch.maxSteps"],
  [{ enabled: true, maxSteps: 1.5 }, "batch.maxSteps"],
  [{ enabled: true, steps: 5 }, "batch.steps"],
  [true, "batch"],
])("the setting %j is a fault at load", async (batch, path) => {
  const opening = openFixture({
    tables: [{ name: "parts", columns: { part_id: "key" } }],
    endpoints: { parts: { tableName: "parts", action: { create: true } } },
    project: { batch },
  });
  await expect(opening).rejects.toThrow(path);
});
