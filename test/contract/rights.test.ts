/**
 * Missing rights of the database user, and database rules that replace statements, are reported as faults by the check
 * of the configuration. A right that is revoked later is logged.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { runInit } from "../../app/start/commands/init.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";

const engine = inject("engine");
const user = `rowgate_${randomUUID().slice(0, 8)}`;

// SQLite has no users.
describe.runIf(engine !== "sqlite")("the database's user", () => {
  let database: FreshDatabase;
  let admin: PlainSession;
  let url: string;
  beforeAll(async () => {
    database = await freshDatabase(engine);
    admin = await openSession(engine, database.url);
    const own = new URL(database.url);
    own.username = user;
    own.password = "let-me-in";
    url = own.href;
    const name = engine === "mysql" ? `'${user}'@'%'` : user;
    const texts = [
      engine === "mysql"
        ? `create user ${name} identified by 'let-me-in'`
        : `create role ${name} login password 'let-me-in'`,
      ...["open", "shown", "partly", "numbered"].map(
        (table) =>
          `create table ${table}_orders (id varchar(36) primary key, name varchar(20), secret varchar(20))`,
      ),
      `grant select, insert, update, delete on open_orders to ${name}`,
      `grant select on shown_orders to ${name}`,
      `grant select (id, name), insert (id, name), update (name), delete on partly_orders to ${name}`.replace(
        ", delete on",
        " on",
      ),
      ...(engine === "postgres"
        ? [
            "create sequence number_seq",
            "alter table numbered_orders alter name set default nextval('number_seq')",
            `grant select, insert, update, delete on numbered_orders to ${name}`,
          ]
        : []),
    ];
    for (const text of texts) await admin.run(text);
  });
  afterAll(async () => {
    if (engine === "postgres") await admin.run(`drop owned by ${user}`);
    await admin.run(engine === "mysql" ? `drop user '${user}'@'%'` : `drop role ${user}`);
    await admin.close();
    await database.drop();
  });

  const action = { read: true, create: true, update: true, delete: true };
  const filesOf = (endpoint: object) =>
    new Map([
      ["test/project.json", JSON.stringify({ database: { url } })],
      ["test/orders.json", JSON.stringify(endpoint)],
    ]);
  async function faultsOf(endpoint: object): Promise<string[]> {
    const { faults, unreachable } = await checkConfig({ files: filesOf(endpoint), env: {} });
    expect(unreachable).toEqual([]);
    return faults.map(({ path, found, expected }) => `${path}: ${found}; ${expected}`);
  }
  const carriesOut = (verb: string, who = "") =>
    `a table on which the database carries out ${verb}${who === "" ? "" : ` for ${who}`}`;

  test("gets from init what it may do, of each table", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rowgate-rights-"));
    const args = ["--database", url, "--project", "shop"];
    let summary = "";
    const out = (text: string) => void (summary += text);
    await runInit({ args, env: { CONFIG_DIR: folder }, out });
    const files = await readConfigFiles(folder);
    await rm(folder, { recursive: true });
    const actions = [...files].flatMap(([file, text]) => {
      const { action } = JSON.parse(text) as { action?: object };
      // Which columns of the other table are in use is no matter here.
      const isWhole = action !== undefined && !file.includes("partly");
      return isWhole ? [[file, Object.keys(action)]] : [];
    });
    const reading = ["datatables", "read", "first", "lookup", "aggregate"];
    expect(Object.fromEntries(actions)).toEqual({
      "shop/open_orders.json": [...reading, "create", "update", "delete", "export", "import"],
      "shop/shown_orders.json": [...reading, "export"],
      ...(engine === "postgres" && {
        "shop/numbered_orders.json": [...reading, "update", "delete", "export"],
      }),
    });
    expect([...files.keys()]).toContain("shop/partly_orders.json");
    const [, value] = /^SHOP_DATABASE_URL=(.*)$/m.exec(summary)!;
    const { faults, unreachable } = await checkConfig({
      files,
      env: { SHOP_DATABASE_URL: value! },
    });
    expect([faults, unreachable]).toEqual([[], []]);
  });

  test("may do all that the actions need: no fault", async () => {
    expect(await faultsOf({ tableName: "open_orders", action })).toEqual([]);
  });

  test("may read alone: a fault for each kind of write that is on", async () => {
    const lacks = (verb: string, who: string) =>
      `tableName: shown_orders, on which the database user has no right to ${verb}; ${carriesOut(verb, who)}`;
    expect(await faultsOf({ tableName: "shown_orders", action })).toEqual([
      lacks("INSERT", "create"),
      lacks("UPDATE", "update"),
      lacks("DELETE", "delete"),
    ]);
    expect(await faultsOf({ tableName: "shown_orders", action: { read: true } })).toEqual([]);
  });

  // MySQL and MariaDB do not show a user the columns for which it has no rights.
  test.runIf(engine === "postgres")(
    "may use some columns: a fault that names the others",
    async () => {
      const endpoint = { tableName: "partly_orders", action: { read: true, create: true } };
      expect(await faultsOf(endpoint)).toEqual([
        `tableName: partly_orders, on which the database user has no right to SELECT the columns secret; ${carriesOut("SELECT")}`,
        `tableName: partly_orders, on which the database user has no right to INSERT the columns secret; ${carriesOut("INSERT", "create")}`,
      ]);
      expect(await faultsOf({ ...endpoint, fieldName: ["id", "name"] })).toEqual([]);
    },
  );

  test.runIf(engine === "postgres")("may not use the sequence of a default", async () => {
    expect(await faultsOf({ tableName: "numbered_orders", action: { create: true } })).toEqual([
      `tableName: numbered_orders, whose sequence "number_seq" the database user has no right to use; ${carriesOut("INSERT", "create")}`,
    ]);
  });

  test("loses a right while the service runs: 500, and the log says what the database said", async () => {
    const lines: string[] = [];
    const log = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
    const files = filesOf({ tableName: "open_orders", action });
    const service = await openService({ files, env: {}, log });
    await service.ready;
    const name = engine === "mysql" ? `'${user}'@'%'` : user;
    await admin.run(`revoke insert on open_orders from ${name}`);
    const answer = await service.app.fetch(
      new Request("http://localhost/api/test/orders/create", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          where: [
            { key: "id", value: "x" },
            { key: "name", value: "y" },
          ],
        }),
      }),
    );
    await service.close();
    await admin.run(`grant insert on open_orders to ${name}`);
    const { message } = (await answer.json()) as { message: string };
    expect([answer.status, message]).toEqual([500, "The request could not be processed"]);
    expect(lines.join("\n")).toMatch(/denied/);
  });
});

describe.runIf(engine === "postgres")("rules of the database", () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase(engine);
    const session = await openSession(engine, database.url);
    const texts = [
      "create table kept (id varchar(36) primary key, name text)",
      "create table moved (id varchar(36) primary key, name text)",
      "create rule elsewhere as on insert to moved do instead insert into kept values (new.id, new.name)",
      "create table noted (id varchar(36) primary key, name text)",
      "create rule also as on insert to noted do also notify noted",
    ];
    for (const text of texts) await session.run(text);
    await session.close();
  });
  afterAll(() => database.drop());

  test.each([
    [
      "moved",
      [
        'tableName: moved, where the rule "elsewhere" takes the place of INSERT and answers no rows; a table on which the database carries out INSERT for create',
      ],
    ],
    ["noted", []],
  ])("a table with INSERT rules: %s", async (tableName, expected) => {
    const { faults } = await checkConfig({
      files: new Map([
        ["test/project.json", JSON.stringify({ database: { url: database.url } })],
        ["test/orders.json", JSON.stringify({ tableName, action: { read: true, create: true } })],
      ]),
      env: {},
    });
    expect(faults.map(({ path, found, expected }) => `${path}: ${found}; ${expected}`)).toEqual(
      expected,
    );
  });
});
