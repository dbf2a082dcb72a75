/** change-status over a database that gives up a transaction: hooks that were called must not be called again. */
import type { Feed } from "../../core/changes/feed.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { changeStatus } from "../../core/actions/change-status.ts";
import { bindAction } from "../../core/bind.ts";
import type { ProjectCache } from "../../core/cache/cache.ts";
import { openAccess } from "../../core/callers/access.ts";
import { nobody } from "../../core/plans/caller.ts";
import type { Answer } from "../../core/calls/answer.ts";
import type { Entity } from "../../core/plans/entity.ts";
import type { Request } from "../../core/calls/handler.ts";
import { TakenClaims } from "../../core/files/claiming-session.ts";
import type { RecordFiles } from "../../core/files/record-files.ts";
import type { ProjectJobs } from "../../core/jobs/jobs.ts";
import type { RequestLocks } from "../../core/locks/locks.ts";
import type { Db } from "../../core/plans/db-port.ts";
import type { DbQueries, DbSession } from "../../core/query/session.ts";
import type { Log } from "../../core/plans/log-port.ts";
import type { HookCall } from "../../core/plans/hook-call.ts";
import type { OutboundRequest } from "../../core/plans/outbound-port.ts";
import type { Row } from "../../core/values/row.ts";
import { entityOf } from "../config/shop.ts";

const id = "6f1a6f5e-0000-4000-8000-000000000001";
const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

let sent: OutboundRequest[] = [];
let begun: HookCall[] = [];
let row: Row = {};
beforeEach(() => {
  sent = [];
  begun = [];
  row = { receipt_id: id, status: "draft", total: 5 };
});

async function entityWith(isBlocking: boolean): Promise<Entity> {
  const hook = { name: "call", url: "https://a.example/", blocking: isBlocking };
  const { entity } = await entityOf({
    action: { "change-status": true },
    tableName: "receipts",
    workflow: { hooks: { done: { onBefore: [hook], onAfter: [hook] } } },
  });
  return entity;
}

/** Gives up the transaction `conflicts` times at its end, as a deadlock does, and runs it again. */
function requestWith({ conflicts = 0, leftMs = 15_000 }): Request {
  const tx = {
    one: async () => row,
    updateOne: async () => ({ ...row, status: "done" }),
  } as unknown as DbQueries;
  const session = {
    async tx(work: (tx: DbQueries) => Promise<unknown>) {
      for (let left = conflicts; left > 0; left--) await work(tx);
      return work(tx);
    },
  } as unknown as DbSession;
  return {
    caller: nobody,
    method: "POST",
    language: null,
    wantsCsv: false,
    dryRun: false,
    countSteps: async () => new Map(),
    ifMatch: null,
    lockToken: null,
    share: () => "address:",
    idempotencyKey: null,
    lastEventId: null,
    feed: { wrote: () => undefined } as unknown as Feed,
    taken: new TakenClaims(),
    upload: null,
    jobs: {} as ProjectJobs,
    files: {} as RecordFiles,
    locks: {
      async takeRecords() {},
      async checkWrite() {},
    } as Partial<RequestLocks> as RequestLocks,
    requestId: "r1",
    hookDepth: 0,
    body: { receipt_id: id, status: "done" },
    session,
    deadlineAtMs: performance.now() + leftMs,
    cache: { within: () => ({}) as ProjectCache } as unknown as ProjectCache,
    db: {} as Db,
    digest: (text) => text,
    basePath: "",
    background: {
      add: async () => undefined,
      async begin(calls) {
        begun.push(...calls);
      },
    },
    outbound: {
      async send(request) {
        sent.push(request);
        return { status: 200, text: "" };
      },
    },
    now: () => "2026-01-31T10:00:00.000Z",
    newId: () => crypto.randomUUID(),
    log: silent,
  };
}

const changer = async (isBlocking: boolean): Promise<(request: Request) => Promise<Answer>> => {
  const handler = bindAction(changeStatus, await entityWith(isBlocking), {
    access: openAccess,
    entities: new Map(),
  })!;
  return (request) => handler.run(request, null);
};

describe("a transaction that the database gives up", () => {
  test("after a blocking hook is not run again: the hook is called once, the answer is 503", async () => {
    const change = await changer(true);
    await expect(change(requestWith({ conflicts: 1 }))).rejects.toMatchObject({
      kind: "unavailable",
    });
    expect(sent).toHaveLength(2);
  });

  test("without blocking hooks is run again, and each hook is started once", async () => {
    const change = await changer(false);
    const answer = await change(requestWith({ conflicts: 2 }));
    expect(begun.map(({ label }) => label)).toEqual(["items onBefore:call"]);
    expect(answer.later?.map(({ label }) => label)).toEqual(["items onAfter:call"]);
    expect(answer.body["workflow"]).toMatchObject({
      hooksExecuted: ["onBefore:call", "onAfter:call"],
    });
    expect(sent).toHaveLength(0);
  });
});

describe("a blocking hook", () => {
  test("gets no more time than the request has left for it", async () => {
    const change = await changer(true);
    await change(requestWith({ leftMs: 3_000 }));
    expect(sent[0]!.timeoutMs).toBeGreaterThan(1_500);
    expect(sent[0]!.timeoutMs).toBeLessThanOrEqual(2_000);
  });

  test("is not called when the request has no time left", async () => {
    const change = await changer(true);
    await expect(change(requestWith({ leftMs: 900 }))).rejects.toMatchObject({
      kind: "hookFailed",
    });
    expect(sent).toHaveLength(0);
  });
});
