/**
 * Value lists in the grid's answers: the extensions insert `label` into the page as HTML, so it is escaped; `value`,
 * which the page sends back, is not. SearchBuilder 2, for DataTables 3, escapes the values of its criteria too.
 */
import { describe, expect, test } from "vitest";
import type { Answer } from "./harness.ts";
import { ids, idsOf, shelfOfFile } from "./shelf.ts";

const { ways, ask, fixture } = shelfOfFile();

interface Option {
  label: string;
  value: string | null;
}

type Body = Answer["body"];

/** Where each extension looks for the list of a field. */
const lists: Record<string, (body: Body, field: string) => Option[]> = {
  searchPanes: (body, field) => body.searchPanes.options[field],
  searchBuilder: (body, field) => body.searchBuilder.options[field],
  columnControl: (body, field) => body.columnControl[field],
};

/** How each extension sends back what a person picks. */
const picks: Record<string, (field: string, value: string) => object> = {
  searchPanes: (field, value) => ({ searchPanes: { [field]: { 0: value } } }),
  searchBuilder: (origData, value) => ({
    searchBuilder: { logic: "AND", criteria: [{ condition: "=", origData, value: [value] }] },
  }),
  columnControl: (data, value) => ({ columns: [{ data, columnControl: { list: { 0: value } } }] }),
};

const hostile = [
  { field: "name", value: "bolt & nut", label: "bolt &amp; nut", id: "p2" },
  { field: "name", value: `o'brien "x"`, label: "o&#39;brien &quot;x&quot;", id: "p6" },
  { field: "note", value: "a<b", label: "a&lt;b", id: "p6" },
];

describe.each(Object.keys(lists))("%s", (extension) => {
  test.each(hostile)("a list shows $value by a label in HTML", async ({ field, value, label }) => {
    const { body } = await ask("labels", {});
    const options = lists[extension]!(body, field);
    expect(options.find((option) => option.value === value)?.label).toBe(label);
  });

  describe.each(Object.entries(ways))("sent as %s", (_, send) => {
    test.each(hostile)("a list finds $value by its stored value", async ({ field, value, id }) => {
      const answer = await send("labels", picks[extension]!(field, value));
      expect(idsOf(answer)).toEqual([id]);
    });
  });
});

const criterion = (origData: string, condition: string, ...value: string[]) => ({
  searchBuilder: { logic: "AND", criteria: [{ condition, origData, value }] },
});

describe("entities in a criterion", () => {
  test.each([
    { field: "name", condition: "=", value: "bolt &amp; nut", found: ["p2"] },
    {
      field: "name",
      condition: "!=",
      value: "bolt &amp; nut",
      found: ids.filter((id) => id !== "p2"),
    },
    { field: "name", condition: "contains", value: "&quot;X&quot;", found: ["p6"] },
    {
      field: "name",
      condition: "!contains",
      value: "&quot;",
      found: ids.filter((id) => id !== "p6"),
    },
    { field: "note", condition: "starts", value: "a&lt;", found: ["p6"] },
  ])(
    "searchBuilder takes $condition $value as the text that it stands for",
    async ({ field, condition, value, found }) => {
      expect(idsOf(await ask("shelf", criterion(field, condition, value)))).toEqual(found);
    },
  );

  test("searchBuilder also finds what is stored with an entity", async () => {
    await fixture.sql("insert into parts (part_id, name) values ('p7', 'oil &amp; tar')");
    const [both, escaped, neither] = await Promise.all([
      ask("shelf", criterion("name", "contains", "&amp;")),
      ask("shelf", criterion("name", "contains", "&amp;amp;")),
      ask("shelf", criterion("name", "!contains", "&amp;")),
    ]);
    await fixture.sql("delete from parts where part_id = 'p7'");
    expect(idsOf(both!)).toEqual(["p2", "p7"]);
    expect(idsOf(escaped!)).toEqual(["p7"]);
    expect(idsOf(neither!)).toEqual(ids.filter((id) => id !== "p2"));
  });
});
