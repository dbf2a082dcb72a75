/**
 * The operator's handlers around create, update, delete and adjust, over HTTP: their input, what they can change, how
 * they refuse, and that nothing is stored after a refusal or a failure. `components-query.test.ts` tests `query`.
 */
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { HookHandler, HookContext } from "../../core/plans/hook.ts";
import { check, record } from "./cases.ts";
import { openWorkshop } from "./workshop.ts";

const { workshop, on, logged } = openWorkshop();
const { post } = workshop;

const count = async () =>
  Number((await workshop.fixture.sql("select count(*) as number from parts"))[0]!["number"]);
const first = async (id: string) =>
  (await post("plain", "first", { where: [{ key: "part_id", value: id }] })).body.data;

/** Each test has its own part, created without handlers. */
let id = "";
let made = 0;
beforeEach(async () => {
  id = `p${++made}`;
  const part = { part_id: id, code: `c-${id}`, name: "bolt", stock: 10, secret: "s" };
  check(await post("plain", "create", part), { status: 201 });
});

/** A request of each action on the part, with its two events. */
const actions = [
  {
    action: "create",
    before: "onBeforeInsert",
    after: "onAfterInsert",
    body: () => ({ part_id: `${id}n`, code: `new-${id}`, name: "nut" }),
    status: 201,
  },
  {
    action: "update",
    before: "onBeforeUpdate",
    after: "onAfterUpdate",
    body: () => ({ part_id: id, name: "nut" }),
    status: 200,
  },
  {
    action: "adjust",
    before: "onBeforeAdjust",
    after: "onAfterAdjust",
    body: () => ({ part_id: id, adjustments: [{ field: "stock", value: 5 }] }),
    status: 200,
  },
  {
    action: "delete",
    before: "onBeforeDelete",
    after: "onAfterDelete",
    body: () => ({ where: [{ key: "part_id", value: id }] }),
    status: 200,
  },
] as const;

/** What the table holds, which a refused request must leave as it was. */
const stored = () =>
  workshop.fixture.sql("select part_id, code, name, stock from parts order by part_id");

describe.each(actions)("$action", ({ action, before, after, body, status }) => {
  test("runs its before handlers, then its after handlers, once each", async () => {
    const seen: string[] = [];
    for (const event of [before, after]) on[event] = ({ event: name }) => void seen.push(name);
    check(await post("parts", action, body()), { status });
    expect(seen).toEqual([before, after]);
  });

  test("answers as without handlers when they change nothing", async () => {
    on[before] = () => undefined;
    on[after] = () => undefined;
    const answer = await post("parts", action, body());
    check(answer, { status });
    expect(answer.body.message).toMatch(/^parts data successfully/);
  });

  test("calls no handler for half of a surrogate pair in a member that no column holds", async () => {
    const seen: string[] = [];
    on[before] = ({ event }) => void seen.push(event);
    const held = await stored();
    const data = { ...body(), hint: { text: "half \ud83d" } };
    const message = "hint.text must be well formed Unicode";
    const answers = [
      await post("parts", action, data),
      await post("parts", action, { data: body(), options: { hint: data.hint } }),
    ];
    check(answers[0]!, { status: 400, error: "Invalid payload", message });
    check(answers[1]!, { status: 400, error: "Invalid payload", message: `options.${message}` });
    expect([seen, await stored()]).toEqual([[], held]);
  });

  test("tells its handlers project, endpoint, options and that nobody is known", async () => {
    const seen: HookContext[] = [];
    for (const event of [before, after]) on[event] = (context) => void seen.push(context);
    const wrapped = { data: body(), options: { dry: true } };
    check(await post("parts", action, wrapped), { status });
    for (const context of seen) {
      expect(context).toMatchObject({ project: "test", endpoint: "parts", user: null });
      expect(context.options).toEqual({ dry: true });
    }
    expect(seen).toHaveLength(2);
  });

  test("gives an empty object where the client sent no options", async () => {
    const seen: object[] = [];
    on[before] = ({ options }) => void seen.push(options);
    check(await post("parts", action, body()), { status });
    expect(seen).toEqual([{}]);
  });

  test.each([
    ["a before handler", before],
    ["an after handler", after],
  ])("is undone when %s refuses, with its message and errors", async (_, event) => {
    const kept = await stored();
    on[event] = ({ reject }) => reject("Not today", { name: "is taken", code: ["a", "b"] });
    const expected = { status: 422, error: "Rejected by hook", message: "Not today" };
    const answer = await post("parts", action, body());
    check(answer, { ...expected, errors: { name: ["is taken"], code: ["a", "b"] } });
    expect(await stored()).toEqual(kept);
  });

  test.each([
    ["without errors", ({ reject }: HookContext) => reject("No")],
    [
      "after waiting",
      async ({ reject, query }: HookContext) => (await query("select 1 as one"), reject("No")),
    ],
    [
      "by a class of the handler's own that has the name",
      () => {
        throw new (class HookError extends Error {
          override readonly name = "HookError";
        })("No");
      },
    ],
    ["by an object with the name", () => Promise.reject({ name: "HookError", message: "No" })],
  ])("is refused %s", async (_, handler) => {
    const kept = await stored();
    on[before] = handler;
    const answer = await post("parts", action, body());
    check(answer, { status: 422, error: "Rejected by hook", message: "No" });
    expect(answer.body).not.toHaveProperty("errors");
    expect(await stored()).toEqual(kept);
  });

  test("is refused with the errors of a class of the handler's own", async () => {
    on[before] = () => {
      throw Object.assign(new Error("No"), { name: "HookError", errors: { name: "is taken" } });
    };
    const errors = { name: ["is taken"] };
    check(await post("parts", action, body()), { status: 422, error: "Rejected by hook", errors });
  });

  test.each<[string, HookHandler]>([
    [
      "throws",
      () => {
        throw new Error("postgres password hush-hush");
      },
    ],
    [
      "rejects",
      async () => {
        throw new TypeError("sqlite");
      },
    ],
    [
      "throws no error",
      () => {
        throw "a text";
      },
    ],
    [
      "throws a HookError whose errors are no texts",
      () => {
        throw Object.assign(new Error("No"), { name: "HookError", errors: { name: 5 } });
      },
    ],
    [
      "throws a HookError without a message",
      () => {
        throw { name: "HookError", message: 5 };
      },
    ],
    [
      "throws nothing",
      () => {
        throw undefined;
      },
    ],
  ])("answers 500 and is undone when a handler %s", async (_, handler) => {
    for (const event of [before, after]) {
      const kept = await stored();
      on[event] = handler;
      const message = "The request could not be processed";
      check(await post("parts", action, body()), {
        status: 500,
        error: "Internal server error",
        message,
      });
      expect(await stored()).toEqual(kept);
      delete on[event];
    }
  });

  test("logs what a handler throws, with the handler's name and the request's id", async () => {
    on[before] = () => {
      throw new Error("the drawer is stuck");
    };
    const answer = await post("parts", action, body(), { "X-Request-Id": `stuck-${action}` });
    expect(answer.status).toBe(500);
    const line = logged.find(
      (one) => one["requestId"] === `stuck-${action}` && one["level"] === 50,
    );
    expect(JSON.stringify(line)).toContain("the drawer is stuck");
    expect(JSON.stringify(line)).toContain("test/components/probe.ts#run");
  });

  test("runs no after handler when the write fails", async () => {
    let ran = 0;
    on[after] = () => void ran++;
    on[before] = async ({ query }) => void (await query("select nothing from nowhere"));
    expect((await post("parts", action, body())).status).toBe(500);
    expect(ran).toBe(0);
  });

  test("leaves what a handler wrote behind when it succeeds, and nothing when it does not", async () => {
    const journal = async (note: string) =>
      workshop.fixture.sql(`select note from journal where note = '${note}'`);
    const note = `${action}-${id}`;
    on[before] = async ({ query }) =>
      void (await query("insert into journal (note) values (?)", [note]));
    on[after] = ({ reject }) => reject("No");
    expect((await post("parts", action, body())).status).toBe(422);
    expect(await journal(note)).toEqual([]);
    delete on[after];
    check(await post("parts", action, body()), { status });
    expect(await journal(note)).toHaveLength(1);
  });
});

describe("data", () => {
  test.each([
    [
      "returned",
      ({ data }: HookContext) => ({ ...data, code: String(data["code"]).toUpperCase() }),
    ],
    [
      "returned by a promise",
      async ({ data }: HookContext) => ({ ...data, code: String(data["code"]).toUpperCase() }),
    ],
    [
      "changed in place",
      ({ data }: HookContext) => void (data["code"] = String(data["code"]).toUpperCase()),
    ],
  ])("%s by a before handler is what is stored", async (_, handler) => {
    on.onBeforeInsert = handler;
    const answer = await post("parts", "create", {
      part_id: `${id}n`,
      code: `low-${id}`,
      name: "n",
    });
    check(answer, { status: 201, data: { code: `LOW-${id.toUpperCase()}` } });
    expect(await first(`${id}n`)).toEqual({ ...record(answer), secret: null });
    on.onBeforeUpdate = handler;
    check(await post("parts", "update", { part_id: id, code: `up-${id}` }), {
      status: 200,
      data: { code: `UP-${id.toUpperCase()}` },
    });
  });

  test("passes through several handlers in the order of the configuration", async () => {
    const answer = await post("ordered", "create", {
      part_id: `${id}n`,
      code: `o-${id}`,
      name: "n",
    });
    check(answer, { status: 201, data: { name: "n-one-two-one" } });
  });

  test("is a copy: what an after handler does to it and to the records is not answered", async () => {
    on.onAfterUpdate = ({ data, oldRecord, record: now }) => {
      data["name"] = "spoiled";
      oldRecord!["name"] = "spoiled";
      now!["name"] = "spoiled";
      return { name: "spoiled" };
    };
    check(await post("parts", "update", { part_id: id, name: "fine" }), {
      status: 200,
      data: { name: "fine" },
    });
    expect(await first(id)).toMatchObject({ name: "fine" });
  });

  test("is what update asks for a field to change, not the body", async () => {
    on.onBeforeUpdate = () => undefined;
    const useless = await post("parts", "update", { part_id: id, unknown: 1 });
    check(useless, { status: 400, error: "Invalid payload" });
    on.onBeforeUpdate = () => ({ unknown: 1 });
    const spoiled = await post("parts", "update", { part_id: id, name: "nut" });
    check(spoiled, { status: 400, error: "Invalid payload" });
    expect(await first(id)).toMatchObject({ name: "bolt" });
  });

  test("may leave update nothing but the key, which changes nothing", async () => {
    const { secret: _, ...before } = await first(id);
    const seen: unknown[] = [];
    on.onAfterUpdate = ({ oldRecord, record: now }) => void seen.push([oldRecord, now]);
    on.onBeforeUpdate = () => undefined;
    check(await post("parts", "update", { part_id: id }), { status: 200, data: before });
    on.onBeforeUpdate = () => ({});
    check(await post("parts", "update", { part_id: id, name: "nut" }), {
      status: 200,
      data: before,
    });
    expect(await first(id)).toMatchObject(before);
    expect(seen).toMatchObject([
      [before, before],
      [before, before],
    ]);
  });

  test("of a field that the client did not send is stored too, also of a hidden one", async () => {
    on.onBeforeUpdate = () => ({ stock: 77, secret: "from the handler" });
    const answer = await post("parts", "update", { part_id: id });
    check(answer, { status: 200, data: { part_id: id, stock: 77 } });
    expect(answer.body.data).not.toHaveProperty("secret");
    const [row] = await workshop.fixture.sql(`select secret from parts where part_id = '${id}'`);
    expect(row).toEqual({ secret: "from the handler" });
  });

  test("may hold dates, bigints and members that are undefined", async () => {
    on.onBeforeUpdate = () => ({ made_at: new Date(0), stock: 12n, name: undefined });
    check(await post("parts", "update", { part_id: id, name: "x" }), {
      status: 200,
      data: { made_at: "1970-01-01T00:00:00.000Z", stock: 12, name: "bolt" },
    });
  });

  test("cannot change which record is meant", async () => {
    const other = `${id}o`;
    check(await post("plain", "create", { part_id: other, code: `c-${other}`, name: "other" }), {
      status: 201,
    });
    on.onBeforeUpdate = ({ data }) => ({ ...data, part_id: other });
    check(await post("parts", "update", { part_id: id, name: "moved" }), {
      status: 200,
      data: { part_id: id, name: "moved" },
    });
    expect(await first(other)).toMatchObject({ name: "other" });
    on.onBeforeDelete = () => ({ where: [{ key: "part_id", value: other }] });
    check(await post("parts", "delete", { where: [{ key: "part_id", value: id }] }), {
      status: 200,
    });
    expect(await first(other)).toMatchObject({ name: "other" });
  });

  test("of a handler is validated like that of a client", async () => {
    const refused = [
      [() => ({ code: null, name: "n" }), ["code"]],
      [() => ({ code: "c", name: "x".repeat(300) }), ["name"]],
      [() => ({ code: "c", name: "n", stock: "many" }), ["stock"]],
      [() => ({ name: "n" }), ["code"]],
    ] as const;
    for (const [handler, errors] of refused) {
      on.onBeforeInsert = handler;
      check(await post("parts", "create", { code: "fine", name: "n" }), {
        status: 400,
        error: "Validation failed",
        errors,
      });
    }
  });

  test("of a handler in a hidden column is refused without naming the column", async () => {
    on.onBeforeUpdate = () => ({ secret: "x".repeat(100) });
    const answer = await post("parts", "update", { part_id: id, name: "n" });
    check(answer, { status: 400, error: "Validation failed" });
    expect(JSON.stringify(answer.body)).not.toContain("secret");
  });

  test("that a client sent wrong may be put right before it is validated", async () => {
    on.onBeforeInsert = ({ data }) => ({
      ...data,
      stock: Number.parseInt(String(data["stock"]), 10),
    });
    const body = { code: `r-${id}`, name: "n", stock: "12 pieces" };
    check(await post("parts", "create", body), { status: 201, data: { stock: 12 } });
  });

  test("names the actor that the audit columns keep", async () => {
    on.onBeforeUpdate = ({ data }) => ({ ...data, updated_by: "the handler" });
    check(await post("parts", "update", { part_id: id, name: "x" }), {
      status: 200,
      data: { updated_by: "the handler" },
    });
  });

  test("keeps numbers that a double cannot hold", async () => {
    const seen: string[] = [];
    on.onBeforeInsert = ({ data }) =>
      void seen.push(`${String(data["big"])} ${Number(data["stock"])}`);
    on.onAfterInsert = on.onBeforeInsert;
    const text = `{"code": "b-${id}", "name": "n", "big": 9007199254740993, "stock": 3}`;
    check(await post("parts", "create", text), { status: 201, data: { big: "9007199254740993" } });
    expect(seen).toEqual(["9007199254740993 3", "9007199254740993 3"]);
  });

  test.each<[string, unknown]>([
    ["an array", []],
    ["a text", "code"],
    ["a number", 1],
    ["false", false],
    ["a map", new Map([["code", "x"]])],
    ["a date", new Date(0)],
    ["an object with a function", { code: () => "x" }],
    ["an object with no number", { stock: Number.NaN }],
    ["an object with a NUL in a text", { name: "a\0b" }],
    ["an instance of a class", { code: new (class Code {})() }],
  ])("is no data: a before handler that returns %s is a 500", async (_, returned) => {
    const kept = await stored();
    on.onBeforeInsert = () => returned;
    check(await post("parts", "create", { code: `x-${id}`, name: "n" }), {
      status: 500,
      error: "Internal server error",
    });
    expect(await stored()).toEqual(kept);
    expect(JSON.stringify(logged.at(-2))).toContain("probe.ts#run");
  });

  test("that contains itself is a 500", async () => {
    const circle: Record<string, unknown> = { code: "x", name: "n" };
    circle["self"] = circle;
    on.onBeforeInsert = () => circle;
    expect((await post("parts", "create", { code: "y", name: "n" })).status).toBe(500);
  });

  test.each<[string, unknown]>([
    ["null", null],
    ["undefined", undefined],
  ])("is kept when a before handler returns %s", async (_, returned) => {
    on.onBeforeInsert = () => returned;
    check(await post("parts", "create", { code: `k-${id}`, name: "kept" }), {
      status: 201,
      data: { name: "kept" },
    });
  });
});

describe("records", () => {
  test("an insert has none before, and the stored one after", async () => {
    const seen: unknown[] = [];
    on.onBeforeInsert = ({ oldRecord, record: now }) => void seen.push(oldRecord, now);
    on.onAfterInsert = ({ oldRecord, record: now, data }) => void seen.push(oldRecord, now, data);
    const body = { part_id: `${id}n`, code: `n-${id}`, name: "n" };
    const answer = await post("parts", "create", body);
    expect(seen).toEqual([null, null, null, record(answer), body]);
  });

  test.each([
    ["update", "onBeforeUpdate", "onAfterUpdate", { name: "new" }],
    ["adjust", "onBeforeAdjust", "onAfterAdjust", { adjustments: [{ field: "stock", value: 1 }] }],
  ] as const)(
    "of %s are the one before and the one that is answered",
    async (action, before, after, more) => {
      const was = await first(id);
      const seen: unknown[] = [];
      on[before] = ({ oldRecord, record: now }) => void seen.push(oldRecord, now);
      on[after] = ({ oldRecord, record: now }) => void seen.push(oldRecord, now);
      const answer = await post("parts", action, { part_id: id, ...more });
      const { secret, ...shown } = was;
      expect(secret).toBe("s");
      expect(seen).toEqual([shown, null, shown, record(answer)]);
    },
  );

  test("of a delete come one by one: each that goes, and none when it is gone", async () => {
    const ids = [1, 2, 3].map((at) => `${id}-${at}`);
    for (const one of ids)
      check(await post("plain", "create", { part_id: one, code: one, name: `trio-${id}` }), {
        status: 201,
      });
    const seen: [string, unknown, unknown][] = [];
    for (const event of ["onBeforeDelete", "onAfterDelete"] as const)
      on[event] = ({ event: name, oldRecord, record: now }) =>
        void seen.push([name, oldRecord!["part_id"], now]);
    const answer = await post("parts", "delete", { where: [{ key: "name", value: `trio-${id}` }] });
    expect(answer.body.data.deleted_count).toBe(3);
    expect(seen.map(([name]) => name)).toEqual([
      ...Array(3).fill("onBeforeDelete"),
      ...Array(3).fill("onAfterDelete"),
    ]);
    expect(
      seen
        .slice(0, 3)
        .map(([, key]) => key)
        .sort(),
    ).toEqual(ids);
    expect(seen.every(([, , now]) => now === null)).toBe(true);
  });

  test("a delete of several is refused whole when one of them may not go", async () => {
    for (const at of [1, 2, 3])
      check(
        await post("plain", "create", {
          part_id: `${id}-${at}`,
          code: `${id}-${at}`,
          name: `set-${id}`,
          stock: at,
        }),
        { status: 201 },
      );
    on.onBeforeDelete = ({ oldRecord, reject }) => {
      if (oldRecord!["stock"] === 3) reject("Part 3 stays");
    };
    const before = await count();
    check(await post("parts", "delete", { where: [{ key: "name", value: `set-${id}` }] }), {
      status: 422,
      error: "Rejected by hook",
      message: "Part 3 stays",
    });
    expect(await count()).toBe(before);
  });

  test("a delete removes only records that its handlers saw", async () => {
    on.onBeforeDelete = async ({ query }) =>
      void (await query("update parts set name = ? where part_id <> ?", [`gone-${id}`, id]));
    check(await post("plain", "update", { part_id: id, name: `gone-${id}` }), { status: 200 });
    const before = await count();
    const answer = await post("parts", "delete", { where: [{ key: "name", value: `gone-${id}` }] });
    expect(answer.body.data.deleted_count).toBe(1);
    expect(await count()).toBe(before - 1);
  });

  test("a delete takes the details first, as without handlers", async () => {
    check(await post("notes", "create", { part_id: id, text: "detail" }), { status: 201 });
    on.onBeforeDelete = () => undefined;
    check(await post("headed", "delete", { where: [{ key: "part_id", value: id }] }), {
      status: 200,
    });
    expect(await workshop.fixture.sql(`select * from notes where part_id = '${id}'`)).toEqual([]);
  });

  test("have no hidden column, in no event", async () => {
    const seen: unknown[] = [];
    for (const { before, after } of actions) {
      on[before] = ({ oldRecord, record: now }) => void seen.push(oldRecord, now);
      on[after] = on[before]!;
    }
    for (const { action, body, status } of actions)
      check(await post("parts", action, body()), { status });
    expect(seen).toHaveLength(16);
    expect(JSON.stringify(seen)).not.toContain("secret");
  });

  test("are those of the view where answers come from one", async () => {
    const seen: unknown[] = [];
    on.onBeforeUpdate = ({ oldRecord }) => void seen.push(oldRecord);
    on.onAfterUpdate = ({ record: now }) => void seen.push(now);
    const answer = await post("viewed", "update", { part_id: id, stock: 6 });
    expect(seen).toMatchObject([
      { part_id: id, doubled: 20, stock: 10 },
      { part_id: id, doubled: 12, stock: 6 },
    ]);
    // The view has neither, and the write changed both.
    expect(record(answer)).toMatchObject({
      part_id: id,
      doubled: 12,
      stock: 6,
      updated_by: "Update from API",
    });
  });
});

describe("adjust", () => {
  test("takes the adjustments that a handler makes of those of the client", async () => {
    on.onBeforeAdjust = ({ data }) => {
      const [one] = data["adjustments"] as { field: string; value: number }[];
      return { ...data, adjustments: [{ ...one, value: one!.value * 2 }] };
    };
    check(
      await post("parts", "adjust", { part_id: id, adjustments: [{ field: "stock", value: 3 }] }),
      { status: 200, data: { stock: 16 } },
    );
  });

  const wrong: { name: string; adjustments: unknown; status: number; error: string }[] = [
    { name: "none", adjustments: [], status: 400, error: "Invalid payload" },
    {
      name: "an unknown field",
      adjustments: [{ field: "name", value: 1 }],
      status: 400,
      error: "Invalid payload",
    },
    {
      name: "a fall below the minimum",
      adjustments: [{ field: "stock", value: -11 }],
      status: 409,
      error: "Constraint violation",
    },
  ];
  test.each(wrong)("refuses $name that a handler makes", async ({ adjustments, status, error }) => {
    on.onBeforeAdjust = () => ({ adjustments });
    const body = { part_id: id, adjustments: [{ field: "stock", value: 1 }] };
    check(await post("parts", "adjust", body), { status, error });
    expect(await first(id)).toMatchObject({ stock: 10 });
  });
});

/** Bodies of a wrong shape, and the field in `data` whose members the handler reads. */
const misshapen: [string, string, object, unknown[]][] = [
  [
    "parts",
    "adjust",
    { part_id: "p1" },
    [
      {},
      ...[
        "x",
        {},
        [],
        [null],
        ["stock"],
        [{ field: "none", value: 1 }],
        [{ field: "stock" }],
        [{ field: "stock", value: "1" }],
        [{ field: "stock", value: 1, reason: 1 }],
      ].map((adjustments) => ({ adjustments })),
    ],
  ],
  ["parts", "update", {}, [{ name: "x" }, { part_id: {} }]],
  [
    "parts",
    "delete",
    {},
    [{ where: "x" }, { where: [] }, { where: [null] }, { where: [{ key: 1 }] }],
  ],
  [
    "documents",
    "create-composite",
    {},
    [
      {},
      { other: {} },
      { parts: [] },
      ...["x", {}, [null], ["x"]].map((notes) => ({ parts: { code: "c", notes } })),
    ],
  ],
  [
    "documents",
    "update-composite",
    {},
    [
      {},
      { parts: [] },
      { parts: { name: "x" } },
      ...[
        "x",
        [],
        { none: [] },
        { insert: {} },
        { insert: [null] },
        { update: [{}] },
        { delete: [{}] },
      ].map((notes) => ({ parts: { part_id: "p1", notes } })),
    ],
  ],
];

test.each(misshapen)(
  "a body of %s/%s in a wrong shape reaches no handler",
  async (endpoint, action, more, bodies) => {
    let ran = 0;
    for (const event of [
      "onBeforeInsert",
      "onBeforeUpdate",
      "onBeforeDelete",
      "onBeforeAdjust",
    ] as const)
      on[event] = ({ data }) => {
        ran++;
        for (const name of ["adjustments", "notes", "where"])
          for (const one of data[name] as object[]) Object.keys(one);
      };
    for (const body of bodies)
      check(await post(endpoint, action, { ...more, ...(body as object) }), {
        status: 400,
        error: "Invalid payload",
      });
    expect(ran).toBe(0);
  },
);

describe("a request that fails", () => {
  let ran = 0;
  beforeEach(() => {
    ran = 0;
    for (const { before, after } of actions) {
      on[before] = () => void ran++;
      on[after] = () => void ran++;
    }
  });

  test.each([
    ["update", "an unknown record", { part_id: "nobody", name: "x" }, 404],
    ["update", "no key", { name: "x" }, 400],
    [
      "adjust",
      "an unknown record",
      { part_id: "nobody", adjustments: [{ field: "stock", value: 1 }] },
      404,
    ],
    ["delete", "nothing", { where: [{ key: "part_id", value: "nobody" }] }, 404],
    ["delete", "no where", { part_id: "nobody" }, 400],
    ["delete", "a hidden column", { where: [{ key: "secret", value: "s" }] }, 400],
    ["create", "an empty body", {}, 400],
  ] as const)("runs no handler: %s of %s", async (action, _, body, status) => {
    expect((await post("parts", action, body)).status).toBe(status);
    expect(ran).toBe(0);
  });

  test("runs no handler when If-Match does not hold, and runs them when it does", async () => {
    const read = await post("parts", "first", { where: [{ key: "part_id", value: id }] });
    const body = { part_id: id, name: "x" };
    const stale = await post("parts", "update", body, { "If-Match": '"old"' });
    expect([stale.status, ran]).toEqual([412, 0]);
    const etag = read.headers.get("ETag")!;
    const current = await post("parts", "update", body, { "If-Match": etag });
    expect([current.status, ran]).toEqual([200, 2]);
    const gone = { where: [{ key: "part_id", value: id }] };
    expect((await post("parts", "delete", gone, { "If-Match": etag })).status).toBe(412);
    expect(ran).toBe(2);
  });

  test("runs no after handler when the database refuses the write", async () => {
    check(await post("parts", "create", { code: `c-${id}`, name: "twice" }), {
      status: 409,
      error: "Duplicate entry",
    });
    expect(ran).toBe(1);
  });
});

test("a slow handler holds up no other write for good", async () => {
  on.onBeforeInsert = async () => pause(300);
  const slow = post("parts", "create", { code: `slow-${id}`, name: "slow" });
  const others = Array.from({ length: 5 }, (_, at) =>
    post("plain", "create", { code: `fast-${id}-${at}`, name: "fast" }),
  );
  for (const { status } of await Promise.all([slow, ...others])) expect(status).toBe(201);
});

test("two changes of one record at once see each other's result", async () => {
  on.onBeforeUpdate = ({ oldRecord }) => ({ stock: Number(oldRecord!["stock"]) + 1 });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => post("parts", "update", { part_id: id })),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(await first(id)).toMatchObject({ stock: 18 });
});
