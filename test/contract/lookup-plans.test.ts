/** Each database's planner uses the index that `check --advise` suggests for lookup's prefix search of labels. */
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
  sqlite: ["create index goods_name_search on goods (name collate nocase)"],
  mysql: ["create index goods_name_search on goods (name, id)"],
  postgres: [
    "create extension if not exists pg_trgm",
    "create index goods_name_search on goods using gin (name gin_trgm_ops)",
  ],
}[engine];
const analyze = { sqlite: "analyze", mysql: "analyze table goods", postgres: "analyze goods" };

let fixture: Fixture;
let recorder: Recorder;
beforeAll(async () => {
  const caseless = engine === "mysql" ? "character set utf8mb4 collate utf8mb4_general_ci" : "";
  fixture = await openFixture({
    tables: [],
    setUp: () => [
      `create table goods (id integer primary key, name varchar(40) ${caseless})`,
      `insert into goods select n, ${label} from (${numbers}) as s`,
    ],
    endpoints: {
      goods: {
        tableName: "goods",
        action: { lookup: true },
        fieldNameLookup: { id: "id", text: "name", match: "prefix" },
      },
    },
  });
});
afterAll(async () => {
  await recorder?.close();
  await fixture?.close();
});

const labelsOf = async (text: string): Promise<unknown> => {
  const answer = await fixture.request(
    `/api/test/goods/lookup?limit=50&search=${encodeURIComponent(text)}`,
    { headers: { "X-Request-Mode": "dynamic" } },
  );
  return answer.body.data;
};
const texts = ["goods 1234", "GOODS 199", "goods 20010", "oods", "goods 12%"];

test("lookup by the beginning of a label uses the advised index, and answers as without it", async () => {
  const before: unknown[] = [];
  for (const text of texts) before.push(await labelsOf(text));
  for (const statement of [...index, analyze[engine]]) await fixture.sql(statement);
  const { database } = JSON.parse(fixture.files.get("test/project.json")!) as {
    database: { url: string };
  };
  // Not earlier: a SQLite session that only explains does not notice indexes created by others.
  recorder = await openRecorder(engine, database.url);
  for (const [at, text] of texts.entries()) {
    const [sent] = await recorder.during(async () =>
      expect(await labelsOf(text)).toEqual(before[at]),
    );
    const plan = await recorder.planOf(sent!);
    expect(plan.join("\n"), text).toContain("goods_name_search");
  }
});
