/** Columns whose collation treats different texts as equal can be searched like all others. */
import { describe, expect, inject, test } from "vitest";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const idsOf = ({ body }: Answer): string[] =>
  (body.data as { id: string }[]).map(({ id }) => id).toSorted();

// The other engines' collations never refuse LIKE.
describe.runIf(inject("engine") === "postgres")("a collation that is not deterministic", () => {
  const service = openForTests(openFixture, {
    tables: [],
    setUp: () => [
      "create collation no_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
      "create domain label as text collate no_case",
      "create table towns (id varchar(36) primary key, name text collate no_case, nick label, plain text)",
      "create view town_view as select id, lower(name) as small, name from towns",
      "insert into towns values ('1', 'Graz', 'Gräz', 'x'), ('2', 'GRAZ', 'b', 'x'), ('3', 'Wien', 'c', 'x')",
    ],
    endpoints: {
      towns: {
        tableName: "towns",
        fieldNameLookup: { id: "id", text: "name || ' ' || nick" },
        action: { read: true, lookup: true, datatables: true, aggregate: true },
      },
      views: { viewName: "town_view", primaryKey: "id", action: { read: true } },
      queries: {
        viewQuery:
          "select id, name || nick as both_names, upper(name) as large, 1 as number from towns",
        primaryKey: "id",
        action: { read: true },
      },
    },
    project: { cache: { enabled: false } },
  });

  const like = (key: string, operator: string, value: string) => ({
    where: { conditions: [{ key, operator, value }] },
  });

  test.each([
    ["towns", like("name", "LIKE", "Gr%"), ["1"]],
    ["towns", like("name", "ILIKE", "gr%"), ["1", "2"]],
    ["towns", like("nick", "LIKE", "gr%"), []],
    ["towns", like("nick", "ILIKE", "%RÄ%"), ["1"]],
    ["towns", { search_value: "gra", search_by: "all" }, ["1", "2"]],
    ["towns", { search_value: "gra", search_by: "name" }, ["1", "2"]],
    ["views", { search_value: "gra" }, ["1", "2"]],
    ["views", like("small", "LIKE", "gr%"), ["1", "2"]],
    ["queries", { search_value: "gra" }, ["1", "2"]],
    ["queries", like("large", "LIKE", "GR%"), ["1", "2"]],
    ["queries", like("both_names", "LIKE", "Gr%"), ["1"]],
  ])("read of %s: %j", async (endpoint, body, expected) => {
    const answer = await service.post(`${endpoint}/read`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect(idsOf(answer)).toEqual(expected);
  });

  test("lookup and the grid search in it", async () => {
    const labels = await service.request("/api/test/towns/lookup?search=graz", {
      headers: { "X-Request-Mode": "dynamic" },
    });
    expect([labels.status, idsOf(labels)]).toEqual([200, ["1", "2"]]);
    const grid = await service.post("towns/datatables", {
      draw: 1,
      start: 0,
      length: 10,
      search: { value: "graz" },
    });
    expect([grid.status, idsOf(grid)]).toEqual([200, ["1", "2"]]);
  });
});
