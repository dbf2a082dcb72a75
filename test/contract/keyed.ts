/**
 * Opens the service for the tests of Idempotency-Key: one table with the four actions that accept it, with handlers
 * (`parts`), without (`plain`, `twins`), and with details (`documents`). Tests set the handlers' behaviour through
 * `on`. Every answer has passed `checkEnvelope`.
 */
import { afterAll, afterEach, inject, vi } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import {
  eventNames,
  type EventName,
  type HookContext,
  type HookHandler,
} from "../../core/plans/hook.ts";
import { checkEnvelope } from "./cases.ts";
import { type Answer, type FixtureOptions, openForTests } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";
import { openJobFixture } from "./job-places.ts";

const action = { create: true, adjust: true, read: true, first: true, import: true, lock: true };
const parts = {
  tableName: "parts",
  action,
  adjustConfig: { fields: { stock: { type: "integer", min: 0 } } },
  importConfig: { upsertKeys: ["code"] },
};
const details = {
  detailTable: "notes",
  foreignKey: "part_id",
  detailConfig: { primaryKey: "note_id", fieldName: ["text"] },
};

export function openKeyed() {
  const others: Service[] = [];
  const on: Partial<Record<EventName, HookHandler>> = {};
  const run = (context: HookContext) => on[context.event]?.(context);
  const components = Object.fromEntries(
    eventNames.map((event) => [event, ["components/probe.ts#run"]]),
  );
  const options: FixtureOptions = {
    tables: [
      {
        name: "parts",
        columns: {
          part_id: "key",
          code: { type: "text(300)", unique: true },
          name: "text(100)",
          stock: "integer",
          big: "bigint",
          updated_at: "timestamp",
        },
      },
      {
        name: "notes",
        columns: {
          note_id: "identity",
          part_id: { type: "text(36)", references: { table: "parts", column: "part_id" } },
          text: { type: "text(100)", notNull: true },
        },
      },
    ],
    endpoints: {
      plain: parts,
      twins: parts,
      parts: { ...parts, components },
      documents: {
        tableName: "parts",
        action: { "create-composite": true },
        masterDetail: details,
        components,
      },
    },
    project: { cors: { origins: ["http://page.test"] }, locking: { enforceResourceLocks: true } },
    components: { "components/probe.ts": { run } },
  };

  const fixture = openForTests(openJobFixture, "in the service", options);
  afterEach(() => {
    vi.useRealTimers();
    for (const event of eventNames) delete on[event];
  });
  afterAll(async () => {
    for (const service of others) await service.close();
  });

  /** POSTs to `<endpoint>/<action>` with the key. */
  async function send(
    path: string,
    body: unknown,
    key: string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await fixture.post(path, body, { "Idempotency-Key": key, ...headers });
    checkEnvelope(answer);
    return answer;
  }

  /** A second process on the same database, as it were; `project`: its name there. */
  async function openOther(project = "test"): Promise<typeof send> {
    const files = [...fixture.files].map(
      ([path, text]) => [path.replace(/^test\//, `${project}/`), text] as const,
    );
    const service = await openService({
      files: new Map(files),
      env: { STORAGE_URL: `file:${fixture.filesFolder}/other-${others.length}` },
      log: createLog("silent"),
      importComponent: async () => ({ run }),
    });
    others.push(service);
    return async (path, body, key, headers = {}) => {
      const response = await service.app.request(`/api/${project}/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "Idempotency-Key": key, ...headers },
        body: JSON.stringify(body),
      });
      return { status: response.status, headers: response.headers, body: await response.json() };
    };
  }

  return {
    on,
    send,
    openOther,
    post: async (path: string, body: unknown): Promise<Answer> => fixture.post(path, body),
    sql: (text: string) => fixture.sql(text),
    request: (path: string, init: RequestInit) => fixture.request(path, init),
    /** The id of a preview without faults, of one new part. */
    async previewed(endpoint: string, code: string): Promise<string> {
      const file = await workbookOf([
        ["code", "name"],
        [code, "imported"],
      ]);
      return (await importerOf(fixture).previewed(endpoint, file)).body.job_id;
    },
  };
}

/** What the service's clock shows from now on; the test's end puts it right. */
export function setClockAheadBy(ms: number): void {
  vi.useRealTimers();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });
}

/** What a handler waits for, and what the test waits for. */
export function gate() {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    open: opened.resolve,
    async handler() {
      reached.resolve();
      await opened.promise;
    },
  };
}

export const isReplayed = ({ headers }: Answer): boolean =>
  headers.get("Idempotency-Replayed") === "true";

export const isSqlite = (): boolean => inject("engine") === "sqlite";
