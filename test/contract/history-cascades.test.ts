/** History, live lists and webhooks of rows that the database changes by itself, because of a row that they reference. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { check, records } from "./cases.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";
import { openRecorder, type Recorder } from "./sent-statements.ts";
import type { FixtureTable } from "./tables.ts";
import { type Receiver, startWebhookReceiver, webhookSecret } from "./webhook-receiver.ts";

/** InnoDB has no SET DEFAULT. */
const hasDefaults = inject("engine") !== "mysql";

const ofShelf = (onUpdate: string, onDelete = "CASCADE", more: object = {}) =>
  ({
    type: "text(20)",
    references: { table: "shelves", column: "code", onUpdate, onDelete },
    ...more,
  }) as const;

const tables: readonly FixtureTable[] = [
  {
    name: "shelves",
    columns: {
      shelf_id: "key",
      code: { type: "text(20)", unique: true },
      name: "text(40)",
      bay: { type: "integer", unique: true },
    },
  },
  {
    name: "boxes",
    columns: {
      box_id: "key",
      shelf_code: ofShelf("CASCADE", "SET NULL"),
      bay: {
        type: "integer",
        references: { table: "shelves", column: "bay", onUpdate: "CASCADE", onDelete: "SET NULL" },
      },
    },
  },
  {
    name: "hints",
    columns: { hint_id: "key", shelf_id: "text(36)", shelf_code: ofShelf("SET NULL") },
  },
  // The reference is part of the key.
  {
    name: "labels",
    columns: { shelf_code: ofShelf("CASCADE"), number: "integer", text: "text(40)" },
    primaryKey: ["shelf_code", "number"],
  },
  // No endpoint has this table, and the next one has it through this one alone.
  {
    name: "racks",
    columns: { rack_id: "key", shelf_code: ofShelf("CASCADE", "CASCADE", { unique: true }) },
  },
  {
    name: "slots",
    columns: {
      slot_id: "key",
      shelf_code: {
        type: "text(20)",
        references: { table: "racks", column: "shelf_code", onUpdate: "CASCADE" },
      },
    },
  },
  ...(hasDefaults
    ? [
        {
          name: "spares",
          columns: {
            spare_id: "key",
            shelf_code: ofShelf("SET DEFAULT", "SET DEFAULT", { default: "'spare'" }),
          },
        } as const,
      ]
    : []),
];

const kept = (tableName: string, more: object = {}) => ({
  tableName,
  action: { create: true, read: true, delete: true },
  history: true,
  live: true,
  ...more,
});

let fixture: Fixture;
let receiver: Receiver;
let recorder: Recorder;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  fixture = await openFixture({
    tables,
    endpoints: {
      // It asks for no changes itself.
      shelves: {
        tableName: "shelves",
        action: {
          create: true,
          update: true,
          delete: true,
          adjust: true,
          "bulk-update": true,
          upsert: true,
          import: true,
          "create-composite": true,
          "update-composite": true,
        },
        adjustConfig: { fields: { bay: { type: "integer" } } },
        importConfig: { upsertKeys: ["shelf_id"] },
        masterDetail: { detailTable: "hints", foreignKey: "shelf_id" },
      },
      boxes: kept("boxes"),
      hints: kept("hints"),
      labels: kept("labels", { primaryKey: ["shelf_code", "number"] }),
      slots: kept("slots"),
      ...(hasDefaults && { spares: kept("spares") }),
    },
    project: {
      hooks: { allowedHosts: [receiver.host] },
      webhooks: [
        {
          name: "boxes",
          endpoints: ["boxes"],
          on: ["update"],
          url: `http://${receiver.host}/boxes`,
          secret: webhookSecret,
        },
      ],
    },
  });
  const { database } = JSON.parse(fixture.files.get("test/project.json")!) as {
    database: { url: string };
  };
  recorder = await openRecorder(inject("engine"), database.url);
});
afterAll(async () => {
  await recorder?.close();
  await fixture?.close();
  await receiver?.close();
});

const post = (endpoint: string, action: string, body: object) =>
  fixture.post(`${endpoint}/${action}`, body);

async function made(endpoint: string, body: object): Promise<void> {
  check(await post(endpoint, "create", body), { status: 201 });
}

/** A shelf, with a code that no other one has. */
async function shelf(more: object = {}): Promise<{ shelf_id: string; code: string; next: string }> {
  const shelf_id = randomUUID();
  const code = shelf_id.slice(0, 8);
  await made("shelves", { shelf_id, code, name: "n", ...more });
  return { shelf_id, code, next: `${code}-b` };
}

interface Entry {
  action: string;
  key: object;
  changes: Record<string, { from: unknown; to: unknown }>;
}

/** The changes of the record, newest first, without its creation. */
async function historyOf(endpoint: string, key: object): Promise<Entry[]> {
  const entries = records(await post(endpoint, "history", key)) as unknown as Entry[];
  return entries.filter(({ action }) => action !== "create");
}

/** What clients are told from now on. */
async function toldOf(...endpoints: string[]): Promise<() => Promise<object[]>> {
  const { since } = (await fixture.post("changes", { endpoints })).body as { since: string };
  return async () => (await fixture.post("changes", { endpoints, since })).body.data as object[];
}

const importing = async (rows: readonly (readonly string[])[]): Promise<Answer> => {
  const importer = importerOf(fixture);
  const preview = await importer.previewed("shelves", await workbookOf(rows));
  return importer.commit("shelves", preview.body.job_id);
};

type Send = (shelf_id: string, code: string) => Promise<Answer>;
const writes: [action: string, send: Send][] = [
  ["update", (shelf_id, code) => post("shelves", "update", { shelf_id, code })],
  [
    "bulk-update",
    (shelf_id, code) => post("shelves", "bulk-update", { data: [{ shelf_id, code }] }),
  ],
  ["upsert", (shelf_id, code) => post("shelves", "upsert", { data: { shelf_id, code } })],
  [
    "update-composite",
    (shelf_id, code) => post("shelves", "update-composite", { shelves: { shelf_id, code } }),
  ],
  [
    "import-commit",
    (shelf_id, code) =>
      importing([
        ["shelf_id", "code"],
        [shelf_id, code],
      ]),
  ],
];

describe("a foreign key with ON UPDATE", () => {
  test.each(writes)("has the rows in history and live that %s changes", async (action, send) => {
    const { shelf_id, code, next } = await shelf();
    const [box_id, hint_id] = [randomUUID(), randomUUID()];
    await made("boxes", { box_id, shelf_code: code });
    await made("hints", { hint_id, shelf_code: code });
    const told = await toldOf("boxes", "hints");
    const answer = await send(shelf_id, next);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(await historyOf("boxes", { box_id })).toMatchObject([
      { action, changes: { shelf_code: { from: code, to: next } } },
    ]);
    expect(await historyOf("hints", { hint_id })).toMatchObject([
      { action, changes: { shelf_code: { from: code, to: null } } },
    ]);
    expect(await told()).toMatchObject([
      { endpoint: "boxes", type: "updated", keys: [{ box_id }] },
      { endpoint: "hints", type: "updated", keys: [{ hint_id }] },
    ]);
  });

  test("has the rows that webhooks are told of", async () => {
    const { shelf_id, code, next } = await shelf();
    const box_id = randomUUID();
    await made("boxes", { box_id, shelf_code: code });
    check(await post("shelves", "update", { shelf_id, code: next }), { status: 200 });
    const [told] = await receiver.hears(({ message: { key } }) => key?.["box_id"] === box_id, 1);
    expect(told!.message).toMatchObject({
      type: "boxes.updated",
      old: { box_id, shelf_code: code },
      record: { box_id, shelf_code: next },
    });
  });

  test("costs nothing where the columns that it references are not written", async () => {
    const { shelf_id, next } = await shelf();
    const others = async (body: object) => {
      const sent = await recorder.during(() => post("shelves", "update", { shelf_id, ...body }));
      return sent.filter(({ text }) => /boxes|hints|labels|racks|slots/.test(text)).length;
    };
    expect(await others({ name: "x" })).toBe(0);
    expect(await others({ code: next })).toBeGreaterThan(0);
  });

  test("has the rows of a referenced number that adjust changes", async () => {
    const { shelf_id } = await shelf({ bay: 5 });
    const box_id = randomUUID();
    await made("boxes", { box_id, bay: 5 });
    const adjustments = [{ field: "bay", value: 2 }];
    check(await post("shelves", "adjust", { shelf_id, adjustments }), { status: 200 });
    expect(await historyOf("boxes", { box_id })).toMatchObject([
      { action: "adjust", changes: { bay: { from: 5, to: 7 } } },
    ]);
  });

  test("has rows whose key changes as one that goes and one that comes", async () => {
    const { shelf_id, code, next } = await shelf();
    await made("labels", { shelf_code: code, number: 1, text: "t" });
    const told = await toldOf("labels");
    check(await post("shelves", "update", { shelf_id, code: next }), { status: 200 });
    expect(await historyOf("labels", { shelf_code: code, number: 1 })).toMatchObject([
      { action: "update", changes: { text: { from: "t", to: null } } },
    ]);
    expect(await historyOf("labels", { shelf_code: next, number: 1 })).toMatchObject([
      { action: "update", changes: { text: { from: null, to: "t" } } },
    ]);
    expect(await told()).toMatchObject([
      { type: "created", keys: [{ shelf_code: next, number: 1 }] },
      { type: "deleted", keys: [{ shelf_code: code, number: 1 }] },
    ]);
  });

  test("is followed through a table that nobody asks about", async () => {
    const { shelf_id, code, next } = await shelf();
    const slot_id = randomUUID();
    await fixture.sql(`insert into racks (rack_id, shelf_code) values ('${slot_id}', '${code}')`);
    await made("slots", { slot_id, shelf_code: code });
    check(await post("shelves", "update", { shelf_id, code: next }), { status: 200 });
    expect(await historyOf("slots", { slot_id })).toMatchObject([
      { action: "update", changes: { shelf_code: { from: code, to: next } } },
    ]);
  });

  test("leaves rows out that keep their values", async () => {
    const { shelf_id, code } = await shelf();
    const box_id = randomUUID();
    await made("boxes", { box_id, shelf_code: code });
    check(await post("shelves", "update", { shelf_id, code, name: "x" }), { status: 200 });
    expect(await historyOf("boxes", { box_id })).toEqual([]);
  });
});

describe.skipIf(!hasDefaults)("a foreign key with SET DEFAULT", () => {
  beforeAll(() => shelf({ code: "spare" }));

  test.each<[string, Send, string]>([
    ["update", (shelf_id, code) => post("shelves", "update", { shelf_id, code }), "update"],
    [
      "delete",
      (value) => post("shelves", "delete", { where: [{ key: "shelf_id", value }] }),
      "delete",
    ],
  ])("has the default in history after %s", async (_, send, action) => {
    const { shelf_id, code, next } = await shelf();
    const spare_id = randomUUID();
    await made("spares", { spare_id, shelf_code: code });
    check(await send(shelf_id, next), { status: 200 });
    expect(await historyOf("spares", { spare_id })).toMatchObject([
      { action, changes: { shelf_code: { from: code, to: "spare" } } },
    ]);
  });
});
