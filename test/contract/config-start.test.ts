/** A configuration that does not fit the database stops the start; every fault is reported with file and position. */
import { beforeAll, describe, expect, inject, test } from "vitest";
import { createLog } from "../../app/start/observing/log.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { createTables } from "./tables.ts";
import { openForTests } from "./harness.ts";

const engine = inject("engine");
const database = openForTests(freshDatabase, engine);
beforeAll(async () => {
  const session = await openSession(engine, database.url);
  const things = createTables(engine, [
    {
      name: "things",
      columns: { id: "key", name: "text(40)", stock: "integer", note: "text(40)" },
    },
    { name: "keyless", columns: { a: "integer", b: "integer" } },
  ]);
  const indexes = [
    "create table loose_keys (code varchar(20) not null, name varchar(20) not null, alias varchar(20))",
    "create unique index loose_alias on loose_keys (alias)",
    "create unique index loose_pair on loose_keys (name, code)",
  ];
  const odd = {
    sqlite: [
      "create unique index loose_part on loose_keys (name) where alias is not null",
      "create unique index loose_term on loose_keys (lower(alias), code)",
    ],
    postgres: [
      "create unique index loose_part on loose_keys (name) where alias is not null",
      "create unique index loose_term on loose_keys (lower(alias), code)",
    ],
    mysql: ["create unique index loose_part on loose_keys (name(3))"],
  };
  for (const text of [...things, ...indexes, ...odd[engine]]) await session.run(text);
  await session.close();
});

const things = { tableName: "things", action: { read: true, create: true } };

/** Opens the service until it is ready; answers the message with which it refused, or null. */
async function start(
  endpoints: Record<string, unknown>,
  more: { project?: object; env?: Record<string, string> } = {},
) {
  const files = new Map([
    ["shop/project.json", JSON.stringify({ database: { url: database.url }, ...more.project })],
  ]);
  for (const [name, file] of Object.entries(endpoints)) {
    files.set(`shop/${name}.json`, typeof file === "string" ? file : JSON.stringify(file));
  }
  try {
    const service = await openService({ files, env: more.env ?? {}, log: createLog("silent") });
    try {
      await service.ready;
      return null;
    } finally {
      await service.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}

test("the service starts with a configuration that fits the database", async () => {
  expect(await start({ things })).toBeNull();
});

test("a table without a key takes create where the database answers the row that it stored", async () => {
  const refused = await start({
    keyless: { tableName: "keyless", action: { read: true, create: true } },
  });
  if (engine === "mysql") expect(refused).toMatch(/for create: this database does not answer/);
  else expect(refused).toBeNull();
});

describe("a fault", () => {
  /** `says`: text that the message must contain, besides the file's name. */
  const faults: { name: string; file: unknown; says: string[] }[] = [
    {
      name: "a table that does not exist stops the start",
      file: { ...things, tableName: "thingz" },
      says: ["tableName", "thingz"],
    },
    {
      name: "a field that the table lacks stops the start",
      file: { ...things, fieldName: ["id", "nmae"] },
      says: ["fieldName", "nmae", "name"],
    },
    {
      name: "a primary key that the table lacks stops the start",
      file: { ...things, primaryKey: "idd" },
      says: ["primaryKey", "idd"],
    },
    ...["code", "name", "alias"].map((primaryKey) => ({
      name: `writing by ${primaryKey}, which no index keeps apart and filled, stops the start`,
      file: { tableName: "loose_keys", primaryKey, action: { read: true, update: true } },
      says: ["primaryKey", primaryKey, "update (unique and NOT NULL in the database)"],
    })),
    ...["code", "name", "alias"].map((first) => ({
      name: `writing where the first field ${first} is no key stops the start`,
      file: { tableName: "loose_keys", fieldName: [first], action: { read: true, update: true } },
      says: ["tableName", "the table loose_keys, which has no key", "for update"],
    })),
    {
      name: "a rule for a field that the table lacks stops the start",
      file: { ...things, fieldValidation: [{ name: "nam", type: "string", constraints: {} }] },
      says: ["fieldValidation", "nam"],
    },
    {
      name: "an unknown property stops the start with a hint",
      file: { ...things, tabelName: "things" },
      says: ["tabelName", "tableName"],
    },
    {
      name: "an unknown action stops the start with a hint",
      file: { ...things, action: { raed: true } },
      says: ["raed", "read"],
    },
    {
      name: "an action that is neither true nor false stops the start",
      file: { ...things, action: { read: "yes" } },
      says: ["read"],
    },
    {
      name: "an unknown constraint stops the start",
      file: { ...things, fieldValidation: { name: { type: "string", minLenght: 3 } } },
      says: ["minLenght", "minLength"],
    },
    {
      name: "an unknown type of a rule stops the start",
      file: { ...things, fieldValidation: { name: { type: "strng" } } },
      says: ["fieldValidation", "strng"],
    },
    {
      name: "a pattern that is no regular expression stops the start",
      file: { ...things, fieldValidation: { name: { type: "string", pattern: "(" } } },
      says: ["pattern"],
    },
    {
      name: "a scope over an unknown column stops the start",
      file: { ...things, defaultScope: { activ: true } },
      says: ["defaultScope", "activ"],
    },
    {
      name: "a query that the database refuses stops the start",
      file: { ...things, viewQuery: "select nothing from nowhere" },
      says: ["viewQuery"],
    },
    {
      name: "a query with a second statement stops the start",
      file: { ...things, viewQuery: "select 1 as id; drop table things" },
      says: ["viewQuery"],
    },
    {
      name: "a query file that is missing stops the start",
      file: { ...things, viewQuery: "file:query/none.sql" },
      says: ["viewQuery", "query/none.sql"],
    },
    {
      name: "an adjust field that the table lacks stops the start",
      file: {
        ...things,
        action: { adjust: true },
        adjustConfig: { fields: { stok: { type: "integer" } } },
      },
      says: ["adjustConfig", "stok"],
    },
    {
      name: "an adjust field that is no number stops the start",
      file: {
        ...things,
        action: { adjust: true },
        adjustConfig: { fields: { name: { type: "integer" } } },
      },
      says: ["adjustConfig", "name"],
    },
    {
      name: "a hidden field that the table lacks stops the start",
      file: { ...things, hiddenFields: ["secrit"] },
      says: ["hiddenFields", "secrit"],
    },
    { name: "a file that is not JSON stops the start", file: "{tableName", says: [] },
    { name: "a file that is no object stops the start", file: "[]", says: [] },
  ];
  test.each(faults)("$name", async ({ file, says }) => {
    const message = await start({ things: file });
    expect(message).not.toBeNull();
    for (const word of ["shop/things.json", ...says]) expect(message).toContain(word);
  });

  test("an environment variable that is missing stops the start with its name", async () => {
    const message = await start({ things }, { project: { database: { url: "${NO_SUCH_URL}" } } });
    expect(message).toContain("shop/project.json");
    expect(message).toContain("NO_SUCH_URL");
  });

  test("an environment variable that is there, or has a default, is filled in", async () => {
    const project = { database: { url: "${SHOP_URL}", pool: 2 } };
    expect(await start({ things }, { project, env: { SHOP_URL: database.url } })).toBeNull();
    expect(
      await start(
        { things },
        { project: { database: { url: `\${NO_SUCH_URL:-${database.url}}` } } },
      ),
    ).toBeNull();
  });

  test("an unknown property of project.json stops the start with a hint", async () => {
    const message = await start({ things }, { project: { cahce: {} } });
    for (const word of ["shop/project.json", "cahce", "cache"]) expect(message).toContain(word);
  });
});

describe("a relation between columns of two collations", () => {
  const collations: Readonly<Record<string, readonly string[]>> = {
    sqlite: ["binary", "nocase"],
    postgres: ['"default"', '"C"', '"POSIX"', "loose_one", "loose_two"],
    mysql: [
      "utf8mb4_general_ci",
      "utf8mb4_unicode_ci",
      "utf8mb4_bin",
      "utf8mb3_general_ci",
      "latin1_swedish_ci",
    ],
  };
  const mayDiffer = new Set([
    '"default" "C"',
    "utf8mb4_general_ci utf8mb4_bin",
    "utf8mb4_general_ci utf8mb3_general_ci",
  ]);
  const own = collations[engine]!;
  const pairs = own.flatMap((one) => own.map((other) => [one, other] as const));
  const tableOf = (collation: string): string =>
    `in_${collation.replaceAll('"', "").toLowerCase()}`;

  beforeAll(async () => {
    const session = await openSession(engine, database.url);
    const options = "(provider = icu, locale = 'und-u-ks-level2', deterministic = false)";
    if (engine === "postgres")
      for (const name of ["loose_one", "loose_two"])
        await session.run(`create collation ${name} ${options}`);
    for (const one of own)
      await session.run(
        `create table ${tableOf(one)} (id varchar(20) collate ${one} not null primary key)`,
      );
    await session.close();
  });

  test.each(pairs)("%s and %s starts if the database can compare them", async (one, other) => {
    const endpoint = (collation: string) => ({
      tableName: tableOf(collation),
      action: { read: true },
    });
    const message = await start({
      here: { ...endpoint(one), relations: { other: { endpoint: "there", column: "id" } } },
      there: endpoint(other),
    });
    const session = await openSession(engine, database.url);
    const statement = `select * from ${tableOf(one)} a join ${tableOf(other)} b on a.id = b.id`;
    const isRefused = await session.run(statement).then(
      () => false,
      () => true,
    );
    await session.close();
    if (isRefused) expect(message).toContain("columns that can be compared");
    const isFine = one === other || mayDiffer.has(`${one} ${other}`) || engine === "sqlite";
    if (isFine) expect(message).toBeNull();
  });
});

test("all faults of all files are said at once", async () => {
  const message = await start({
    first: { ...things, tabelName: "things", action: { raed: true } },
    second: { ...things, fieldName: ["nmae"] },
    third: { ...things, tableName: "thingz" },
  });
  for (const word of [
    "shop/first.json",
    "tabelName",
    "raed",
    "shop/second.json",
    "nmae",
    "shop/third.json",
    "thingz",
  ]) {
    expect(message).toContain(word);
  }
});

test("the message tells nothing of the database's address", async () => {
  const message = await start({ things: { ...things, tableName: "thingz" } });
  expect(message).not.toContain(database.url);
});
