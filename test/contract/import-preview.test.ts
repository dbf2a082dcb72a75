/**
 * The preview of an import, before anything is stored: the outcome of each row, and the reason where the database would
 * refuse it. The commit stores every row that the preview approved.
 */
import { beforeEach, describe, expect, inject, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { importerOf, workbookOf } from "./imports.ts";
import type { EngineName } from "../servers/session.ts";
import { openJobFixture } from "./job-places.ts";
import { openForTests } from "./harness.ts";

const bytes: Readonly<Record<EngineName, string>> = {
  sqlite: "blob",
  postgres: "bytea",
  mysql: "varbinary(20)",
};
/** A text whose column ignores case, and accents where the database can. */
const loose: Readonly<Record<EngineName, string>> = {
  sqlite: "varchar(20) collate nocase",
  postgres: "varchar(20) collate loose",
  mysql: "varchar(20) character set utf8mb4 collate utf8mb4_general_ci",
};
const areAccentsTold = inject("engine") === "sqlite";

const setUp = (engine: EngineName) => [
  ...(engine === "postgres"
    ? ["create collation loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)"]
    : []),
  `create table names (name_id integer primary key, name ${loose[engine]} not null unique, alias ${loose[engine]} unique)`,
  ...(engine === "mysql"
    ? [
        "create table nicks (nick_id integer primary key, nick varchar(20) character set utf8mb4 collate utf8mb4_roman_ci not null unique)",
      ]
    : []),
  "create table halls (hall varchar(10) not null, bay integer not null, primary key (hall, bay))",
  "create table makers (maker_id varchar(36) primary key, code varchar(10) not null unique)",
  `create table crates (
    crate_id varchar(36) primary key, code varchar(20) not null unique, label varchar(20) unique, note varchar(20),
    place varchar(10), position integer, hall varchar(10), bay integer, maker varchar(10), inside varchar(36),
    level integer not null default 7,
    unique (place, position),
    foreign key (hall, bay) references halls (hall, bay),
    foreign key (maker) references makers (code),
    foreign key (inside) references crates (crate_id))`,
  "create table sealed (seal_id varchar(36) primary key, name varchar(20), secret varchar(20) not null)",
  `create table sacks (
    sack_id ${bytes[engine]} primary key, inside ${bytes[engine]}, foreign key (inside) references sacks (sack_id))`,
  ...(engine === "postgres"
    ? ["create table hosts (host_id integer primary key, ip inet unique, idle interval, net cidr)"]
    : []),
  "insert into halls (hall, bay) values ('north', 1), ('north', 2)",
  "insert into makers (maker_id, code) values ('m1', 'ACME'), ('m2', 'BOLT')",
];

const action = { import: true };
const crates = { tableName: "crates", primaryKey: "crate_id", action, hiddenFields: ["note"] };
const endpoints = {
  crates: { ...crates, importConfig: { upsertKeys: ["code"] } },
  insert: { ...crates, importConfig: { upsertKeys: ["code"], upsertStrategy: "insert_only" } },
  flagged: {
    ...crates,
    importConfig: { upsertKeys: ["code"] },
    columnFormats: { position: { type: "boolean", trueLabel: "Top", falseLabel: "Below" } },
  },
  plain: crates,
  sacks: { tableName: "sacks", action: { ...action, create: true } },
  names: { tableName: "names", action, importConfig: { upsertKeys: ["name"] } },
  ...(inject("engine") === "mysql" && {
    nicks: { tableName: "nicks", action, importConfig: { upsertKeys: ["nick"] } },
  }),
  sealed: { tableName: "sealed", action, fieldName: ["name"] },
  ...(inject("engine") === "postgres" && {
    hosts: { tableName: "hosts", action, importConfig: { upsertKeys: ["ip"] } },
  }),
};

const shop = openForTests(openJobFixture, "in the service", { tables: [], setUp, endpoints });
const imports = importerOf(shop);

beforeEach(async () => {
  await shop.sql("delete from sacks");
  await shop.post("sacks/create", { sack_id: "AAEC" });
  await shop.sql("update crates set inside = null");
  await shop.sql("delete from crates");
  await shop.sql(
    "insert into crates (crate_id, code, label, place, position) values ('k1', 'C-1', 'first', 'a', 1), ('k2', 'C-2', 'second', 'a', 2)",
  );
});

/** Title, endpoint, rows with their headings, runs of outcomes as `from-to outcome`. */
type Case = readonly [
  title: string,
  endpoint: string,
  rows: readonly (readonly Json[])[],
  outcomes: readonly string[],
];

/** Also the messages by row. */
type Refusal = readonly [...Case, messages: Readonly<Record<number, string[]>>];

/** Only the database can read their texts. */
const unread: readonly Refusal[] = [
  [
    "values of types that only the database can read",
    "hosts",
    [
      ["host_id", "ip", "idle", "net"],
      [1, "10.0.0.1", "1 day", "10.0.0.0/8"],
      [2, "10.0.0.256", null, null],
      [3, "10.0.0.3", "soon", "10.0.0.1/8"],
      [4, "10.0.0.4", null, null],
    ],
    ["2-2 insert", "3-4 invalid", "5-5 insert"],
    {
      3: ["ip: has a value that the column cannot hold"],
      4: [
        "idle: has a value that the column cannot hold",
        "net: has a value that the column cannot hold",
      ],
    },
  ],
];

/** Only some collations have it. */
const romanLetters: readonly Refusal[] = [
  [
    "letters that are one for a language, in texts with and without other characters",
    "nicks",
    [
      ["nick_id", "nick"],
      [1, "Janus-1"],
      [2, "Ianus-1"],
      [3, "JANVS-1"],
      [4, "Janus_1"],
      [5, "J\u00e1nus-1"],
      [6, "Janus 1"],
    ],
    ["2-2 insert", "3-4 invalid", "5-5 insert", "6-6 invalid", "7-7 insert"],
    {
      3: ["nick: is already in row 2"],
      4: ["nick: is already in row 2"],
      6: ["nick: is already in row 2"],
    },
  ],
];

const refused: readonly Refusal[] = [
  ...(inject("engine") === "postgres" ? unread : []),
  ...(inject("engine") === "mysql" ? romanLetters : []),
  [
    "a reference that leads nowhere",
    "crates",
    [
      ["code", "maker"],
      ["C-1", "ACME"],
      ["C-3", "NONE"],
      ["C-4", null],
      ["C-2", "GONE"],
      ["C-5", "BOLT"],
    ],
    ["2-2 update", "3-3 invalid", "4-4 insert", "5-5 invalid", "6-6 insert"],
    {
      3: ['maker: there is no record "NONE" to refer to'],
      5: ['maker: there is no record "GONE" to refer to'],
    },
  ],
  [
    "a reference of several columns that leads nowhere",
    "crates",
    [
      ["code", "hall", "bay"],
      ["C-3", "north", 2],
      ["C-4", "north", 3],
      ["C-5", "south", 1],
      ["C-6", "south", null],
    ],
    ["2-2 insert", "3-4 invalid", "5-5 insert"],
    {
      3: ['hall: there is no record "north, 3" to refer to'],
      4: ['hall: there is no record "south, 1" to refer to'],
    },
  ],
  [
    "a reference to the own table that neither it nor the file has",
    "plain",
    [
      ["crate_id", "code", "inside"],
      ["k3", "C-3", "k1"],
      ["k4", "C-4", "k3"],
      ["k5", "C-5", "k5"],
      ["k6", "C-6", "k9"],
    ],
    ["2-4 insert", "5-5 invalid"],
    { 5: ['inside: there is no record "k9" to refer to'] },
  ],
  [
    "a primary key that is taken",
    "plain",
    [
      ["crate_id", "code"],
      ["k1", "C-3"],
      ["k3", "C-4"],
    ],
    ["2-2 invalid", "3-3 insert"],
    { 2: ["crate_id: already exists"] },
  ],
  [
    "a primary key that is taken, beside the upsert keys",
    "crates",
    [
      ["crate_id", "code"],
      ["k2", "C-3"],
    ],
    ["2-2 invalid"],
    { 2: ["crate_id: already exists"] },
  ],
  [
    "a primary key that is not that of the record",
    "crates",
    [
      ["crate_id", "code"],
      ["k2", "C-1"],
      ["k9", "C-2"],
    ],
    ["2-3 invalid"],
    {
      2: ["crate_id: is not the key of the stored record"],
      3: ["crate_id: is not the key of the stored record"],
    },
  ],
  [
    "a unique value that is taken, in a new and in a changed record",
    "crates",
    [
      ["code", "label"],
      ["C-1", "second"],
      ["C-2", "second"],
      ["C-3", "first"],
      ["C-4", "third"],
      ["C-5", null],
      ["C-6", null],
    ],
    ["2-4 invalid", "5-7 insert"],
    {
      2: ["label: already exists"],
      3: ["label: is already in row 2"],
      4: ["label: already exists"],
    },
  ],
  [
    "unique values that stand twice in the file",
    "plain",
    [
      ["crate_id", "code", "label"],
      ["k3", "C-3", "x"],
      ["k4", "C-3", "y"],
      ["k3", "C-4", "x"],
    ],
    ["2-2 insert", "3-4 invalid"],
    {
      3: ["code: is already in row 2"],
      4: ["crate_id: is already in row 2", "label: is already in row 2"],
    },
  ],
  [
    "values that are unique together and taken",
    "crates",
    [
      ["code", "place", "position"],
      ["C-1", "a", 1],
      ["C-2", "a", 3],
      ["C-3", "a", 2],
      ["C-4", "b", 2],
      ["C-5", "a", null],
    ],
    ["2-3 update", "4-4 invalid", "5-6 insert"],
    { 4: ["place: already exists"] },
  ],
  [
    "bytes that are taken, stand twice in the file, or lead nowhere",
    "sacks",
    [
      ["sack_id", "inside"],
      ["AAEC", null],
      ["/w==", "AAEC"],
      ["/w==", null],
      ["AQ==", "/w=="],
      ["Ag==", "Aw=="],
    ],
    ["2-2 invalid", "3-3 insert", "4-4 invalid", "5-5 insert", "6-6 invalid"],
    {
      2: ["sack_id: already exists"],
      4: ["sack_id: is already in row 3"],
      6: ['inside: there is no record "Aw==" to refer to'],
    },
  ],
  [
    "texts that the database calls equal",
    "names",
    [
      ["name_id", "name", "alias"],
      [1, "Muller", "Cafe"],
      [2, "mULLER", null],
      [3, "M\u00fcller", null],
      [4, "Meier", "CAFE"],
      [5, "Mayer", "Caf\u00e9"],
    ],
    areAccentsTold
      ? ["2-2 insert", "3-3 invalid", "4-4 insert", "5-5 invalid", "6-6 insert"]
      : ["2-2 insert", "3-6 invalid"],
    {
      3: ["name: is already in row 2"],
      5: ["alias: is already in row 2"],
      ...(!areAccentsTold && {
        4: ["name: is already in row 2"],
        6: ["alias: is already in row 2"],
      }),
    },
  ],
  [
    "a new record without a value that the file cannot set",
    "sealed",
    [["name"], ["x"]],
    ["2-2 invalid"],
    { 2: ["a new record needs a value that the import cannot set"] },
  ],
];

const approved: readonly Case[] = [
  [
    "numbers by the labels that an export gives them",
    "flagged",
    [
      ["code", "place", "position"],
      ["C-3", "b", "Top"],
      ["C-4", "b", "below"],
      ["C-5", "b", 2],
    ],
    ["2-4 insert"],
  ],
  [
    "new and changed records, and runs of them",
    "crates",
    [
      ["code", "label", "maker"],
      ["C-3", "x", "ACME"],
      ["C-4", "y", "ACME"],
      ["C-1", "first", "BOLT"],
      ["C-5", null, null],
    ],
    ["2-3 insert", "4-4 update", "5-5 insert"],
  ],
  [
    "existing records that are left alone",
    "insert",
    [
      ["code", "label"],
      ["C-1", "second"],
      ["C-3", "third"],
      ["C-2", "x"],
    ],
    ["2-2 skip", "3-3 insert", "4-4 skip"],
  ],
  [
    "records that refer to the row before them",
    "plain",
    [
      ["crate_id", "code", "inside"],
      ["k3", "C-3", "k1"],
      ["k4", "C-4", "k3"],
    ],
    ["2-3 insert"],
  ],
  [
    "records that refer to rows behind them",
    "plain",
    [
      ["crate_id", "code", "inside"],
      ["k3", "C-3", "k4"],
      ["k4", "C-4", "k5"],
      ["k5", "C-5", "k5"],
    ],
    ["2-4 insert"],
  ],
  [
    "records that refer to one with other columns",
    "plain",
    [
      ["crate_id", "code", "inside", "level"],
      ["k3", "C-3", null, 5],
      ["k4", "C-4", null, null],
      ["k5", "C-5", "k4", 5],
      ["k6", "C-6", "k5", null],
    ],
    ["2-5 insert"],
  ],
];

/** How many rows have each outcome. */
const countsOf = (outcomes: readonly string[]) => {
  const counts = { insert: 0, update: 0, skip: 0, invalid: 0 };
  for (const run of outcomes) {
    const [, from, to, outcome] = /^(\d+)-(\d+) (.*)$/.exec(run)!;
    counts[outcome as keyof typeof counts] += Number(to) - Number(from) + 1;
  }
  return counts;
};

const runsOf = (body: { outcomes: { from: number; to: number; outcome: string }[] }) =>
  body.outcomes.map(({ from, to, outcome }) => `${from}-${to} ${outcome}`);

describe("the preview", () => {
  test.each(refused)("refuses %s", async (_, endpoint, rows, outcomes, messages) => {
    const { body } = await imports.previewed(endpoint, await workbookOf(rows));
    const errors = body.errors as { rowIndex: number; messages: string[] }[] | undefined;
    const said = Object.fromEntries((errors ?? []).map((one) => [one.rowIndex, one.messages]));
    expect(said).toEqual(messages);
    expect(body.status).toBe("preview_error");
    expect(runsOf(body)).toEqual(outcomes);
    const { insert, update, skip, invalid } = countsOf(outcomes);
    expect(body.summary).toEqual({ valid: insert + update, invalid, skip });
    expect(body.changes).toEqual({ insert, update });
  });

  test.each(approved)(
    "approves, and the commit stores, %s",
    async (_, endpoint, rows, outcomes) => {
      const { body } = await imports.previewed(endpoint, await workbookOf(rows));
      expect(body.status, JSON.stringify(body)).toBe("preview_ok");
      expect(runsOf(body)).toEqual(outcomes);
      const { insert, update, skip } = countsOf(outcomes);
      expect(body.summary).toEqual({ valid: insert + update, invalid: 0, skip });
      expect(body.changes).toEqual({ insert, update });
      const commit = await imports.commit(endpoint, body.job_id);
      expect(commit.body).toMatchObject({
        status: "completed",
        result: { inserted: insert, updated: update },
      });
    },
  );

  test("approves no row that the commit refuses, in the order of many batches", async () => {
    const rows = Array.from({ length: 1_300 }, (_, at) => [
      `n${at}`,
      `N-${at % 1_250}`,
      at % 400 === 399 ? "none" : at > 0 ? `n${at - 1}` : null,
    ]);
    const { body } = await imports.previewed(
      "plain",
      await workbookOf([["crate_id", "code", "inside"], ...rows]),
    );
    // Three with missing references, and fifty whose code is in an earlier row.
    expect(body.summary).toEqual({ valid: 1_247, invalid: 53, skip: 0 });
    expect(body.changes).toEqual({ insert: 1_247, update: 0 });
  });
});
