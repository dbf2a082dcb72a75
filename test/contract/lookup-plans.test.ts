/**
 * Each database's planner uses the index that `check --advise` suggests for lookup's prefix search of labels, and finds
 * the first matches in its order.
 */
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Fixture, openFixture } from "./harness.ts";
import { openRecorder, type Recorder } from "./sent-statements.ts";

const engine = inject("engine");

const numbers = {
  sqlite:
    "with recursive s(n) as (select 1 union all select n + 1 from s where n < 20000) select n from s",
  mysql: "select seq as n from seq_1_to_20000",
  postgres: "select n from generate_series(1, 20000) as n",
}[engine];
/** In an order that is not that of the labels. */
const label = {
  sqlite: "'goods ' || ((n * 7919) % 20011)",
  mysql: "concat('goods ', (n * 7919) % 20011)",
  postgres: "'goods ' || ((n * 7919) % 20011)",
}[engine];
const index = {
  sqlite: "(name collate nocase, id)",
  mysql: "(name, id)",
  postgres: "(lower(name) text_pattern_ops, id)",
}[engine];
const analyze = { sqlite: "analyze", mysql: "analyze table goods", postgres: "analyze goods" };
const more = [
  "Göteborg goods",
  "göteborg west",
  "GÖTEBORG",
  "gözleme",
  "Kelvin",
  "\u212Aelvin ü",
  "Küche",
  "\u212AÜCHE",
  "kühl kalt",
  "Insel Öland",
  "İnsel Ö",
  "ınsel ö",
  "Σίγμα",
  "ςίγμα",
  "日本の",
  "日曜日",
  "Город",
];

let fixture: Fixture;
let recorder: Recorder;
/** The index has letters beyond ASCII in one case. */
let knowsLetters: boolean;
beforeAll(async () => {
  const caseless = engine === "mysql" ? "character set utf8mb4 collate utf8mb4_general_ci" : "";
  const endpoint = (tableName: string) => ({
    tableName,
    action: { lookup: true },
    fieldNameLookup: { id: "id", text: "name", match: "prefix" },
  });
  fixture = await openFixture({
    tables: [],
    setUp: () => [
      ...["goods", "plain"].flatMap((table) => [
        `create table ${table} (id integer primary key, name varchar(40) ${caseless})`,
        `insert into ${table} select n, ${label} from (${numbers}) as s`,
        ...more.map((name, at) => `insert into ${table} values (${30_000 + at}, '${name}')`),
      ]),
      `create index goods_name_search on goods ${index}`,
      analyze[engine],
    ],
    endpoints: { goods: endpoint("goods"), plain: endpoint("plain") },
  });
  const { database } = JSON.parse(fixture.files.get("test/project.json")!) as {
    database: { url: string };
  };
  const [row] = await fixture.sql("select lower('Ö') = 'ö' as knows_letters");
  knowsLetters = Boolean(row?.["knows_letters"]);
  recorder = await openRecorder(engine, database.url);
});
afterAll(async () => {
  await recorder?.close();
  await fixture?.close();
});

const labelsOf = async (endpoint: string, search: string, limit = 50): Promise<string[]> => {
  const query = new URLSearchParams({ search, limit: String(limit) });
  const answer = await fixture.request(`/api/test/${endpoint}/lookup?${query}`, {
    headers: { "X-Request-Mode": "dynamic" },
  });
  return answer.body.data.map(({ text }: { text: string }) => text);
};

test.each([
  "goods 1234",
  "GOODS 199",
  "goods 20010",
  "oods",
  "goods 12%",
  "gö",
  "GÖTEBORG ",
  "göz",
  "ГОР",
  "kü",
  "KÜCHE",
  "kelvin ü",
  "kühl k",
  "insel ö",
  "σίγ",
  "日",
  "日本",
])("lookup by the beginning %s uses the advised index, and finds as without it", async (text) => {
  const [sent] = await recorder.during(async () => {
    const found = await labelsOf("goods", text);
    expect(found.toSorted()).toEqual((await labelsOf("plain", text)).toSorted());
  });
  // A collation that knows only ASCII letters leaves the planner their beginning, here a letter of every row.
  if (!knowsLetters && /[^ -~]/.test(text)) return;
  const plan = await recorder.planOf(sent!);
  expect(plan.join("\n"), text).toContain("goods_name_search");
});

/** Their first letter has another form beyond ASCII, or is beyond it itself. */
test.each(["k", "kelvin", "ö", "ı", "İ", "ς", "日曜日日", "", "%", "_"])(
  "lookup by the beginning %s finds as without an index",
  async (text) => {
    const found = await labelsOf("goods", text);
    expect(found.toSorted()).toEqual((await labelsOf("plain", text)).toSorted());
  },
);

test.each(["g", "goods 1", "goods 12"])(
  "the first matches of %s are the first ones by label, and nothing is sorted",
  async (beginning) => {
    const [sent] = await recorder.during(async () => {
      const found = await labelsOf("goods", beginning, 20);
      expect(found).toEqual(await labelsOf("plain", beginning === "g" ? "goods " : beginning, 20));
    });
    const plan = (await recorder.planOf(sent!)).join("\n");
    expect(plan).toContain("goods_name_search");
    expect(plan).not.toMatch(/sort\b|temp b-tree/i);
  },
);
