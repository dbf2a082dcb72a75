/** `Prefer: tx=rollback`: everything happens and is undone, and nothing outside of the transaction notices. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import {
  type EventName,
  eventNames,
  type HookContext,
  type HookHandler,
} from "../../core/plans/hook.ts";
import { type HookServer, startHookServer } from "../outbound/hook-server.ts";
import { check, checkEnvelope } from "./cases.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";
import type { EngineName } from "../servers/session.ts";

const engine = inject("engine");
const dry = { Prefer: "tx=rollback" };
const on: Partial<Record<EventName, HookHandler>> = {};
let fixture: Fixture;
let server: HookServer;

const items = {
  tableName: "items",
  action: {
    create: true,
    first: true,
    read: true,
    update: true,
    delete: true,
    restore: true,
    adjust: true,
    "change-status": true,
    lock: true,
  },
  adjustConfig: { fields: { stock: { type: "integer", min: 0 } } },
  softDelete: true,
};
const documents = {
  tableName: "items",
  action: { "create-composite": true, "update-composite": true, "read-composite": true },
  masterDetail: { detailTable: "item_lines", foreignKey: "item_id" },
  calculation: { header: { stock: "SUM(amount)" } },
};
const components = Object.fromEntries(
  eventNames.map((event) => [event, ["components/probe.ts#run"]]),
);

/** A foreign key that is checked at the COMMIT, and a table that cannot roll back. */
const setUp = (name: EngineName): readonly string[] =>
  name === "mysql"
    ? ["create table loose (loose_id varchar(36) primary key, note text) engine = MyISAM"]
    : [
        `create table late (late_id varchar(36) primary key, item_id varchar(36)
           references items (item_id) deferrable initially deferred)`,
      ];

beforeAll(async () => {
  server = await startHookServer();
  const hook = (path: string, blocking: boolean) => ({
    name: path,
    url: `http://localhost:${server.port}/${path}/{{id}}`,
    method: "POST",
    blocking,
  });
  const hooks = {
    told: { onBefore: [hook("before", true)], onAfter: [hook("after", true), hook("on", false)] },
    refused: { onBefore: [hook("status/500", true)] },
  };
  fixture = await openFixture({
    tables: [
      {
        name: "items",
        columns: {
          item_id: "key",
          name: { type: "text(60)", unique: true },
          stock: "integer",
          status: "text(20)",
          updated_at: "timestamp",
          is_deleted: {
            type: "boolean",
            notNull: true,
            default: engine === "postgres" ? "false" : "0",
          },
          deleted_at: "timestamp",
        },
      },
      {
        name: "item_lines",
        columns: {
          item_line_id: "identity",
          item_id: { type: "text(36)", references: { table: "items", column: "item_id" } },
          amount: "integer",
        },
      },
      { name: "journal", columns: { entry_id: "identity", note: "text(60)" } },
    ],
    setUp,
    endpoints: {
      items: { ...items, workflow: { hooks } },
      handled: { ...items, workflow: {}, components },
      documents,
      journal: { tableName: "journal", action: { read: true } },
      ...(engine === "mysql"
        ? { loose: { tableName: "loose", action: { create: true, update: true, read: true } } }
        : { late: { tableName: "late", action: { create: true, update: true, read: true } } }),
    },
    components: {
      "components/probe.ts": { run: (context: HookContext) => on[context.event]?.(context) },
    },
    project: {
      hooks: { allowedHosts: [`localhost:${server.port}`] },
      cache: { enabled: true, ttlSeconds: 60 },
      locking: { enforceResourceLocks: true },
    },
  });
});
afterEach(() => {
  for (const event of eventNames) delete on[event];
});
afterAll(async () => {
  await fixture?.close();
  await server?.close();
});

async function post(
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const answer = await fixture.post(path, body, headers);
  checkEnvelope(answer);
  return answer;
}

const rows = (table = "items"): Promise<Record<string, unknown>[]> =>
  fixture.sql(`select * from ${table} order by 1`);

/** The members of the answer that do not depend on the moment. */
function lasting({ status, headers, body }: Answer): object {
  const { timestamp: _, dry_run: __, ...members } = body;
  const shown = JSON.parse(
    JSON.stringify(members, (name, value: unknown) =>
      /^(updated_at|deleted_at|item_line_id)$/.test(name) && value !== null ? "set" : value,
    ),
  );
  return { status, hasEtag: headers.has("ETag"), body: shown };
}

describe("a dry run", () => {
  let id = "";
  let marked = "";
  let free = "";
  let number = 0;
  beforeEach(async () => {
    await fixture.sql("delete from item_lines");
    await fixture.sql("delete from items");
    const make = async (name: string): Promise<string> =>
      (await post("items/create", { name, stock: 5, status: "new" })).body.data.item_id;
    id = await make(`kept ${++number}`);
    marked = await make(`marked ${number}`);
    free = await make(`free ${number}`);
    await post("items/delete", { where: [{ key: "item_id", value: marked }] });
    await post("documents/update-composite", {
      items: { item_id: id, item_lines: { insert: [{ amount: 5 }] } },
    });
  });

  const own = (key: string) => [{ key: "item_id", value: key }];
  const cases: readonly [string, () => object][] = [
    ["items/create", () => ({ item_id: "made", name: "made", stock: 1 })],
    ["handled/create", () => ({ item_id: "made", name: "made", stock: 1 })],
    ["items/update", () => ({ item_id: id, name: "changed" })],
    ["handled/update", () => ({ item_id: id, name: "changed" })],
    ["items/adjust", () => ({ item_id: id, adjustments: [{ field: "stock", value: 2 }] })],
    ["items/delete", () => ({ where: own(free) })],
    ["items/restore", () => ({ where: own(marked) })],
    ["items/change-status", () => ({ id, status: "told" })],
    [
      "documents/create-composite",
      () => ({ items: { item_id: "doc", name: "doc", item_lines: [{ amount: 3 }] } }),
    ],
    [
      "documents/update-composite",
      () => ({ items: { item_id: id, name: "new", item_lines: { insert: [{ amount: 4 }] } } }),
    ],
  ];

  test.each(cases)(
    "of %s answers what the request answers, and changes nothing",
    async (path, bodyOf) => {
      const before = [await rows(), await rows("item_lines")];
      const asked = await post(path, bodyOf(), dry);
      expect(asked.body, JSON.stringify(asked.body)).toMatchObject({
        success: true,
        dry_run: true,
      });
      expect(asked.headers.get("Preference-Applied")).toBe("tx=rollback");
      expect([await rows(), await rows("item_lines")]).toEqual(before);
      const done = await post(path, bodyOf());
      expect(done.body).not.toHaveProperty("dry_run");
      expect(done.headers.has("Preference-Applied")).toBe(false);
      expect(lasting(asked)).toEqual(lasting(done));
      expect([await rows(), await rows("item_lines")]).not.toEqual(before);
    },
  );

  test.each<[string, () => object, number]>([
    ["items/create", () => ({ name: `kept ${number}` }), 409],
    ["items/create", () => ({ name: "x", stock: "many" }), 400],
    ["items/update", () => ({ item_id: "nobody", name: "x" }), 404],
    ["items/delete", () => ({ where: own("nobody") }), 404],
    ["items/restore", () => ({ where: own(id) }), 404],
    ["items/adjust", () => ({ item_id: id, adjustments: [{ field: "stock", value: -9 }] }), 409],
  ])("of %s that fails answers the error, with dry_run", async (path, bodyOf, status) => {
    const asked = await post(path, bodyOf(), dry);
    expect(asked.status).toBe(status);
    expect(asked.body).toMatchObject({ success: false, dry_run: true });
    const done = await post(path, bodyOf());
    expect(lasting(asked)).toEqual(lasting(done));
  });

  test("runs the handlers, tells them, and undoes what they write", async () => {
    const seen: unknown[] = [];
    on.onBeforeUpdate = ({ dryRun }) => void seen.push(dryRun);
    on.onAfterUpdate = async ({ dryRun, query }) => {
      seen.push(dryRun);
      await query("insert into journal (note) values (?)", ["updated"]);
    };
    check(await post("handled/update", { item_id: id, name: "new" }, dry), { status: 200 });
    expect(seen.splice(0)).toEqual([true, true]);
    expect(await rows("journal")).toEqual([]);
    check(await post("handled/update", { item_id: id, name: "new" }), { status: 200 });
    expect(seen).toEqual([false, false]);
    expect(await rows("journal")).toHaveLength(1);
  });

  test("is refused by a handler like the request itself", async () => {
    on.onAfterInsert = ({ reject }) => reject("No more");
    const answer = await post("handled/create", { name: "no" }, dry);
    check(answer, { status: 422, error: "Rejected by hook", message: "No more" });
    expect(answer.body.dry_run).toBe(true);
  });

  test("calls no hook, and counts blocking ones as successful", async () => {
    const heard = () => server.heard.filter(({ path }) => path.includes(id));
    for (const status of ["told", "refused"]) {
      const answer = await post("items/change-status", { id, status }, dry);
      check(answer, { status: 200 });
      if (status === "told")
        expect(answer.body.workflow.hooksExecuted).toEqual([
          "onBefore:before",
          "onAfter:after",
          "onAfter:on",
        ]);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(heard()).toEqual([]);
    check(await post("items/change-status", { id, status: "refused" }), {
      status: 502,
      error: "Hook execution failed",
    });
    expect(heard()).toHaveLength(1);
  });

  test("stores nothing under its Idempotency-Key", async () => {
    const headers = { ...dry, "Idempotency-Key": `dry-${id}` };
    const body = { item_id: "keyed", name: "keyed" };
    for (const _ of [1, 2]) {
      const answer = await post("items/create", body, headers);
      check(answer, { status: 201 });
      expect(answer.headers.has("Idempotency-Replayed")).toBe(false);
    }
    const done = await post("items/create", body, { "Idempotency-Key": `dry-${id}` });
    check(done, { status: 201 });
    expect(done.headers.has("Idempotency-Replayed")).toBe(false);
    check(await post("items/create", { name: "other" }, { ...dry, "Idempotency-Key": "a b" }), {
      status: 400,
      error: "Invalid parameter",
    });
  });

  test("leaves the cache as it is", async () => {
    const read = () => post("items/read", { page: 1, per_page: 5 });
    const before = (await read()).body.data;
    await fixture.sql(`update items set name = 'behind its back' where item_id = '${id}'`);
    expect((await read()).body.data, "from the cache").toEqual(before);
    check(await post("items/update", { item_id: id, name: "dry" }, dry), { status: 200 });
    const missing = await post("items/update", { item_id: "nobody", name: "dry" }, dry);
    check(missing, { status: 404, error: "Not found" });
    expect((await read()).body.data, "still from the cache").toEqual(before);
    check(await post("items/update", { item_id: id, name: "wet" }), { status: 200 });
    expect((await read()).body.data).not.toEqual(before);
  });

  test("meets locks and If-Match like the request itself", async () => {
    const lock = await post("items/lock/acquire", { lock_keys: own(id) });
    const token = lock.body.data.lock_token;
    const body = { item_id: id, name: "locked" };
    check(await post("items/update", body, dry), { status: 409, error: "Lock conflict" });
    check(await post("items/update", body, { ...dry, "X-Lock-Token": token }), { status: 200 });
    check(await post("items/update", body, { ...dry, "X-Lock-Token": token, "If-Match": '"x"' }), {
      status: 412,
      error: "Precondition failed",
    });
    await post("items/lock/release", { lock_keys: own(id), lock_token: token });
  });

  test.each([
    ["tx=rollback", true],
    ["TX = Rollback", true],
    ['tx="rollback"', true],
    ["return=minimal, tx=rollback; foo=bar", true],
    ["tx=rollback, tx=commit", true],
    ["tx=commit, tx=rollback", false],
    ["tx", false],
    ["tx=roll", false],
    ["xtx=rollback", false],
    ["return=tx=rollback", false],
    ["", false],
  ])("is asked for by the header Prefer: %s: %s", async (Prefer, isDry) => {
    const answer = await post("items/create", { name: `preferred ${number}` }, { Prefer });
    check(answer, { status: 201 });
    expect(answer.body.dry_run).toBe(isDry ? true : undefined);
    expect(await rows()).toHaveLength(isDry ? 3 : 4);
  });

  test("is nothing that a reading action knows, nor a member of a body", async () => {
    const answer = await post("items/first", { where: own(id) }, dry);
    check(answer, { status: 200 });
    expect(answer.headers.has("Preference-Applied")).toBe(false);
    expect(answer.body).not.toHaveProperty("dry_run");
    check(await post("items/create", { name: "member", dry_run: true }), { status: 201 });
    expect(await rows()).toHaveLength(4);
  });

  test("of many at once loses nothing and changes nothing", async () => {
    const before = await rows();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        post(
          "items/adjust",
          { item_id: id, adjustments: [{ field: "stock", value: at + 1 }] },
          dry,
        ),
      ),
    );
    expect(answers.map(({ body }) => body.data.stock)).toEqual(
      Array.from({ length: 20 }, (_, at) => 6 + at),
    );
    expect(await rows()).toEqual(before);
  });

  test.runIf(engine !== "mysql")("finds what only the COMMIT would refuse", async () => {
    const faulty = { late_id: "l1", item_id: "nobody" };
    const refusal = { status: 400, error: "Foreign key constraint" };
    check(await post("late/create", faulty), refusal);
    check(await post("late/create", faulty, dry), refusal);
    check(await post("late/create", { late_id: "l1", item_id: id }, dry), { status: 201 });
    expect(await rows("late")).toEqual([]);
  });

  test.runIf(engine === "mysql")("is refused where the storage cannot roll back", async () => {
    await post("loose/create", { loose_id: "l1", note: "old" });
    for (const [action, body] of [
      ["create", { loose_id: "l2" }],
      ["update", { loose_id: "l1", note: "new" }],
    ] as const) {
      check(await post(`loose/${action}`, body, dry), { status: 400, error: "Invalid payload" });
    }
    expect(await rows("loose")).toEqual([{ loose_id: "l1", note: "old" }]);
  });
});
