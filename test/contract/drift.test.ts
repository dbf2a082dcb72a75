/** Drift: what `rowgate check` reports after the database's schema changed, and what `rowgate sync` writes. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { checkReport } from "../../app/start/commands/check-report.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { runInit } from "../../app/start/commands/init.ts";
import { runSync } from "../../app/start/commands/sync.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";
import { openRecorder } from "./sent-statements.ts";

const engine = inject("engine");
let database: FreshDatabase;
let session: PlainSession;
let configDir: string;
let env: Record<string, string>;

beforeAll(async () => {
  database = await freshDatabase(engine);
  session = await openSession(engine, database.url);
  await session.run("create table goods (id varchar(36) primary key, name varchar(40) not null)");
  configDir = await mkdtemp(join(tmpdir(), "rowgate-drift-"));
  await runInit({
    args: ["--database", database.url, "--project", "shop"],
    env: { CONFIG_DIR: configDir },
    out: () => undefined,
  });
  env = { CONFIG_DIR: configDir, SHOP_DATABASE_URL: database.url };
});
afterAll(async () => {
  await session?.close();
  await database?.drop();
  await rm(configDir, { recursive: true, force: true });
});

// oxlint-disable-next-line no-explicit-any -- tests look into the printed object
async function check(): Promise<any> {
  const checked = await checkConfig({ files: await readConfigFiles(configDir), env });
  return JSON.parse(checkReport(checked, configDir, true).out);
}

async function sync(isDryRun = false): Promise<string> {
  let text = "";
  await runSync({ isDryRun, env, out: (more) => (text += more) });
  return text;
}

const goods = async (): Promise<any> =>
  JSON.parse(await readFile(join(configDir, "shop", "goods.json"), "utf8"));

const unused = { file: "shop/query/old.sql", path: "$", message: "no endpoint uses this file" };

describe("a database that has moved on", () => {
  test("has no drift before it does", async () => {
    expect(await check()).toEqual({ ok: true, faults: [], drift: [], risks: [] });
    expect(await sync()).toContain("0 files changed");
  });

  test("has none about a table whose file has a fault, or that a query reads", async () => {
    const shop = join(configDir, "shop");
    const whole = await readFile(join(shop, "goods.json"), "utf8");
    await mkdir(join(shop, "query"), { recursive: true });
    await writeFile(join(shop, "goods.json"), whole.replace('"tableName"', "tableName"));
    const broken = await checkConfig({ files: await readConfigFiles(configDir), env });
    expect([broken.faults.map(({ file }) => file), broken.drift, broken.notices]).toEqual([
      ["shop/goods.json"],
      [],
      [],
    ]);
    const query = { action: { read: true }, viewQuery: "file:query/list.sql" };
    await writeFile(join(shop, "goods.json"), JSON.stringify(query));
    await writeFile(join(shop, "query", "list.sql"), "select id, name from goods");
    expect(await check()).toEqual({ ok: true, faults: [], drift: [], risks: [] });
    await rm(join(shop, "query"), { recursive: true });
    await writeFile(join(shop, "goods.json"), whole);
  });

  test("has drift of each kind, which is no fault", async () => {
    await session.run("alter table goods add column price decimal(8,2) not null default 0");
    await session.run("alter table goods add column api_token varchar(20)");
    await session.run(
      `alter table goods add column photo ${engine === "postgres" ? "bytea" : "blob"}`,
    );
    // Its name is a part of that of a table with a file.
    await session.run("create table good (id varchar(36) primary key, label varchar(9))");
    if (engine === "postgres")
      await session.run("alter table goods alter column name type varchar(80)");
    if (engine === "mysql") await session.run("alter table goods modify name varchar(80) not null");
    await mkdir(join(configDir, "shop", "query"), { recursive: true });
    await writeFile(join(configDir, "shop", "query", "old.sql"), "select 1");
    const { ok, drift, risks } = await check();
    expect(ok).toBe(true);
    expect(risks).toEqual([unused]);
    const found = drift.map((one: Record<string, unknown>) => [
      one["kind"],
      one["table"],
      one["column"],
    ]);
    expect(found).toEqual([
      ["table", "good", null],
      ["column", "goods", "price"],
      ["column", "goods", "api_token"],
      ["column", "goods", "photo"],
      ...(engine === "sqlite" ? [] : [["length", "goods", "name"]]),
    ]);
  });

  test("is shown what would change before it is changed", async () => {
    const before = await goods();
    const dry = await sync(true);
    expect(dry).toMatch(/^\+.*"price"/m);
    expect(await goods()).toEqual(before);
  });

  test("gets its new columns, with secrets and pictures hidden, and its new lengths", async () => {
    await sync();
    const { fieldName, fieldValidation, hiddenFields } = await goods();
    expect(fieldName).toEqual(["id", "name", "price", "api_token", "photo"]);
    expect(hiddenFields).toEqual(["api_token", "photo"]);
    expect(fieldValidation).toEqual([
      {
        name: "name",
        type: "string",
        constraints: { required: true, maxLength: engine === "sqlite" ? 40 : 80 },
      },
      { name: "price", type: "decimal", constraints: { scale: 2 } },
      { name: "api_token", type: "string", constraints: { maxLength: 20 } },
    ]);
    const { ok, drift } = await check();
    expect(ok).toBe(true);
    expect(drift.map((one: { kind: string }) => one.kind)).toEqual(["table"]);
  });

  test("names a command that writes the file of a new table", async () => {
    const name = engine === "mysql" ? "`price list`" : '"price list"';
    await session.run(`create table ${name} (id varchar(36) primary key)`);
    const { drift } = await check();
    const [command] = drift
      .map(({ message }: { message: string }) =>
        /rowgate init (.+price list.+) writes/.exec(message),
      )
      .filter(Boolean);
    const args = (command[1] as string)
      .match(/"[^"]*"|\S+/g)!
      .map((one) => one.replaceAll('"', ""));
    expect(args[1]).toBe("<URL>");
    args[1] = database.url;
    await runInit({ args, env, out: () => undefined });
    const path = join(configDir, "shop", "price_list.json");
    expect(JSON.parse(await readFile(path, "utf8"))).toMatchObject({ tableName: "price list" });
    await rm(path);
    await session.run(`drop table ${name}`);
  });

  test("has columns of its own for deleted rows, which sync leaves out of answers", async () => {
    const before = await goods();
    for (const column of ["is_deleted boolean default false", "gone_by varchar(40)"])
      await session.run(`alter table goods add column ${column}`);
    const columnsToldWith = async (softDelete: unknown): Promise<unknown[]> => {
      const text = JSON.stringify({ ...before, softDelete });
      await writeFile(join(configDir, "shop", "goods.json"), text);
      const { ok, drift } = await check();
      expect(ok).toBe(true);
      return drift.flatMap(({ column }: { column: string | null }) => column ?? []);
    };
    expect(await columnsToldWith(false)).toEqual(["is_deleted", "gone_by"]);
    expect(await columnsToldWith(true)).toEqual(["gone_by"]);
    expect(await columnsToldWith({ by: "gone_by" })).toEqual([]);
    await sync();
    expect((await goods()).fieldName).toEqual(before.fieldName);
    await writeFile(join(configDir, "shop", "goods.json"), JSON.stringify(before));
    for (const column of ["is_deleted", "gone_by"])
      await session.run(`alter table goods drop column ${column}`);
  });

  test("is at fault when a column that is named has gone", async () => {
    await session.run("alter table goods drop column price");
    const { ok, faults } = await check();
    expect(ok).toBe(false);
    expect(faults[0]).toMatchObject({ file: "shop/goods.json", path: "fieldName[2]" });
    await expect(sync()).rejects.toThrow(/"price"/);
  });

  test.runIf(engine === "postgres")("gets new labels of a type", async () => {
    await session.run("alter table goods add column price decimal(8,2)");
    await session.run("create type mood as enum ('glad', 'sad')");
    await session.run("alter table goods add column mood mood");
    await sync();
    await session.run("alter type mood add value 'calm'");
    const { drift } = await check();
    expect(drift).toContainEqual(expect.objectContaining({ kind: "labels", column: "mood" }));
    await sync();
    expect((await goods()).fieldValidation).toContainEqual({
      name: "mood",
      type: "string",
      constraints: { enum: ["glad", "sad", "calm"] },
    });
  });
});

test.each([
  ["uuid", []],
  ["date", []],
  ["datetime", []],
  ["integer", ["the rule of made is for the type integer, the column is"]],
  ["boolean", ["the rule of made is for the type boolean, the column is"]],
])("a rule of type %s on a column of text has the drift %j", async (type, expected) => {
  const own = await freshDatabase(engine);
  const files = new Map([
    ["shop/project.json", JSON.stringify({ database: { url: own.url } })],
    [
      "shop/goods.json",
      JSON.stringify({
        tableName: "goods",
        action: { read: true },
        fieldValidation: [{ name: "made", type }],
      }),
    ],
  ]);
  const other = await openSession(engine, own.url);
  await other.run("create table goods (id varchar(36) primary key, made varchar(36))");
  const { out } = checkReport(await checkConfig({ files, env: {} }), "configs", true);
  await other.close();
  await own.drop();
  const { faults, drift } = JSON.parse(out);
  expect(faults).toEqual([]);
  expect(drift.map(({ message }: { message: string }) => message)).toEqual(
    expected.map((message) => expect.stringContaining(message)),
  );
});

const wide = { required: true, maxLength: 60 };
const narrow = { required: true, maxLength: 40 };
const code = { type: "string", maxLength: 9 };
test.each([
  [
    "an object",
    { made: { type: "string", ...wide }, kept: { type: "string", pattern: "^k" } },
    { made: { type: "string", ...narrow }, kept: { type: "string", pattern: "^k" }, code },
  ],
  [
    "an object with constraints",
    { kept: { type: "string" }, made: { type: "string", constraints: wide } },
    { kept: { type: "string" }, made: { type: "string", constraints: narrow }, code },
  ],
  [
    "a list without constraints",
    [{ name: "made", type: "string", ...wide }],
    [
      { name: "made", type: "string", ...narrow },
      { name: "code", type: "string", constraints: { maxLength: 9 } },
    ],
  ],
])("sync keeps rules that are written as %s in that form", async (_, written, expected) => {
  const own = await freshDatabase(engine);
  const other = await openSession(engine, own.url);
  await other.run(
    "create table goods (id varchar(36) primary key, kept varchar(36), made varchar(40), code varchar(9))",
  );
  await other.close();
  const folder = await mkdtemp(join(tmpdir(), "rowgate-drift-"));
  const file = join(folder, "shop", "goods.json");
  await mkdir(join(folder, "shop"));
  await writeFile(
    join(folder, "shop", "project.json"),
    JSON.stringify({ database: { url: own.url } }),
  );
  await writeFile(
    file,
    JSON.stringify({
      tableName: "goods",
      action: { read: true },
      fieldName: ["id", "kept", "made"],
      fieldValidation: written,
    }),
  );
  await runSync({ isDryRun: false, env: { CONFIG_DIR: folder }, out: () => undefined });
  const { fieldName, fieldValidation } = JSON.parse(await readFile(file, "utf8"));
  const checked = await checkConfig({ files: await readConfigFiles(folder), env: {} });
  await rm(folder, { recursive: true });
  await own.drop();
  expect({ fieldName, fieldValidation }).toEqual({
    fieldName: ["id", "kept", "made", "code"],
    fieldValidation: expected,
  });
  expect([checked.faults, checked.drift]).toEqual([[], []]);
});

test.each([
  [
    "on one line",
    '{ "action": { "read": true }, "tableName": "goods", "fieldName": ["id"] }',
    '{ "action": { "read": true }, "tableName": "goods", "fieldName": ["id", "size", "token"], "hiddenFields": ["token"] }',
  ],
  [
    "on many lines, with tabs and a byte order mark",
    '\uFEFF{\r\n\t"action": { "read": true },\r\n\t"tableName": "goods",\r\n\t"fieldName": [\r\n\t\t"id"\r\n\t],\r\n\t"hiddenFields": []\r\n}\r\n',
    '\uFEFF{\r\n\t"action": { "read": true },\r\n\t"tableName": "goods",\r\n\t"fieldName": [\r\n\t\t"id",\r\n\t\t"size",\r\n\t\t"token"\r\n\t],\r\n\t"hiddenFields": ["token"]\r\n}\r\n',
  ],
  [
    "with rules in lists and objects",
    '{\n  "action": { "read": true },\n  "tableName": "goods",\n  "fieldName": ["id"], "hiddenFields": ["token"],\n  "fieldValidation": [\n    { "name": "id", "type": "string", "constraints": { "maxLength": 30 } }\n  ]\n}\n',
    '{\n  "action": { "read": true },\n  "tableName": "goods",\n  "fieldName": ["id", "size"], "hiddenFields": ["token"],\n  "fieldValidation": [\n    { "name": "id", "type": "string", "constraints": { "maxLength": 36 } },\n    { "name": "size", "type": "integer" }\n  ]\n}\n',
  ],
])("sync keeps the layout of a file %s", async (_, before, after) => {
  const own = await freshDatabase(engine);
  const other = await openSession(engine, own.url);
  await other.run(
    "create table goods (id varchar(36) primary key, size integer, token varchar(9))",
  );
  await other.close();
  const folder = await mkdtemp(join(tmpdir(), "rowgate-drift-"));
  const file = join(folder, "shop", "goods.json");
  await mkdir(join(folder, "shop"));
  const settings = JSON.stringify({ database: { url: own.url } });
  await writeFile(join(folder, "shop", "project.json"), settings);
  await writeFile(file, before);
  await runSync({ isDryRun: false, env: { CONFIG_DIR: folder }, out: () => undefined });
  const written = await readFile(file, "utf8");
  await rm(folder, { recursive: true });
  await own.drop();
  expect(written).toBe(after);
});

test("check asks the database about a table once, whatever it tells of it", async () => {
  const recorder = await openRecorder(engine, database.url);
  const files = await readConfigFiles(configDir);
  const sent = await recorder.during(() => checkConfig({ files, env, advises: true }), /./s);
  await recorder.close();
  const asked = sent
    .map(({ text, params }) => `${text} ${params.join()}`)
    .filter((text) => text.includes("goods"));
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((text, at) => asked.indexOf(text) !== at)).toEqual([]);
});

test("a database that is away is a fault of its file", async () => {
  const away =
    engine === "sqlite"
      ? "sqlite:/nowhere/at-all.db"
      : database.url.replace(/\/\w+$/, "/not_there");
  const folder = await mkdtemp(join(tmpdir(), "rowgate-drift-"));
  await mkdir(join(folder, "shop"));
  const settings = JSON.stringify({ database: { url: away } });
  await writeFile(join(folder, "shop", "project.json"), settings);
  const checked = await checkConfig({ files: await readConfigFiles(folder), env: {} });
  const { isOk, out } = checkReport(checked, folder, true);
  await rm(folder, { recursive: true });
  expect(isOk).toBe(false);
  expect(JSON.parse(out).faults).toEqual([
    { file: "shop/project.json", path: "database.url", message: expect.stringContaining("; ") },
  ]);
});
