/**
 * read by cursor returns the same rows in the same order as read by page, for every sort, over columns of every type
 * with many nulls and ties, and values that JSON shows shortened. Sorts and rows are random, with a fixed seed.
 */
import { expect, test } from "vitest";
import type { EngineName } from "../servers/session.ts";
import { check, records } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";

const rowsMax = 70;
const seed = 20_261_121;

/** SQL literals by column: its type, then values, some of which differ only where their JSON form does not. */
type Pools = Readonly<Record<string, readonly [type: string, ...literals: string[]]>>;

const texts = ["''", "'a'", "'A'", "'a  '", "'it''s \"x\"'", "'😀'", "'é'", "'e'", "'zz'", "'10'"];
const shared: Pools = {
  small: ["smallint", "-1", "0", "7"],
  big: [
    "bigint",
    "9223372036854775807",
    "9223372036854775806",
    "-9223372036854775808",
    "9007199254740993",
  ],
  money: ["decimal(12,2)", "0.1", "-0.1", "1234567890.12", "10"],
  rough: ["double precision", "0.1", "0.30000000000000004", "0.3", "-1e300", "1e-300", "1"],
  day: ["date", "'2024-02-29'", "'1999-12-31'", "'2024-03-01'"],
};
const mysqlTexts = texts.map((text) => text.replaceAll("\\", "\\\\"));
const long = (end: string) => `concat(repeat('x', 400), '${end}')`;

const pools: Readonly<Record<EngineName, Pools>> = {
  postgres: {
    ...shared,
    plain: ["varchar(40)", ...texts],
    bytewise: ['text collate "C"', ...texts, long("a"), long("b")],
    padded: ["char(20)", ...texts],
    caseless: ["text collate caseless", ...texts],
    exact: [
      "numeric(40,10)",
      "123456789012345678901234567890.0000000001",
      "123456789012345678901234567890",
      "-0.5",
    ],
    free: ["numeric", "1.10", "1.1", "1e40", "'NaN'", "0.00000000000000000000000000000000001"],
    single: ["real", "0.1", "0.2", "1e38", "'NaN'", "'-Infinity'", "16777216", "0.100000024"],
    moment: [
      "timestamptz(6)",
      "'2024-01-01 10:00:00.123456Z'",
      "'2024-01-01 10:00:00.123457Z'",
      "'2024-01-01 10:00:00.123Z'",
      "'infinity'",
      "'0044-03-15 00:00:00Z BC'",
    ],
    local: [
      "timestamp(6)",
      "'2024-01-01 10:00:00.123456'",
      "'2024-01-01 10:00:00.1234'",
      "'20240-01-01'",
    ],
    clock: ["time(6)", "'10:00:00.5'", "'10:00:00.25'", "'24:00:00'"],
    zoned: ["timetz", "'10:00:00+02'", "'08:00:00+00'", "'09:00:00+00'"],
    flag: ["boolean", "true", "false"],
    token: [
      "uuid",
      "'00000000-0000-0000-0000-00000000000a'",
      "'f0000000-0000-0000-0000-00000000000a'",
    ],
    mood: ["mood", "'sad'", "'it''s ok'", "'happy'"],
    address: ["inet", "'10.0.0.1'", "'10.0.0.0/8'", "'9.0.0.1'", "'::1'"],
    lasting: ["interval", "'1 month'", "'30 days'", "'1 year 2 days 00:00:00.000001'"],
    place: ["point", "'(1,2)'", "'(10,2)'"],
    relation: ["regclass", "'pg_class'", "'pg_type'"],
    reach: ["int4range", "'[1,5)'", "'empty'", "'(,3)'"],
    switches: ["bit varying(8)", "B'101'", "B'1'", "B'0111'"],
  },
  mysql: {
    ...shared,
    plain: ["varchar(40) collate utf8mb4_unicode_ci", ...mysqlTexts],
    bytewise: ["longtext collate utf8mb4_bin", ...mysqlTexts, long("a"), long("b")],
    padded: ["char(20) collate utf8mb4_bin", ...mysqlTexts],
    latin: ["varchar(20) character set latin1", "'a'", "'é'", "'E'", "'it''s'"],
    exact: [
      "decimal(40,10)",
      "123456789012345678901234567890.0000000001",
      "123456789012345678901234567890",
      "-0.5",
    ],
    huge: ["bigint unsigned", "18446744073709551615", "9223372036854775808", "0"],
    single: ["float", "0.1", "0.2", "1e38", "16777216", "0.100000024", "-3.4e38"],
    moment: [
      "datetime(6)",
      "'2024-01-01 10:00:00.123456'",
      "'2024-01-01 10:00:00.123457'",
      "'2024-01-01 10:00:00.123'",
      "'0000-00-00 00:00:00'",
      "'9999-12-31 23:59:59.999999'",
    ],
    local: ["timestamp(6) null", "'2024-01-01 10:00:00.123456'", "'2024-01-01 10:00:00.1234'"],
    odd: ["date", "'0000-00-00'", "'2024-00-00'", "'2024-02-31'", "'2024-03-01'"],
    clock: ["time(6)", "'10:00:00.5'", "'10:00:00.25'", "'-838:59:58.5'", "'838:59:59'"],
    flag: ["tinyint(1)", "1", "0", "5"],
    bits: ["bit(12)", "b'1'", "b'100000000000'", "b'0'"],
    token: [
      "uuid",
      "'00000000-0000-1000-8000-00000000000a'",
      "'f0000000-0000-1000-8000-00000000000a'",
      "'00000000-0000-4000-8000-00000000000b'",
    ],
    mood: ["enum('sad','it''s ok','happy','2')", "'sad'", "'it''s ok'", "'happy'", "'2'"],
    tags: ["set('b','a','c')", "''", "'a'", "'b,a'", "'c'"],
    address: ["inet6", "'10.0.0.1'", "'::1'", "'fe80::1'"],
    annum: ["year", "1999", "2024"],
    place: ["point", "point(1,2)", "point(10,2)"],
  },
  sqlite: {
    ...shared,
    plain: ["varchar(40)", ...texts, "'a' || char(0) || 'b'"],
    caseless: ["text collate nocase", ...texts],
    trimmed: ["text collate rtrim", ...texts],
    exact: [
      "text",
      "'123456789012345678901234567890.0000000001'",
      "'123456789012345678901234567890'",
      "'-0.5'",
      "'no number'",
    ],
    single: ["real", "0.1", "9e999", "-9e999", "3"],
    moment: [
      "timestamp",
      "'2024-01-01 10:00:00.123456'",
      "'2024-01-01 10:00:00.123457'",
      "'2024-01-01T10:00:00Z'",
      "1704103200",
    ],
    clock: ["time", "'10:00:00.5'", "'10:00:00.25'"],
    flag: ["boolean", "1", "0", "'true'"],
    token: [
      "uuid",
      "'00000000-0000-0000-0000-00000000000a'",
      "'F0000000-0000-0000-0000-00000000000A'",
    ],
    loose: [
      "integer",
      "1",
      "1.5",
      "'abc'",
      "x'00ff'",
      "9223372036854775807",
      "9007199254740993",
      "'1x'",
    ],
  },
};

const before: Readonly<Record<EngineName, readonly string[]>> = {
  postgres: [
    "create type mood as enum ('sad', 'it''s ok', 'happy')",
    "create collation caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
  ],
  mysql: ["set sql_mode = 'ALLOW_INVALID_DATES'"],
  sqlite: [],
};

/** A table whose key no request could sort by. */
const tokens: Readonly<Record<EngineName, readonly string[]>> = {
  postgres: [
    "create table tokens (token bytea primary key)",
    "insert into tokens values ('\\\\x00'), ('\\\\xff00'), ('\\\\xff'), ('\\\\x'), ('\\\\x41')",
  ],
  mysql: [
    "create table tokens (token varbinary(16) primary key)",
    "insert into tokens values (x'00'), (x'ff00'), (x'ff'), (''), ('A')",
  ],
  sqlite: [
    "create table tokens (token blob not null primary key)",
    "insert into tokens values (x'00'), (x'ff00'), (x'ff'), (x''), (x'41')",
  ],
};

/** A column of the table that the view makes an expression of. */
const oddest: Readonly<Record<EngineName, string>> = {
  postgres: "moment",
  mysql: "clock",
  sqlite: "loose",
};

/** Numbers from 0 to 1, always the same ones (mulberry32, public domain). */
function randoms(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const random = randoms(seed);
const below = (count: number): number => Math.floor(random() * count);
const oneOf = <T>(list: readonly T[]): T => list[below(list.length)]!;

function setUp(engine: EngineName): string[] {
  const columns = Object.entries(pools[engine]);
  const declared = columns.map(([name, [type]]) => `${name} ${type}`);
  const inserts = Array.from({ length: rowsMax }, (_, row) => {
    const values = columns.map(([, [, ...pool]]) => (random() < 0.25 ? "null" : oneOf(pool)));
    return `insert into things values (${(row * 37) % 101}, ${values.join(", ")})`;
  });
  const create = `create table things (id integer not null primary key, ${declared.join(", ")})`;
  const view = `create view thing_view as select *, coalesce(${oddest[engine]}, null) as expressed from things`;
  return [...before[engine], create, ...inserts, view, ...tokens[engine]];
}

const fieldValidation = { exact: { type: "decimal" } };
const fixture = openForTests(openFixture, {
  tables: [],
  setUp,
  endpoints: {
    things: { tableName: "things", primaryKey: "id", action: { read: true }, fieldValidation },
    tokens: { tableName: "tokens", action: { read: true } },
    viewed: { viewName: "thing_view", primaryKey: "id", action: { read: true } },
  },
  project: { cache: { enabled: false } },
});

async function walk(endpoint: string, body: object, perPage: () => number): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: unknown = true;
  while (cursor !== null) {
    const answer = await fixture.post(`${endpoint}/read`, { ...body, cursor, per_page: perPage() });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    rows.push(...records(answer));
    expect(rows.length).toBeLessThanOrEqual(rowsMax);
    const { next_cursor: next, has_next: hasNext } = answer.body.pagination;
    expect(hasNext).toBe(next !== null);
    cursor = next;
  }
  return rows;
}

async function compare(endpoint: string, body: object): Promise<void> {
  const answer = await fixture.post(`${endpoint}/read`, { ...body, limit: 5000 });
  expect(answer.status, JSON.stringify([body, answer.body])).toBe(200);
  const whole = records(answer);
  expect(whole.length).toBeGreaterThan(0);
  expect(await walk(endpoint, body, () => 1 + below(9)), JSON.stringify(body)).toEqual(whole);
}

/** A column that the view computes has no declared type on SQLite. */
const sortable = (endpoint: string): string[] => [
  ...Object.keys(pools[fixture.engine]),
  ...(endpoint === "viewed" ? ["expressed"] : []),
];

test("read by cursor gives the rows of the whole list for each column, both ways", async () => {
  for (const endpoint of ["things", "viewed"]) {
    for (const column of sortable(endpoint)) {
      for (const direction of ["ASC", "DESC"]) {
        const sort = [{ column, direction }];
        await compare(endpoint, { sort_columns: sort, select: ["id", column] });
      }
    }
  }
});

test("read by cursor gives the rows of the whole list for sorts at random", async () => {
  for (let round = 0; round < 40; round++) {
    const endpoint = oneOf(["things", "viewed"]);
    const names = ["id", ...sortable(endpoint)];
    const columns = Array.from({ length: 2 + below(3) }, () => oneOf(names));
    const sort = columns.map((column) => ({ column, direction: oneOf(["ASC", "DESC"]) }));
    const where = { conditions: [{ key: "id", operator: ">", value: below(30) }] };
    await compare(endpoint, {
      sort_columns: sort,
      select: oneOf([["id"], ["small"], []]),
      ...oneOf([{}, { where }, { where, search_value: "a", search_by: "plain" }]),
    });
  }
});

test("read by cursor refuses made-up places in columns of all types, or finds none", async () => {
  const madeUp = [
    "[5,1)",
    "no_table",
    "",
    "abc",
    "t",
    "[2,1]",
    "9".repeat(300),
    "'; drop table things; --",
    "\0",
    "1.2.3",
    null,
  ];
  for (const column of sortable("viewed")) {
    const body = { sort_columns: [{ column, direction: "ASC" }], select: ["id"] };
    const begin = await fixture.post("viewed/read", { ...body, cursor: true, per_page: 1 });
    const text = Buffer.from(begin.body.pagination.next_cursor, "base64url").toString();
    const [version, digest, [, key]] = JSON.parse(text);
    for (const mark of madeUp) {
      const made = Buffer.from(JSON.stringify([version, digest, [mark, key]]));
      const cursor = made.toString("base64url");
      const answer = await fixture.post("viewed/read", { ...body, cursor });
      if (answer.status !== 200) check(answer, { status: 400, error: "Invalid parameter" });
    }
  }
});

test("read by cursor goes through a table whose key is bytes", async () => {
  const whole = records(await fixture.post("tokens/read", { limit: 100 }));
  expect(whole).toHaveLength(5);
  expect(await walk("tokens", {}, () => 2)).toEqual(whole);
});
