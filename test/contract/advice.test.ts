/**
 * `check --advise` suggests an index for a request that scans a large table. After the suggested statement has run, the
 * planner uses the index and the suggestion disappears.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { checkConfig, type CheckedConfig } from "../../app/start/commands/check-config.ts";
import { checkReport } from "../../app/start/commands/check-report.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession, type PlainSession } from "../servers/session.ts";

const engine = inject("engine");
let database: FreshDatabase;
let session: PlainSession;
let configDir: string;

/** The numbers from 1 to 50,000 as `n`. */
const numbers = {
  sqlite:
    "with recursive s(n) as (select 1 union all select n + 1 from s where n < 50000) select n from s",
  mysql: "select seq as n from seq_1_to_50000",
  postgres: "select n from generate_series(1, 50000) as n",
}[engine];

const endpoint = (tableName: string, match?: string): object => ({
  tableName,
  primaryKey: "id",
  action: { read: true, first: true, lookup: true },
  fieldName: tableName === "kinds" ? ["id", "name"] : ["id", "name", "kind_id", "made"],
  fieldNameLookup: { id: "id", text: "name", ...(match && { match }) },
});

beforeAll(async () => {
  database = await freshDatabase(engine);
  session = await openSession(engine, database.url);
  await session.run("create table kinds (id integer primary key, name varchar(40) not null)");
  await session.run("insert into kinds values (1, 'one')");
  const caseless = engine === "mysql" ? "character set utf8mb4 collate utf8mb4_general_ci" : "";
  await session.run(
    `create table goods (id integer primary key, name varchar(40) ${caseless}, kind_id integer not null, made date not null${
      // MySQL makes an index for each reference itself.
      engine === "mysql" ? "" : ", foreign key (kind_id) references kinds (id)"
    })`,
  );
  const day = {
    sqlite: "date('2020-01-01', '+' || (n % 2000) || ' days')",
    mysql: "'2020-01-01' + interval (n % 2000) day",
    postgres: "date '2020-01-01' + n % 2000",
  }[engine];
  const named = engine === "mysql" ? "concat('goods ', n)" : "'goods ' || n";
  await session.run(
    `insert into goods (id, name, kind_id, made) select n, ${named}, 1, ${day} from (${numbers}) as s`,
  );
  await session.run(
    "create table parts (id integer primary key, code varchar(40) not null, name varchar(40), price integer)",
  );
  await session.run(
    `insert into parts select n, ${named}, ${named}, n % 100 from (${numbers}) as s`,
  );
  if (engine === "postgres") await session.run("analyze");
  configDir = await mkdtemp(join(tmpdir(), "rowgate-advice-"));
  await mkdir(join(configDir, "shop"));
  const files = {
    project: { database: { url: database.url } },
    goods: endpoint("goods"),
    kinds: endpoint("kinds"),
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(configDir, "shop", `${name}.json`), JSON.stringify(content));
});
afterAll(async () => {
  await session?.close();
  await database?.drop();
  await rm(configDir, { recursive: true, force: true });
});

async function check(): Promise<CheckedConfig> {
  return checkConfig({ files: await readConfigFiles(configDir), env: {}, advises: true });
}

const wished = async (): Promise<[string, boolean][]> =>
  ((await check()).advice ?? []).map(({ message, statements }) => [
    message.replace(/,.*/s, ""),
    statements.length > 0,
  ]);

const search = "drop-downs search in name";
const label = "drop-downs are sorted by name";
const reference = "kind_id refers to kinds";
const time = "lists with the last made first are likely";

describe("check --advise", () => {
  test("says nothing of indexes unless it is asked", async () => {
    const { advice } = await checkConfig({ files: await readConfigFiles(configDir), env: {} });
    expect(advice).toBe(null);
  });

  test("advises nothing for a small table, and for a large one what its requests need", async () => {
    expect(await wished()).toEqual([
      [search, engine === "postgres"],
      [label, true],
      ...(engine === "mysql" ? [] : [[reference, true]]),
      [time, true],
    ]);
  });

  test("says honestly where no index helps a search within a text", async () => {
    const { advice } = await check();
    const message = advice?.[0]?.message ?? "";
    const none = 'but "match": "prefix" in fieldNameLookup could use one';
    expect(message.includes(none)).toBe(engine !== "postgres");
  });

  test("prints the statements for people, and an advice member for programs", async () => {
    const checked = await check();
    const all = checked.advice!.flatMap(({ statements }) => statements);
    const { out } = checkReport(checked, configDir, false);
    for (const statement of all) expect(out).toContain(`\n  ${statement};\n`);
    expect(JSON.parse(checkReport(checked, configDir, true).out).advice).toEqual(checked.advice);
  });

  test("names an index that serves two requests once", async () => {
    const path = join(configDir, "shop", "more.json");
    await writeFile(path, JSON.stringify(endpoint("goods", "prefix")));
    const names = (await check()).advice!.flatMap(({ statements }) => statements);
    await rm(path);
    const indexes = names.filter((one) => one.startsWith("create index"));
    expect(indexes.length).toBe({ sqlite: 4, postgres: 4, mysql: 2 }[engine]);
  });

  test("names the index that a relation to many lacks, until it is there", async () => {
    const folder = join(configDir, "shop");
    const relations = { priced: { endpoint: "parts", foreignColumn: "price" } };
    const before = JSON.stringify(endpoint("kinds"));
    const parts = { tableName: "parts", primaryKey: "id", action: { read: true } };
    await writeFile(join(folder, "parts.json"), JSON.stringify(parts));
    await writeFile(
      join(folder, "kinds.json"),
      JSON.stringify({ ...endpoint("kinds"), relations }),
    );
    const told = async () =>
      (await check()).advice!.filter(({ message }) => message.includes("relation priced"));
    const [first] = await told();
    expect(first).toMatchObject({ file: "shop/kinds.json", table: "parts", column: "price" });
    for (const statement of first!.statements) await session.run(statement);
    if (engine === "postgres") await session.run("analyze parts");
    const after = await told();
    await session
      .run(`drop index parts_price${engine === "mysql" ? " on parts" : ""}`)
      .catch(String);
    await rm(join(folder, "parts.json"));
    await writeFile(join(folder, "kinds.json"), before);
    expect(after).toEqual([]);
  });

  test.runIf(engine === "postgres")("leaves out a table that cannot be read", async () => {
    await session.run("create foreign data wrapper nobody");
    await session.run("create server away foreign data wrapper nobody");
    await session.run("create foreign table remote (id integer, name text) server away");
    const before = await wished();
    const path = join(configDir, "shop", "remote.json");
    const remote = { tableName: "remote", action: { datatables: true, read: true } };
    await writeFile(path, JSON.stringify(remote));
    const after = await wished().finally(() => rm(path));
    expect(after).toEqual(before);
  });

  test("is silent once its statements have been run, because the planner uses the indexes", async () => {
    for (const { statements } of (await check()).advice!)
      for (const statement of statements) await session.run(statement);
    if (engine === "postgres") await session.run("analyze");
    expect(await wished()).toEqual(engine === "postgres" ? [] : [[search, false]]);
  });

  test("advises an index for searches from the beginning of a label, and knows it afterwards", async () => {
    const path = join(configDir, "shop", "goods.json");
    await writeFile(path, JSON.stringify(endpoint("goods", "prefix")));
    const { advice } = await check();
    for (const { statements } of advice!)
      for (const statement of statements) await session.run(statement);
    // PostgreSQL has the trigrams, MySQL the index that sorts the labels.
    expect(advice!.map(({ statements }) => statements.length)).toEqual(
      engine === "sqlite" ? [1] : [],
    );
    expect(await wished()).toEqual([]);
  });
});

describe("check --advise of a grid", () => {
  const grid = (more: object): object => ({
    tableName: "parts",
    primaryKey: "id",
    action: { datatables: true, lookup: true },
    fieldNameLookup: { id: "id", text: "name" },
    ...more,
  });
  const adviceOf = async (more: object) => {
    const path = join(configDir, "shop", "parts.json");
    await writeFile(path, JSON.stringify(grid(more)));
    const { advice } = await check();
    await rm(path);
    return advice!.filter(({ table, message }) => table === "parts" && message.includes("search"));
  };
  /** The way to a full-text search. */
  const words = (columns: string[]): string =>
    `; "search": ${JSON.stringify({ fulltext: { columns } })} in the file would find words through an index`;
  const texts = { datatablesWhere: ["code", "name"] };

  test("says which columns to leave out of a search that no index can serve", async () => {
    const [advice] = await adviceOf({});
    expect(advice!.message).toBe(
      "grids search in id, code, name, price, and each search reads the whole table; an index serves only texts: name them in datatablesWhere, without numbers and dates" +
        words(["code", "name"]),
    );
    expect(advice!.statements).toEqual([]);
  });

  test("names one index for all columns of a search, or says that there is none", async () => {
    const advice = await adviceOf(texts);
    const message = "grids search in code, name, and each search reads the whole table";
    const none = "; no index of this database finds a text within a text";
    expect(advice[0]!.message).toBe(
      (engine === "postgres" ? message : message + none) + words(["code", "name"]),
    );
    // Without an index, the drop-down is told of another way.
    expect(advice).toHaveLength(engine === "postgres" ? 1 : 2);
    expect(advice[0]!.statements).toEqual(
      engine === "postgres"
        ? [
            "create extension if not exists pg_trgm",
            'create index concurrently parts_code_name_search on "parts" using gin ("code" gin_trgm_ops, "name" gin_trgm_ops)',
          ]
        : [],
    );
  });

  test.runIf(engine === "postgres")(
    "is silent once the planner uses the index, for drop-downs too",
    async () => {
      for (const { statements } of await adviceOf(texts))
        for (const statement of statements) await session.run(statement);
      await session.run("analyze parts");
      expect(await adviceOf(texts)).toEqual([]);
      const match = { fieldNameLookup: { id: "id", text: "name", match: "prefix" } };
      expect(await adviceOf({ ...texts, ...match })).toEqual([]);
      // A column that the index lacks makes the whole search read the table.
      expect(await adviceOf({ datatablesWhere: ["code", "price"] })).toHaveLength(1);
    },
  );

  test.each([
    ["grids", { read: true, lookup: true }],
    ["drop-downs", { read: true, datatables: true }],
  ])("is silent of %s that are switched off", async (what, action) => {
    const advice = await adviceOf({ action });
    expect(advice.filter(({ message }) => message.startsWith(what))).toEqual([]);
  });
});
