/** The operator's handlers around change-status: their input, what they can change, and their order among the hooks. */
import { beforeEach, describe, expect, inject, test } from "vitest";
import type { HookHandler } from "../../core/plans/hook.ts";
import { startHookServer } from "../outbound/hook-server.ts";
import { check, checkEnvelope } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

/** A function that fails like a deadlock. SQLite has none, because it has one writer. */
const giveUp = {
  postgres: [
    `create function give_up() returns integer language plpgsql
      as $$ begin raise exception 'conflict' using errcode = '40001'; end $$`,
  ],
  mysql: [
    `create function give_up() returns integer deterministic
      begin signal sqlstate '40001' set mysql_errno = 1213; return 1; end`,
  ],
  sqlite: [],
};

const on: { before?: HookHandler; after?: HookHandler } = {};
let id = "";
let rows = 0;

const server = openForTests(startHookServer);
const fixture = openForTests(() => {
  const hook = { url: `http://${server.host}/told`, blocking: true };
  return openFixture({
    tables: [
      {
        name: "orders",
        columns: { order_id: "key", status: "text(20)", note: "text(40)", updated_by: "text(40)" },
      },
    ],
    setUp: (engine) => giveUp[engine],
    endpoints: {
      orders: {
        tableName: "orders",
        action: { create: true, first: true, "change-status": true },
        workflow: {
          transitions: { draft: ["posted", "held"], posted: ["draft"] },
          hooks: { posted: { onBefore: [hook], onAfter: [hook] } },
        },
        components: {
          onBeforeWorkflow: ["components/probe.ts#before"],
          onAfterWorkflow: ["components/probe.ts#after"],
        },
      },
    },
    components: {
      "components/probe.ts": {
        before: (context) => on.before?.(context),
        after: (context) => on.after?.(context),
      } satisfies Record<string, HookHandler>,
    },
    project: { hooks: { allowedHosts: [server.host] } },
  });
});
beforeEach(async () => {
  id = `o${++rows}`;
  delete on.before;
  delete on.after;
  server.heard.length = 0;
  const made = await fixture.post("orders/create", { order_id: id, status: "draft", note: "old" });
  expect(made.status).toBe(201);
});

const change = async (body: object) => {
  const answer = await fixture.post("orders/change-status", { id, ...body });
  checkEnvelope(answer);
  return answer;
};
const stored = async () => {
  const where = { key: "order_id", value: id };
  return (await fixture.post("orders/first", { where })).body.data;
};

describe("a handler of change-status", () => {
  test("onBeforeWorkflow gets the body and the record as it is", async () => {
    let seen: unknown;
    on.before = ({ event, data, oldRecord, record }) => {
      seen = { event, data, oldRecord, record };
    };
    await change({ status: "posted", remarks: "why", extra: 1 });
    expect(seen).toEqual({
      event: "onBeforeWorkflow",
      data: { id, status: "posted", remarks: "why", extra: 1 },
      oldRecord: { order_id: id, status: "draft", note: "old", updated_by: null },
      record: null,
    });
  });

  test("onAfterWorkflow gets both records", async () => {
    let seen: unknown;
    on.after = ({ event, oldRecord, record }) => {
      seen = { event, from: oldRecord?.["status"], to: record?.["status"] };
    };
    await change({ status: "posted" });
    expect(seen).toEqual({ event: "onAfterWorkflow", from: "draft", to: "posted" });
  });

  test("runs before the hooks, and the other after them", async () => {
    const calls: number[] = [];
    on.before = () => void calls.push(server.heard.length);
    on.after = () => void calls.push(server.heard.length);
    check(await change({ status: "posted" }), { status: 200 });
    expect(calls).toEqual([0, 2]);
  });

  test("is not asked about a transition that is not allowed", async () => {
    let calls = 0;
    on.before = () => void calls++;
    check(await change({ status: "closed" }), { status: 422, error: "Transition not allowed" });
    expect(calls).toBe(0);
  });

  test("may choose another status, and whom the change is by", async () => {
    on.before = ({ data }) => ({ ...data, status: "held", updated_by: "auditor" });
    const answer = await change({ status: "posted" });
    check(answer, { status: 200, data: { status: "held", updated_by: "auditor" } });
    expect(answer.body.workflow).toEqual({
      previousStatus: "draft",
      newStatus: "held",
      hooksExecuted: [],
    });
  });

  test.each([
    ["a status that may not follow", { status: "draft" }, 422, "Transition not allowed"],
    ["no status", { status: null }, 400, "Invalid payload"],
    ["a status that is too long", { status: "x".repeat(21) }, 400, "Validation failed"],
  ])("may not choose %s", async (_, given, status, error) => {
    on.before = ({ data }) => ({ ...data, ...given });
    check(await change({ status: "posted" }), { status, error });
    expect(await stored()).toMatchObject({ status: "draft" });
    expect(server.heard).toEqual([]);
  });

  test("onBeforeWorkflow refuses, and no hook is called", async () => {
    on.before = ({ reject }) => reject("Not on a Sunday");
    const expected = { status: 422, error: "Rejected by hook", message: "Not on a Sunday" };
    check(await change({ status: "posted" }), expected);
    expect(server.heard).toEqual([]);
    expect(await stored()).toMatchObject({ status: "draft" });
  });

  test("onAfterWorkflow refuses, and nothing is changed", async () => {
    on.after = ({ reject }) => reject("Not now");
    check(await change({ status: "posted" }), { status: 422, error: "Rejected by hook" });
    expect(await stored()).toMatchObject({ status: "draft", updated_by: null });
  });

  test("may change the record itself, in the same transaction", async () => {
    on.before = async ({ data, query }) => {
      await query(`update orders set note = '${String(data["remarks"])}' where order_id = '${id}'`);
    };
    const answer = await change({ status: "posted", remarks: "kept now" });
    check(answer, { status: 200, data: { status: "posted", note: "kept now" } });
  });

  test("that removes the record makes it a 404, and the record stays", async () => {
    on.before = async ({ query }) =>
      void (await query(`delete from orders where order_id = '${id}'`));
    check(await change({ status: "posted" }), { status: 404, error: "Not found" });
    expect(await stored()).toMatchObject({ status: "draft" });
  });
});

describe.skipIf(inject("engine") === "sqlite")("a conflict at the end of the change", () => {
  const conflictOnce = (): { runs: number } => {
    const seen = { runs: 0 };
    on.after = async ({ query }) => {
      if (++seen.runs === 1) await query("select give_up()");
    };
    return seen;
  };

  test("answers 503 after a blocking hook, which is not called again", async () => {
    const seen = conflictOnce();
    check(await change({ status: "posted" }), { status: 503, error: "Service unavailable" });
    expect(seen.runs).toBe(1);
    expect(server.heard).toHaveLength(2);
    expect(await stored()).toMatchObject({ status: "draft" });
  });

  test("runs the change again where no hook was called", async () => {
    const seen = conflictOnce();
    check(await change({ status: "held" }), { status: 200, data: { status: "held" } });
    expect(seen.runs).toBe(2);
  });
});
