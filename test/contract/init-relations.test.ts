/** `rowgate init` makes relations from foreign keys; `check` tells those that files lack, and `sync` adds them. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { checkReport } from "../../app/start/commands/check-report.ts";
import { runInit } from "../../app/start/commands/init.ts";
import { runSync } from "../../app/start/commands/sync.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";

const engine = inject("engine");
const quote = engine === "mysql" ? "`" : '"';
const q = (name: string): string => `${quote}${name}${quote}`;
const id = "id integer primary key";
const to = (table: string, column = "id"): string => `integer references ${q(table)}(${q(column)})`;

const statements = [
  `create table countries (${id}, code varchar(5) not null unique, name varchar(40))`,
  `create table people (${id}, name varchar(40), country_code varchar(5) references countries(code), boss_id ${to("people")}, boss varchar(9), boss_record varchar(9))`,
  `create table bookings (${id}, buyer_id ${to("people")}, seller_id ${to("people")}, booked_on date)`,
  `create table notes (${id}, ${q("personId")} ${to("people")}, bookings varchar(9), note varchar(20))`,
  `create table ${q("odd things")} (${id}, ${q("größe id")} ${to("notes")}, ${q("2nd_id")} ${to("notes")}, ${q("constructor_id")} ${to("countries")})`,
  `create table tags (${id}, name varchar(20))`,
  `create table note_tags (note_id ${to("notes")}, tag_id ${to("tags")}, created_at timestamp, primary key (note_id, tag_id))`,
  `create table seen_notes (note_id ${to("notes")}, country_id ${to("countries")}, ${q("LastUpdate")} timestamp not null, modified_on date, primary key (note_id, country_id))`,
  `create table ranked_tags (note_id ${to("notes")}, tag_id ${to("tags")}, place integer, primary key (note_id, tag_id))`,
  `create table friends (${id}, first_id ${to("people")}, second_id ${to("people")})`,
  "create table rooms (house integer not null, door integer not null, size integer, primary key (house, door), unique (door, house))",
  `create table beds (${id}, door_no integer, house_no integer, foreign key (door_no, house_no) references rooms(door, house))`,
  `create table alone (${id}, name varchar(20))`,
  "insert into countries values (1, 'NO', 'Norway')",
  "insert into people values (1, 'Ada', 'NO', null, null, null), (2, 'Bob', null, 1, null, null)",
  "insert into bookings values (1, 1, 2, '2026-01-01'), (2, 2, 1, '2026-01-02'), (3, 1, null, null)",
  "insert into notes values (1, 2, null, 'x')",
  "insert into tags values (1, 'red'), (2, 'new')",
  "insert into note_tags (note_id, tag_id) values (1, 2)",
  "insert into rooms values (7, 1, 20)",
  "insert into beds values (1, 1, 7)",
];

const folders: string[] = [];
let database: FreshDatabase;
let session: PlainSession;
let configDir: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await freshDatabase(engine);
  session = await openSession(engine, database.url);
  for (const text of statements) await session.run(text);
  configDir = await freshFolder();
  env = { CONFIG_DIR: configDir, SHOP_DATABASE_URL: database.url };
  await init();
});
afterAll(async () => {
  await session?.close();
  await database?.drop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-relations-"));
  folders.push(folder);
  return folder;
}

const init = (...args: string[]): Promise<void> =>
  runInit({
    args: ["--database", database.url, "--project", "shop", ...args],
    env,
    out: () => undefined,
  });

const pathOf = (name: string): string => join(configDir, "shop", `${name}.json`);
const endpointOf = async (name: string): Promise<any> =>
  JSON.parse(await readFile(pathOf(name), "utf8"));

describe("the relations of", () => {
  const cases: readonly [endpoint: string, relations: object | undefined][] = [
    ["alone", undefined],
    [
      "bookings",
      {
        buyer: { endpoint: "people", column: "buyer_id" },
        seller: { endpoint: "people", column: "seller_id" },
      },
    ],
    [
      "countries",
      {
        people: { endpoint: "people", foreignColumn: "country_code", key: "code" },
        odd_things: { endpoint: "odd_things", foreignColumn: "constructor_id" },
        notes: {
          endpoint: "notes",
          through: { endpoint: "seen_notes", column: "country_id", foreignColumn: "note_id" },
        },
      },
    ],
    [
      "people",
      {
        country: { endpoint: "countries", column: "country_code", key: "code" },
        boss_record2: { endpoint: "people", column: "boss_id" },
        people: { endpoint: "people", foreignColumn: "boss_id" },
        bookings_by_buyer_id: { endpoint: "bookings", foreignColumn: "buyer_id" },
        bookings_by_seller_id: { endpoint: "bookings", foreignColumn: "seller_id" },
        notes: { endpoint: "notes", foreignColumn: "personId" },
        people_by_first_id: {
          endpoint: "people",
          through: { endpoint: "friends", column: "first_id", foreignColumn: "second_id" },
        },
        people_by_second_id: {
          endpoint: "people",
          through: { endpoint: "friends", column: "second_id", foreignColumn: "first_id" },
        },
      },
    ],
    [
      "notes",
      {
        person: { endpoint: "people", column: "personId" },
        odd_things_by_gr__e_id: { endpoint: "odd_things", foreignColumn: "größe id" },
        odd_things_by_2nd_id: { endpoint: "odd_things", foreignColumn: "2nd_id" },
        tags: {
          endpoint: "tags",
          through: { endpoint: "note_tags", column: "note_id", foreignColumn: "tag_id" },
        },
        countries: {
          endpoint: "countries",
          through: { endpoint: "seen_notes", column: "note_id", foreignColumn: "country_id" },
        },
        ranked_tags: { endpoint: "ranked_tags", foreignColumn: "note_id" },
      },
    ],
    [
      "odd_things",
      {
        gr__e_id: { endpoint: "notes", column: "größe id" },
        _2nd: { endpoint: "notes", column: "2nd_id" },
        constructor_record: { endpoint: "countries", column: "constructor_id" },
      },
    ],
    [
      "tags",
      {
        notes: {
          endpoint: "notes",
          through: { endpoint: "note_tags", column: "tag_id", foreignColumn: "note_id" },
        },
        ranked_tags: { endpoint: "ranked_tags", foreignColumn: "tag_id" },
      },
    ],
    [
      "note_tags",
      {
        note: { endpoint: "notes", column: "note_id" },
        tag: { endpoint: "tags", column: "tag_id" },
      },
    ],
    ["beds", { rooms: { endpoint: "rooms", column: ["house_no", "door_no"] } }],
    ["rooms", { beds: { endpoint: "beds", foreignColumn: ["house_no", "door_no"] } }],
  ];
  test.each(cases)("%s", async (endpoint, relations) => {
    expect((await endpointOf(endpoint)).relations).toEqual(relations);
  });

  test("tables of which only one is taken are none", async () => {
    const own = await freshFolder();
    await runInit({
      args: ["--database", database.url, "--project", "shop", "--tables", "bookings"],
      env: { ...env, CONFIG_DIR: own },
      out: () => undefined,
    });
    const text = await readFile(join(own, "shop", "bookings.json"), "utf8");
    expect(JSON.parse(text).relations).toBeUndefined();
  });
});

describe("a service of these files", () => {
  let service: Service;
  beforeAll(async () => {
    const files = await readConfigFiles(configDir);
    const own = { ...env, STORAGE_URL: `file:${await freshFolder()}` };
    service = await openService({ files, env: own, log: createLog("silent") });
    await service.ready;
  });
  afterAll(() => service?.close());

  test.each([
    [
      "bookings",
      { select: ["id", "buyer.name", "seller.country.name"], sort_columns: [{ column: "id" }] },
      [
        { id: 1, buyer: { name: "Ada" }, seller: { country: null } },
        { id: 2, buyer: { name: "Bob" }, seller: { country: { name: "Norway" } } },
        { id: 3, buyer: { name: "Ada" }, seller: null },
      ],
    ],
    [
      "people",
      {
        select: ["boss_record2.name"],
        where: { conditions: [{ key: "id", operator: "=", value: 2 }] },
      },
      [{ boss_record2: { name: "Ada" } }],
    ],
    ["beds", { select: ["rooms.size"] }, [{ rooms: { size: 20 } }]],
    [
      "tags",
      {
        select: ["name"],
        where: {
          conditions: [
            {
              key: "notes",
              operator: "ANY",
              where: { conditions: [{ key: "person.name", operator: "=", value: "Bob" }] },
            },
          ],
        },
      },
      [{ name: "new" }],
    ],
  ])("reads %s by them", async (endpoint, body, data) => {
    const response = await service.app.request(`/api/shop/${endpoint}/read`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(await response.json()).toMatchObject({ success: true, data });
  });
});

interface Told {
  readonly ok: boolean;
  readonly faults: readonly { file: string; path: string }[];
  readonly drift: readonly Record<string, string | null>[];
}

async function check(): Promise<Told> {
  const checked = await checkConfig({ files: await readConfigFiles(configDir), env });
  return JSON.parse(checkReport(checked, configDir, true).out);
}

async function sync(): Promise<string> {
  let text = "";
  await runSync({ isDryRun: false, env, out: (more) => (text += more) });
  return text;
}

const told = async (): Promise<unknown[]> =>
  (await check()).drift.map(({ kind, file, table, column }) => [kind, file, table, column]);

/** Changes the relations of an endpoint's file; undefined leaves them out. */
async function relate(endpoint: string, change: (relations: any) => object | undefined) {
  const payload = await endpointOf(endpoint);
  const relations = change(payload.relations);
  await writeFile(pathOf(endpoint), JSON.stringify({ ...payload, relations }));
}

describe("drift of relations", () => {
  test("is none after init", async () => {
    expect(await check()).toMatchObject({ ok: true, faults: [], drift: [] });
    expect(await sync()).toContain("0 files changed");
  });

  test("is none where a relation has another name, or its file has none", async () => {
    const before = await endpointOf("bookings");
    await relate("bookings", ({ buyer, seller }) => ({ client: buyer, buyer: seller }));
    await relate("tags", () => undefined);
    expect(await told()).toEqual([]);
    await writeFile(pathOf("bookings"), JSON.stringify(before));
  });

  test("is a foreign key without a relation, which sync adds", async () => {
    const { notes, people } = {
      notes: await endpointOf("notes"),
      people: await endpointOf("people"),
    };
    await relate("notes", ({ person, odd_things_by_2nd_id }) => ({ person, odd_things_by_2nd_id }));
    await relate("people", (relations) => ({ ...relations, boss_record2: undefined }));
    expect(await told()).toEqual([
      ["relation", "shop/notes.json", "note_tags", "note_id"],
      ["relation", "shop/notes.json", "odd things", "größe id"],
      ["relation", "shop/notes.json", "ranked_tags", "note_id"],
      ["relation", "shop/notes.json", "seen_notes", "note_id"],
      ["relation", "shop/people.json", "people", "boss_id"],
    ]);
    const report = await sync();
    expect(report).toContain("2 files changed");
    expect(report).toContain("no relation follows the foreign key people.boss_id to people");
    expect((await endpointOf("notes")).relations).toEqual(notes.relations);
    expect((await endpointOf("people")).relations).toEqual(people.relations);
    expect(await told()).toEqual([]);
  });

  test("is none where false leaves it out", async () => {
    await relate("notes", (relations) => ({ ...relations, person: false, tags: false }));
    await relate("beds", () => ({ rooms: false }));
    expect(await told()).toEqual([]);
    expect(await sync()).toContain("0 files changed");
  });

  test("takes a free name where the file uses its own for another relation", async () => {
    await relate("people", ({ country }) => ({ notes: country, country: false }));
    await sync();
    const { relations } = await endpointOf("people");
    expect(relations).toMatchObject({
      notes: { endpoint: "countries" },
      country: false,
      notes_list: { endpoint: "notes", foreignColumn: "personId" },
    });
    expect(await told()).toEqual([]);
  });

  test("is told of a new foreign key, and is a fault where its columns are gone", async () => {
    await session.run("alter table alone add column tag_id integer references tags(id)");
    await relate("alone", () => ({}));
    await relate("tags", () => ({ notes: false, ranked_tags: false }));
    expect(await told()).toEqual([
      ["column", "shop/alone.json", "alone", "tag_id"],
      ["relation", "shop/alone.json", "alone", "tag_id"],
      ["relation", "shop/tags.json", "alone", "tag_id"],
    ]);
    await sync();
    expect((await endpointOf("alone")).relations).toEqual({
      tag: { endpoint: "tags", column: "tag_id" },
    });
    expect((await endpointOf("tags")).relations).toMatchObject({
      alone: { endpoint: "alone", foreignColumn: "tag_id" },
    });
    await relate("tags", () => ({ alone: { endpoint: "alone", foreignColumn: "tag_number" } }));
    const { ok, faults } = await check();
    expect(ok).toBe(false);
    expect(faults).toMatchObject([
      { file: "shop/tags.json", path: "relations.alone.foreignColumn" },
    ]);
  });
});
