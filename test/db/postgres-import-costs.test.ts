/** The statistics of PostgreSQL do not count the rows that an import has stored, and by which it finds the next ones. */
import { expect, test } from "vitest";
import { importerOf, workbookOf } from "../contract/imports.ts";
import { folderTestPlaces, openJobFixture } from "../contract/job-places.ts";
import { openForTests } from "../contract/harness.ts";

const defaultText = "alter table items alter cost set default current_setting('random_page_cost')";

const shop = openForTests(async () => {
  const columns = {
    code: { type: "text(20)", notNull: true, unique: true },
    cost: "text(20)",
  } as const;
  return openJobFixture(folderTestPlaces[0]!, {
    tables: [{ name: "items", columns: { item_id: "identity", ...columns } }],
    setUp: () => [defaultText],
    endpoints: {
      items: {
        tableName: "items",
        action: { import: true, create: true },
        importConfig: { upsertKeys: ["code"] },
      },
    },
  });
});

test("an import asks for indexes where it finds records by keys, and nothing else does", async () => {
  await importerOf(shop).committed("items", await workbookOf([["code"], ["A"]]));
  await shop.post("items/create", { code: "B" });
  const rows = await shop.sql("select code, cost from items order by code");
  expect(rows).toEqual([
    { code: "A", cost: "1.1" },
    { code: "B", cost: "4" },
  ]);
});
