/** Reports of a service's parts about their work, and the request to which each belongs. */
import { beforeEach, expect, test } from "vitest";
import type { Origin, Watcher } from "../../app/observe/watcher.ts";
import type { HookContext } from "../../core/plans/hook.ts";
import { startHookServer } from "../outbound/hook-server.ts";
import { openFixture, openForTests } from "./harness.ts";

/** Each report, with the request that it belongs to. */
let seen: { readonly what: string; readonly id: string | undefined; readonly report: any }[] = [];
const note =
  (what: string) =>
  (report: unknown, { task }: Origin): void =>
    void seen.push({ what, id: task?.id, report });
const watcher: Watcher = {
  requestBegan: (task) => void seen.push({ what: "began", id: task.id, report: null }),
  requestEnded(task, end) {
    const { place } = task.exchange;
    seen.push({ what: "ended", id: task.id, report: { ...end, place } });
    return { "X-Seen": "yes" };
  },
  statement: note("statement"),
  waited: note("waited"),
  cache: note("cache"),
  handler: note("handler"),
  hookBegan: ({ place, task }) => ({
    headers: { "X-Mark": "seen" },
    ended: (report) => void seen.push({ what: "hook", id: task?.id, report: { ...report, place } }),
  }),
};

const secret = "A value of nobody else";
const hook = (path: string) => ({
  name: "ask",
  method: "POST",
  url: `http://${hooks.host}${path}`,
  blocking: true,
});
const hooks = openForTests(startHookServer);
const place = openForTests(() =>
  openFixture({
    tables: [{ name: "goods", columns: { id: "key", mark: "text(40)", state: "text(20)" } }],
    setUp: () => ["insert into goods values ('a', 'A', 'open'), ('b', 'B', 'open')"],
    endpoints: {
      goods: {
        tableName: "goods",
        action: { read: true, first: true, create: true, update: true, "change-status": true },
        components: { onBeforeUpdate: ["components/code.ts#check"] },
        workflow: {
          statusField: "state",
          hooks: {
            paid: { onBefore: [hook("/ask")] },
            refused: { onBefore: [hook("/status/400")] },
          },
        },
      },
    },
    project: { hooks: { allowedHosts: [hooks.host] } },
    components: {
      "components/code.ts": {
        async check({ data, query, reject }: HookContext) {
          if (data["mark"] === "refused") reject("No");
          if (data["mark"] === "by-name")
            throw Object.assign(new Error("No"), { name: "HookError" });
          await query(`select id from goods where mark = '${secret}'`);
        },
      },
    },
    watchers: [watcher],
  }),
);
beforeEach(() => void (seen = []));

const reportsOf = (what: string, id: string) =>
  seen.filter((one) => one.what === what && one.id === id).map(({ report }) => report);
const ask = (id: string, path: string, body: object) =>
  place.post(path, body, { "X-Request-Id": id });

test("a request is reported with its names, status and time, and may get headers", async () => {
  const { headers } = await ask("one", "goods/first", { where: { key: "id", value: "a" } });
  expect(headers.get("X-Seen")).toBe("yes");
  expect(reportsOf("began", "one")).toEqual([null]);
  expect(reportsOf("ended", "one")).toEqual([
    {
      status: 200,
      durationMs: expect.any(Number),
      place: { project: "test", endpoint: "goods", action: "first" },
    },
  ]);
});

test.each([
  ["/api/test/goods/made-up", { project: "test", endpoint: "goods", action: null }],
  ["/api/test/made-up/read", { project: "test", endpoint: null, action: null }],
  ["/api/made-up/goods/read", { project: null, endpoint: null, action: null }],
  ["/api/test/goods/delete", { project: "test", endpoint: "goods", action: null }],
])("a request to %s is reported without names that it made up", async (path, names) => {
  await place.request(path, { method: "POST", headers: { "X-Request-Id": "odd" } });
  expect(reportsOf("ended", "odd")).toMatchObject([{ status: 404, place: names }]);
});

test("requests at the same time have their own statements, in SQL without values", async () => {
  const ids = Array.from({ length: 8 }, (_, at) => `same-${at}`);
  await Promise.all(
    ids.map((id) => ask(id, "goods/first", { where: { key: "mark", value: secret } })),
  );
  for (const id of ids) {
    const statements = reportsOf("statement", id);
    expect(statements).toMatchObject([{ rows: 0, failure: null }]);
    expect(statements[0].text).toMatch(/^select .*goods/is);
    expect(statements[0].durationMs).toBeGreaterThan(0);
    expect(reportsOf("waited", id)).toMatchObject([{ isGiven: true }]);
  }
  expect(JSON.stringify(seen)).not.toContain(secret);
});

test("a statement that the database refuses is reported with the kind of its failure", async () => {
  expect((await ask("again", "goods/create", { id: "a", mark: "B" })).status).toBe(409);
  const failures = reportsOf("statement", "again").map(({ failure }) => failure);
  expect(failures).toContain("duplicate");
});

test("a transaction is reported with the handler in it, whose SQL has lost its literals", async () => {
  await ask("write", "goods/update", { id: "a", mark: "B" });
  const texts: string[] = reportsOf("statement", "write").map(({ text }) => text.toLowerCase());
  expect(texts[0]).toMatch(/^(begin|start transaction)/);
  expect(texts.at(-1)).toBe("commit");
  expect(texts).toContain("select id from goods where mark = ?");
  expect(reportsOf("handler", "write")).toMatchObject([
    { handler: "test/components/code.ts#check", endpoint: "goods", event: "onBeforeUpdate" },
  ]);
  expect(reportsOf("handler", "write")[0].outcome).toBe("completed");
});

test.each(["refused", "by-name"])(
  "a handler that refuses is reported as such: %s",
  async (mark) => {
    await ask(mark, "goods/update", { id: "a", mark });
    expect(reportsOf("handler", mark)).toMatchObject([{ outcome: "refused" }]);
  },
);

test("the cache is reported to miss, then to hit, and to be stale after a write", async () => {
  const read = async (id: string) => {
    await ask(id, "goods/read", { limit: 1, sort_columns: [{ column: "id" }] });
    return reportsOf("cache", id).map(({ kind, result }) => `${kind} ${result}`);
  };
  expect(await read("read-1")).toEqual(["list miss"]);
  expect(await read("read-2")).toEqual(["list hit"]);
  await ask("write-b", "goods/update", { id: "b", mark: "C" });
  expect(await read("read-3")).toEqual(["list stale"]);
});

test.each([
  ["paid", 200, { outcome: "completed", status: 200 }],
  ["refused", 502, { outcome: "refused", status: 400 }],
])("a hook is reported, and sent the headers of watchers: %s", async (state, status, report) => {
  const id = `hook-${state}`;
  const answer = await ask(id, "goods/change-status", { id: "a", status: state });
  expect(answer.status).toBe(status);
  expect(reportsOf("hook", id)).toMatchObject([
    {
      ...report,
      place: { project: "test", endpoint: "goods", status: state, hook: "onBefore:ask" },
    },
  ]);
  expect(hooks.heard.at(-1)?.headers["x-mark"]).toBe("seen");
});
