/** `webhooks`: other services are told of committed changes, signed, in order, and until they have taken them. */
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { runHooks } from "../../app/start/commands/hooks-command.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { check, instant, uuid } from "./cases.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";
import {
  type Received,
  type Receiver,
  startWebhookReceiver,
  webhookSecret,
} from "./webhook-receiver.ts";

/** Unique per run: another run can use the same Redis. */
const run = randomUUID().slice(0, 8);
const tries = 12;
/** Longer than a busy machine takes. */
const timeoutMs = 3_000;
const times = { pauseSeconds: Array<number>(tries - 1).fill(0.02), lookMs: 20, leaseMs: 30_000 };

const all = {
  create: true,
  read: true,
  first: true,
  update: true,
  delete: true,
  restore: true,
  adjust: true,
  "change-status": true,
  "bulk-create": true,
  "bulk-update": true,
  "bulk-delete": true,
  upsert: true,
  import: true,
};

/** Webhooks that are told of new pages: name, condition, and whether the page of the test meets it. */
const ofPages: readonly [string, string, string, unknown, boolean][] = [
  ["json", "tags", "=", { b: [2], a: 1 }, true],
  ["other-json", "tags", "=", { a: 1 }, false],
  ["not-json", "tags", "!=", { a: 1, b: [2] }, false],
  ["not-other-json", "tags", "!=", [2], true],
  ["without-text", "is_final", "NOT LIKE", "x%", false],
  // In UTF-16, the first character is less than the second one.
  ["behind", "body", ">", "\uff5e", true],
  ["before", "body", "<=", "\uff5e", false],
  ["between", "body", "BETWEEN", ["a", "\uff5e"], false],
  ["longer", "body", ">", "\u{1f600}", true],
];

let fixture: Fixture;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  const webhook = (name: string, more: object) => ({
    name,
    endpoints: ["items"],
    url: `http://${receiver.host}/${name}`,
    secret: webhookSecret,
    ...more,
  });
  const isOpen = { conditions: [{ key: "status", operator: "=", value: "open" }] };
  fixture = await openFixture({
    env: { METRICS_TOKEN: "0123456789abcdef" },
    deliveryTimes: times,
    tables: [
      {
        name: "items",
        columns: {
          item_id: "key",
          name: "text(40)",
          price: "decimal(12,2)",
          stock: { type: "integer", default: "0" },
          status: { type: "text(20)", default: "'open'" },
          notes: "text(40)",
          secret: "text(40)",
          is_deleted: "boolean",
          updated_at: "timestamp",
        },
      },
      { name: "orders", columns: { order_id: "key", name: "text(40)", total: "decimal(12,2)" } },
      {
        name: "order_lines",
        columns: {
          line_id: "key",
          order_id: {
            type: "text(36)",
            references: { table: "orders", column: "order_id", onDelete: "CASCADE" },
          },
          amount: "decimal(12,2)",
        },
      },
      {
        name: "pages",
        columns: {
          page_id: "key",
          body: "longtext",
          edition: "integer",
          tags: "json",
          is_final: "boolean",
        },
      },
      { name: "quiet", columns: { quiet_id: "key", name: "text(40)" } },
      { name: "inner", columns: { inner_id: "key", name: "text(40)" } },
    ],
    endpoints: {
      items: {
        tableName: "items",
        action: all,
        softDelete: true,
        hiddenFields: ["secret"],
        changes: { except: ["notes"] },
        workflow: { statusField: "status" },
        adjustConfig: { fields: { stock: { type: "integer" } } },
        importConfig: { upsertKeys: ["item_id"] },
      },
      goods: { tableName: "items", action: { update: true } },
      orders: {
        tableName: "orders",
        action: {
          ...all,
          restore: false,
          adjust: false,
          "change-status": false,
          import: false,
          "create-composite": true,
          "update-composite": true,
        },
        masterDetail: { detailTable: "order_lines", foreignKey: "order_id" },
        calculation: { header: { total: "SUM(amount)" } },
      },
      "order-lines": {
        tableName: "order_lines",
        action: { create: true, update: true, delete: true, read: true },
      },
      pages: { tableName: "pages", action: { create: true, read: true, "bulk-update": true } },
      quiet: { tableName: "quiet", action: { create: true, read: true } },
      inner: { tableName: "inner", action: { create: true } },
    },
    project: {
      batch: { enabled: true },
      hooks: { allowedHosts: [receiver.host], timeoutMs },
      webhooks: [
        webhook("all", { endpoints: ["items", "orders", "order-lines"] }),
        webhook("priced", { on: ["update"], columns: ["price"] }),
        webhook("open", { when: isOpen }),
        webhook("gone", { on: ["delete"] }),
        webhook("pages", {
          endpoints: ["pages"],
          on: ["update"],
          url: "http://127.0.0.1:1/closed",
        }),
        ...ofPages.map(([name, key, operator, value]) =>
          webhook(name, {
            endpoints: ["pages"],
            on: ["create"],
            when: { conditions: [{ key, operator, value }] },
          }),
        ),
        // The same server under a name that no setting allows.
        webhook("inner", {
          endpoints: ["inner"],
          url: `http://${receiver.host.replace("127.0.0.1", "localhost")}/inner`,
        }),
      ],
    },
  });
});
afterEach(() => receiver.reacts(() => 200));
afterAll(async () => {
  expect(receiver.forged).toEqual([]);
  await fixture?.close();
  await receiver?.close();
});

const items = (action: string, body: object, headers: Record<string, string> = {}) =>
  fixture.post(`items/${action}`, body, headers);
const by = (key: string, value: string) => ({ where: [{ key, value }] });

async function made(more: object = {}): Promise<string> {
  const item_id = randomUUID();
  check(await items("create", { item_id, name: "n", price: 10, ...more }), { status: 201 });
  await heard("all", item_id, 1);
  return item_id;
}

const keyOf = ({ message: { key } }: Received): unknown => Object.values(key ?? {})[0];

/** What a webhook was told of a record, once it was told `count` times. */
const heard = (path: string, key: string, count: number): Promise<Received[]> =>
  receiver.hears((one) => one.path === path && keyOf(one) === key, count);

const waiting = async (more = ""): Promise<number> =>
  Number(
    (await fixture.sql(`select count(*) as n from rowgate_deliveries where 1 = 1 ${more}`))[0]![
      "n"
    ],
  );

/** Once everything was sent. */
const settled = () =>
  expect.poll(() => waiting("and state = 'waiting'"), { timeout: 20_000, interval: 20 }).toBe(0);

describe("a webhook", () => {
  test("is told of a change with the whole record, signed, and once", async () => {
    const item_id = randomUUID();
    const body = { item_id, name: "n", price: 10.5, notes: "private" };
    check(await items("create", body, { "x-request-id": "r-1" }), { status: 201 });
    check(await items("update", { item_id, price: 12 }), { status: 200 });
    const [created, updated] = await heard("all", item_id, 2);
    const shown = {
      item_id,
      name: "n",
      stock: 0,
      status: "open",
      is_deleted: null,
      updated_at: expect.anything(),
    };
    expect(created!.message).toEqual({
      id: expect.stringMatching(uuid),
      type: "items.created",
      at: expect.stringMatching(instant),
      project: "test",
      endpoint: "items",
      key: { item_id },
      record: { ...shown, price: 10.5, updated_at: null },
      old: null,
      by: null,
      request_id: "r-1",
    });
    expect(updated!.message).toMatchObject({
      type: "items.updated",
      record: { ...shown, price: 12 },
      old: { ...shown, price: 10.5, updated_at: null },
    });
    expect(updated!.headers).toMatchObject({ "content-type": "application/json" });
    await settled();
    expect(await heard("all", item_id, 2)).toHaveLength(2);
  });

  test.for<[string, (item_id: string) => Promise<Answer>, string, object | null]>([
    ["update", (item_id) => items("update", { item_id, name: "x" }), "updated", { name: "x" }],
    [
      "adjust",
      (item_id) =>
        items("adjust", { item_id, adjustments: [{ field: "stock", value: 3 }], reason: "x" }),
      "updated",
      { stock: 3 },
    ],
    [
      "change-status",
      (item_id) => items("change-status", { item_id, status: "closed" }),
      "updated",
      { status: "closed" },
    ],
    ["delete that marks", (item_id) => items("delete", by("item_id", item_id)), "deleted", null],
    [
      "bulk-update",
      (item_id) => items("bulk-update", { data: [{ item_id, name: "x" }] }),
      "updated",
      { name: "x" },
    ],
    [
      "bulk-update by where",
      (item_id) =>
        items("bulk-update", {
          where: { conditions: [{ key: "item_id", operator: "=", value: item_id }] },
          set: { name: "y" },
          expect: 1,
        }),
      "updated",
      { name: "y" },
    ],
    ["bulk-delete", (item_id) => items("bulk-delete", { keys: [item_id] }), "deleted", null],
    [
      "upsert",
      (item_id) => items("upsert", { data: { item_id, name: "z" } }),
      "updated",
      { name: "z" },
    ],
    [
      "update through another endpoint of the table",
      (item_id) => fixture.post("goods/update", { item_id, name: "g" }),
      "updated",
      { name: "g" },
    ],
    [
      "a batch",
      (item_id) =>
        fixture.post("_batch", {
          steps: [{ endpoint: "items", action: "update", body: { item_id, name: "b" } }],
        }),
      "updated",
      { name: "b" },
    ],
  ])("is told of %s", async ([, write, ending, record]) => {
    const item_id = await made();
    check(await write(item_id), { status: 200 });
    const [, told, ...rest] = await heard("all", item_id, 2);
    expect(rest).toEqual([]);
    expect(told!.message).toMatchObject({ type: `items.${ending}`, old: { name: "n" } });
    if (record === null) expect(told!.message.record).toBeNull();
    else expect(told!.message.record).toMatchObject(record);
  });

  test("is told of a restore as of a create", async () => {
    const item_id = await made();
    check(await items("delete", by("item_id", item_id)), { status: 200 });
    check(await items("restore", by("item_id", item_id)), { status: 200 });
    const [, , restored] = await heard("all", item_id, 3);
    expect(restored!.message).toMatchObject({
      type: "items.created",
      record: { name: "n", is_deleted: false },
      old: null,
    });
  });

  test("is told of each record of a bulk request, and of each row of an import", async () => {
    const ids: string[] = Array.from({ length: 30 }, () => randomUUID());
    const data = ids.map((item_id) => ({ item_id, name: "many" }));
    check(await items("bulk-create", { data }), { status: 201 });
    const importer = importerOf(fixture);
    const rows = ids.slice(0, 3).map((item_id) => [item_id, "imported"]);
    const file = await workbookOf([["item_id", "name"], ...rows]);
    await importer.committed("items", file);
    await receiver.hears(({ message }) => message.record?.["name"] === "imported", 3);
    const told = await receiver.hears(
      (one) => one.path === "all" && ids.includes(String(keyOf(one))),
      33,
    );
    expect(told.map(({ message }) => message.type).toSorted()).toEqual([
      ...Array<string>(30).fill("items.created"),
      ...Array<string>(3).fill("items.updated"),
    ]);
    expect(new Set(told.map(({ message }) => message.id)).size).toBe(33);
  });

  test("is told of records that are together larger than a statement of the database may be", async () => {
    const count = 60;
    const body = "x".repeat(150_000);
    for (let at = 0; at < count; at++)
      await fixture.sql(`insert into pages (page_id, body) values ('${at}', '${body}')`);
    const where = { conditions: [{ key: "body", operator: "IS NOT NULL" }] };
    const changed = { where, set: { edition: 2 }, expect: count };
    check(await fixture.post("pages/bulk-update", changed), { status: 200 });
    // To receive all of them would take long.
    expect(await waiting("and webhook = 'pages'")).toBe(count);
    await fixture.sql("delete from rowgate_deliveries where webhook = 'pages'");
  });

  test("is told of documents, their lines, their totals, and of what the database deletes", async () => {
    const order_id = randomUUID();
    const [one, two] = [randomUUID(), randomUUID()];
    const order_lines = [
      { line_id: one, amount: 1.5 },
      { line_id: two, amount: 2 },
    ];
    const answer = await fixture.post("orders/create-composite", {
      orders: { order_id, name: "o", order_lines },
    });
    check(answer, { status: 201 });
    const types = async (key: string, count: number) =>
      (await heard("all", key, count)).map(({ message: { type, record } }) => [
        type,
        record?.["total"],
      ]);
    expect(await types(order_id, 1)).toEqual([["orders.created", 3.5]]);
    expect(await types(one, 1)).toEqual([["order-lines.created", undefined]]);
    check(await fixture.post("orders/delete", by("order_id", order_id)), { status: 200 });
    expect(await types(order_id, 2)).toContainEqual(["orders.deleted", undefined]);
    expect(await types(two, 2)).toContainEqual(["order-lines.deleted", undefined]);
  });
});

describe("a webhook is not told", () => {
  const nothingOf = async (path: string, item_id: string, write: () => Promise<unknown>) => {
    const before = receiver.received.length;
    await write();
    await settled();
    expect(
      receiver.received.slice(before).filter((one) => one.path === path && keyOf(one) === item_id),
    ).toEqual([]);
  };

  test.for<[string, string, object, (item_id: string) => Promise<unknown>]>([
    [
      "of updates of other columns",
      "priced",
      {},
      (item_id) => items("update", { item_id, name: "x" }),
    ],
    [
      "of kinds of changes that it does not ask for",
      "priced",
      {},
      (item_id) => items("delete", by("item_id", item_id)),
    ],
    [
      "of an update that is no delete",
      "gone",
      {},
      (item_id) => items("update", { item_id, price: 1 }),
    ],
    [
      "of a new record that does not meet its condition",
      "open",
      {},
      (item_id) => items("update", { item_id, status: "closed" }),
    ],
    [
      "of a deleted record that did not meet its condition",
      "open",
      { status: "closed" },
      (item_id) => items("delete", by("item_id", item_id)),
    ],
    [
      "of an update that changes nothing",
      "all",
      {},
      (item_id) => items("update", { item_id, name: "n" }),
    ],
    [
      "of a refused write",
      "all",
      {},
      (item_id) => items("update", { item_id, name: "n".repeat(50) }),
    ],
    [
      "of a dry run",
      "all",
      {},
      (item_id) => items("update", { item_id, name: "m" }, { prefer: "tx=rollback" }),
    ],
    [
      "of a batch that is undone",
      "all",
      {},
      (item_id) =>
        fixture.post("_batch", {
          steps: [
            { endpoint: "items", action: "update", body: { item_id, name: "m" } },
            { endpoint: "items", action: "update", body: { item_id: "none", name: "m" } },
          ],
        }),
    ],
  ])("%s", async ([, path, more, write]) => {
    const item_id = await made(more);
    await settled();
    await nothingOf(path, item_id, () => write(item_id));
  });

  test("of tables that no webhook names", async () => {
    const quiet_id = randomUUID();
    await nothingOf("all", quiet_id, () => fixture.post("quiet/create", { quiet_id, name: "q" }));
  });
});

describe("a condition", () => {
  test("looks at the new record, and at the old one of a delete; columns count for updates only", async () => {
    const item_id = await made({ status: "closed" });
    await items("update", { item_id, status: "open" });
    await items("update", { item_id, price: 11 });
    await items("delete", by("item_id", item_id));
    const open = (await heard("open", item_id, 3)).map(({ message }) => message.type);
    expect(open).toEqual(["items.updated", "items.updated", "items.deleted"]);
    const priced = await heard("priced", item_id, 1);
    expect(priced.map(({ message }) => message.record!["price"])).toEqual([11]);
    expect(await heard("gone", item_id, 1)).toHaveLength(1);
  });

  test("compares as read does: JSON values as a whole, and texts by characters", async () => {
    const page_id = randomUUID();
    const page = { page_id, body: "\u{1f600}!", tags: { a: 1, b: [2] }, is_final: true };
    check(await fixture.post("pages/create", page), { status: 201 });
    for (const [, key, operator, value, isMet] of ofPages) {
      const where = {
        conditions: [
          { key: "page_id", operator: "=", value: page_id },
          { key, operator, value },
        ],
      };
      const { body } = await fixture.post("pages/read", { where });
      expect(body.count, JSON.stringify(where)).toBe(Number(isMet));
    }
    await settled();
    const told = receiver.received.filter((one) => keyOf(one) === page_id);
    expect(told.map(({ path }) => path).toSorted()).toEqual(
      ofPages.flatMap(([name, , , , isMet]) => (isMet ? [name] : [])).toSorted(),
    );
  });
});

describe("what never leaves", () => {
  test("are columns that are hidden from everybody, and those that the file leaves out", async () => {
    const item_id = await made({ notes: "private" });
    await fixture.sql(`update items set secret = 'hush' where item_id = '${item_id}'`);
    await items("update", { item_id, name: "x" });
    await items("update", { item_id, notes: "also private" });
    await heard("all", item_id, 3);
    const texts = JSON.stringify((await heard("all", item_id, 3)).map(({ message }) => message));
    expect(texts).not.toContain("private");
    expect(texts).not.toContain("hush");
  });
});

describe("a failing receiver", () => {
  const nameOf = ({ message }: Received): unknown => message.record?.["name"];

  test.for<[string, number | null | string, number]>([
    ["a status of 500", 500, 2],
    ["a status of 404", 404, 2],
    ["a status of 410", 410, 2],
    ["a redirect, even to itself", "/all", 2],
    ["no answer in time", null, 1],
  ])(
    "is tried again with the same id after %s, and then hears what comes after it",
    async ([, reaction, times]) => {
      const item_id = await made();
      let failures = times;
      receiver.reacts((one) =>
        one.path === "all" && keyOf(one) === item_id && failures-- > 0 ? reaction : 200,
      );
      await items("update", { item_id, name: "a" });
      await items("update", { item_id, name: "b" });
      await items("update", { item_id, name: "c" });
      const [, ...told] = await heard("all", item_id, times + 4);
      expect(told.map(nameOf)).toEqual([...Array<string>(times + 1).fill("a"), "b", "c"]);
      expect(new Set(told.slice(0, times + 1).map(({ message }) => message.id)).size).toBe(1);
      expect(told[0]!.headers["webhook-id"]).toBe(told[times]!.headers["webhook-id"]);
    },
  );

  test("that takes long delays no other webhook", async () => {
    const ids: string[] = Array.from({ length: 45 }, () => randomUUID());
    const ended = Promise.withResolvers<number>();
    receiver.reacts((one) => (one.path === "open" ? ended.promise : 200));
    await items("bulk-create", { data: ids.map((item_id) => ({ item_id, name: "slow" })) });
    const hear = (path: string, count: number) =>
      receiver.hears((one) => one.path === path && ids.includes(String(keyOf(one))), count);
    await hear("all", 45);
    expect((await hear("open", 1)).length).toBeLessThan(45);
    ended.resolve(200);
    await hear("open", 45);
  });

  test("holds back its own record and webhook only", async () => {
    const [held, free] = [await made(), await made()];
    let isHeld = true;
    receiver.reacts((one) => (isHeld && one.path === "all" && keyOf(one) === held ? 503 : 200));
    await items("update", { item_id: held, price: 1 });
    await items("update", { item_id: held, price: 2 });
    await items("update", { item_id: free, price: 3 });
    await heard("all", free, 2);
    await heard("priced", held, 2);
    isHeld = false;
    await settled();
    const prices = (await heard("all", held, 3)).map(({ message }) => message.record!["price"]);
    expect([...new Set(prices)]).toEqual([10, 1, 2]);
  });

  test("is given up after 12 tries, and the record's next changes go on", async () => {
    const item_id = await made();
    receiver.reacts((one) => (one.path === "all" && nameOf(one) === "bad" ? 500 : 200));
    await items("update", { item_id, name: "bad" });
    await items("update", { item_id, name: "good" });
    await receiver.hears(
      (one) => one.path === "all" && keyOf(one) === item_id && nameOf(one) === "good",
    );
    const told = await heard("all", item_id, tries + 2);
    expect(told.map(nameOf)).toEqual(["n", ...Array<string>(tries).fill("bad"), "good"]);
    const [failed, ...rest] = await fixture.sql(
      `select message_id, tries, reason, state from rowgate_deliveries where state = 'failed'`,
    );
    expect(rest).toEqual([]);
    expect(failed).toMatchObject({
      message_id: told[1]!.message.id,
      state: "failed",
      reason: "The receiver answered with status 500",
    });
    expect(Number(failed!["tries"])).toBe(tries);
    await fixture.sql("delete from rowgate_deliveries where state = 'failed'");
  });

  test("hears 20 changes of one record in their order", async () => {
    const item_id = await made();
    let requests = 0;
    receiver.reacts(() => (requests++ % 7 === 3 ? 500 : 200));
    const prices = Array.from({ length: 20 }, (_, at) => at + 100);
    for (const price of prices) await items("update", { item_id, price });
    await settled();
    const told = (await heard("priced", item_id, 20)).map(
      ({ message }) => message.record!["price"],
    );
    expect([...new Set(told)]).toEqual(prices);
  });
});

test("an address inside of the network is not called unless hooks.allowedHosts names it", async () => {
  check(await fixture.post("inner/create", { inner_id: "i", name: "n" }), { status: 201 });
  const failed = () =>
    fixture.sql(
      "select reason from rowgate_deliveries where webhook = 'inner' and state = 'failed'",
    );
  await expect.poll(failed, { timeout: 20_000 }).toHaveLength(1);
  expect((await failed())[0]!["reason"]).toMatch(/is not a public address.*hooks\.allowedHosts/);
  expect(receiver.received.filter(({ path }) => path === "inner")).toEqual([]);
  await fixture.sql("delete from rowgate_deliveries where webhook = 'inner'");
});

/** The configuration as a project of this name, whose deliveries no other service takes. */
function asProject(name: string, hooks: object): Map<string, string> {
  const { webhooks, ...rest } = JSON.parse(fixture.files.get("test/project.json")!) as {
    webhooks: { name: string }[];
    hooks: object;
  };
  const project = {
    ...rest,
    hooks: { ...rest.hooks, ...hooks },
    webhooks: webhooks.filter((one) => one.name === "all"),
  };
  const files = new Map(
    [...fixture.files].map(([path, text]) => [path.replace("test/", `${name}/`), text]),
  );
  return files.set(`${name}/project.json`, JSON.stringify(project));
}

async function openOwn(files: Map<string, string>) {
  const log = createLog("silent");
  const service = await openService({ files, env: {}, log, deliveryTimes: times });
  await service.ready;
  const post = (path: string, body: object) =>
    service.app.request(`/api/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  return { post, close: () => service.close() };
}

describe("several processes", () => {
  test("send each delivery once", async () => {
    // A process that is busy for as long as the timeout would send again.
    const files = asProject("shared", { timeoutMs: 60_000 });
    const services = [await openOwn(files), await openOwn(files)] as const;
    const ids: string[] = Array.from({ length: 25 }, () => randomUUID());
    const data = ids.map((item_id) => ({ item_id, name: `shared ${run}` }));
    await services[0].post("shared/items/bulk-create", { data });
    await Promise.all(
      ids.map((item_id, at) =>
        services[at % 2]!.post("shared/items/update", { item_id, price: 5 }),
      ),
    );
    const left = () => waiting("and project = 'shared'");
    await expect.poll(left, { timeout: 20_000, interval: 20 }).toBe(0);
    await Promise.all(services.map((service) => service.close()));
    const told = receiver.received.filter((one) => ids.includes(String(keyOf(one))));
    expect(new Set(told.map(({ message }) => message.id)).size).toBe(told.length);
    const types = (key: string): string[] =>
      told.filter((one) => keyOf(one) === key).map(({ message }) => message.type);
    for (const id of ids) expect(types(id)).toEqual(["items.created", "items.updated"]);
  });
});

test("deliveries are counted by what they wait for", async () => {
  const rows = [
    ["waiting", 0, "2026-01-01"],
    ["waiting", 0, "2999-01-01"],
    // Its pause is over.
    ["waiting", 1, "2026-01-01"],
    ["waiting", 1, "2999-01-01"],
    ["failed", 12, "2026-01-01"],
  ].map(([state, done, due]) => {
    const [id, time] = [randomUUID(), `${due} 00:00:00`];
    return `('${id}', 'test', 'removed', 'x', '${state}', '${time}', ${done}, '${time}', '{}')`;
  });
  await made();
  await settled();
  const columns = "message_id, project, webhook, lane, state, due_at, tries, created_at, body";
  await fixture.sql(`insert into rowgate_deliveries (${columns}) values ${rows.join()}`);
  const counted = async (): Promise<string[]> => {
    const headers = { authorization: "Bearer 0123456789abcdef" };
    const { body } = await fixture.request("/metrics", { headers });
    return [...String(body).matchAll(/^rowgate_jobs\{queue="webhooks",state="(\w+)"\} (\d+)$/gm)]
      .map(([, state, count]) => `${state} ${count}`)
      .toSorted();
  };
  const expected = ["active 0", "completed 0", "delayed 1", "failed 1", "waiting 3"];
  // What was sent just now may still be counted.
  await expect.poll(counted).toEqual(expected);
  await fixture.sql("delete from rowgate_deliveries where webhook = 'removed'");
});

describe("rowgate hooks", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-test-webhooks-"));
    for (const [path, text] of fixture.files) {
      await mkdir(join(folder, "configs", dirname(path)), { recursive: true });
      await writeFile(join(folder, "configs", path), text);
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const rowgate = async (...args: string[]): Promise<string> => {
    const env = {
      CONFIG_DIR: join(folder, "configs"),
      STORAGE_URL: `file:${join(folder, "files")}`,
    };
    const { out, errors } = await runHooks(args, env);
    expect(errors).toBe("");
    return out;
  };

  /** A delivery that was given up; resolves with its id. */
  async function givenUp(item_id: string): Promise<string> {
    await items("update", { item_id, name: "bad" });
    const told = await heard("all", item_id, tries + 1);
    const count = () => waiting(`and state = 'failed' and message_id = '${told[1]!.message.id}'`);
    await expect.poll(count, { timeout: 10_000 }).toBe(1);
    return told[1]!.message.id;
  }

  test("lists what was given up, and has it sent again with the same id", async () => {
    const ids = [await made(), await made()];
    receiver.reacts((one) => (one.path === "all" ? 500 : 200));
    const [one, other] = [await givenUp(ids[0]!), await givenUp(ids[1]!)];
    const lines = (await rowgate()).split("\n");
    expect(lines[0]).toMatch(/^ID +GIVEN UP +TRIES +ENDPOINT +HOOK +REASON$/);
    expect(lines[1]!.split(/ {2,}/)).toEqual([
      one,
      expect.stringMatching(instant),
      "12",
      "test/items",
      "items.updated webhook:all",
      "The receiver answered with status 500",
    ]);
    const { body: metrics } = await fixture.request("/metrics", {
      headers: { authorization: "Bearer 0123456789abcdef" },
    });
    expect(metrics).toContain('rowgate_jobs{queue="webhooks",state="failed"} 2');
    expect(metrics).toMatch(/rowgate_hook_calls_total\{outcome="refused"\} \d+/);
    const listed = JSON.parse(await rowgate("--json")) as object[];
    expect(listed).toHaveLength(2);
    expect(listed[0]).toEqual({
      kind: "webhook",
      id: one,
      project: "test",
      webhook: "all",
      endpoint: "items",
      type: "items.updated",
      key: { item_id: ids[0] },
      request_id: expect.any(String),
      tries: 12,
      failed_at: expect.stringMatching(instant),
      reason: "The receiver answered with status 500",
    });
    receiver.reacts(() => 200);
    expect(await rowgate("retry", one)).toBe(
      "1 webhook delivery is sent again by the running service\n",
    );
    const again = await heard("all", ids[0]!, tries + 2);
    expect(again.at(-1)!.message).toEqual(again[1]!.message);
    expect(JSON.parse(await rowgate("list", "--json"))).toMatchObject([{ id: other }]);
    expect(await rowgate("retry", "--all")).toMatch(/^1 webhook delivery is/);
    await heard("all", ids[1]!, tries + 2);
    await settled();
    expect(await rowgate()).toBe("No hook call was given up\n");
  });

  test("lists what a project had whose webhooks were removed, and needs no other database", async () => {
    const plain = (url: string) => JSON.stringify({ database: { url } });
    const { database } = JSON.parse(fixture.files.get("test/project.json")!) as {
      database: { url: string };
    };
    const projects = { left: database.url, away: "postgres://nobody@127.0.0.1:9/none" };
    for (const [name, url] of Object.entries(projects)) {
      await mkdir(join(folder, "configs", name));
      await writeFile(join(folder, "configs", name, "project.json"), plain(url));
    }
    const at = "'2026-01-01 00:00:00'";
    const body = JSON.stringify({ endpoint: "items", type: "items.updated", key: {} });
    await fixture.sql(
      `insert into rowgate_deliveries (message_id, project, webhook, lane, state, due_at, tries, created_at, failed_at, reason, body) values ('left-1', 'left', 'gone', '1', 'failed', ${at}, 12, ${at}, ${at}, 'no', '${body}')`,
    );
    expect(JSON.parse(await rowgate("--json"))).toMatchObject([{ id: "left-1", webhook: "gone" }]);
    await fixture.sql("delete from rowgate_deliveries where project = 'left'");
    for (const name of Object.keys(projects))
      await rm(join(folder, "configs", name), { recursive: true });
  });

  test("lists and sends again however many were given up", async () => {
    // No service has this project.
    for (const [path, text] of asProject("many", {})) {
      await mkdir(join(folder, "configs", dirname(path)), { recursive: true });
      await writeFile(join(folder, "configs", path), text);
    }
    const count = 10_001;
    const at = "'2026-01-01 00:00:00'";
    const body = JSON.stringify({ endpoint: "items", type: "items.updated", key: {} });
    const rows = Array.from(
      { length: count },
      (_, id) =>
        `('many-${id}', 'many', 'all', '${id}', 'failed', ${at}, 12, ${at}, ${at}, 'no', '${body}')`,
    );
    for (let from = 0; from < count; from += 1_000)
      await fixture.sql(
        `insert into rowgate_deliveries (message_id, project, webhook, lane, state, due_at, tries, created_at, failed_at, reason, body) values ${rows.slice(from, from + 1_000).join(", ")}`,
      );
    const listed = JSON.parse(await rowgate("--project", "many", "--json")) as { id: string }[];
    expect(listed.map(({ id }) => id)).toEqual(rows.map((_, id) => `many-${id}`));
    expect(await rowgate("retry", "many-10000")).toMatch(/^1 webhook delivery is sent/);
    expect(await rowgate("retry", "--all", "--project", "many")).toMatch(
      /^10000 webhook deliveries are sent/,
    );
    expect(await waiting("and project = 'many' and state = 'waiting'")).toBe(count);
    await fixture.sql("delete from rowgate_deliveries where project = 'many'");
    await rm(join(folder, "configs", "many"), { recursive: true });
  });

  test.for<[string, string[], RegExp]>([
    ["an id that is not there", ["retry", "d9f0"], /No hook call with the id d9f0 was given up/],
    ["an id and --all", ["retry", "d9f0", "--all"], /^Use: rowgate hooks/],
    ["retry with neither", ["retry"], /^Use: rowgate hooks/],
    ["retry of a project with neither", ["retry", "--project", "test"], /^Use: rowgate hooks/],
    ["--all without retry", ["--all"], /^Use: rowgate hooks/],
    ["an unknown word", ["send"], /^Use: rowgate hooks/],
    ["--json with retry", ["retry", "--all", "--json"], /^Use: rowgate hooks/],
    ["an unknown option", ["--every"], /Unknown option '--every'/],
  ])("refuses %s", async ([, args, message]) => {
    await expect(rowgate(...args)).rejects.toThrow(message);
  });
});

describe("a service that stops", () => {
  test("leaves what it was sending to the next one, at once and as if it had not been tried", async () => {
    const files = asProject("other", { timeoutMs: 60_000 });
    const first = await openOwn(files);
    receiver.reacts(() => null);
    const item_id = randomUUID();
    await first.post("other/items/create", { item_id, name: "n" });
    await heard("all", item_id, 1);
    await first.close();
    expect(await waiting("and project = 'other' and claim is null and tries = 0")).toBe(1);
    receiver.reacts(() => 200);
    const second = await openOwn(files);
    const [before, after] = await heard("all", item_id, 2);
    expect(after!.message).toEqual(before!.message);
    const left = () => waiting("and project = 'other'");
    await expect.poll(left, { timeout: 20_000 }).toBe(0);
    await second.close();
  });
});
