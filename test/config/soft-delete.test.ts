/** softDelete in an endpoint's file: its faults, and its effect on several endpoints of a table. */
import { describe, expect, test } from "vitest";
import { entityOf, filesOf, load, sentenceOf } from "./shop.ts";

const products = {
  tableName: "products",
  action: { read: true, create: true, update: true, delete: true, restore: true },
};
const withSetting = (softDelete: unknown, more: object = {}) => ({
  ...products,
  softDelete,
  ...more,
});

describe("softDelete is refused for", () => {
  const cases: [name: string, payload: object, path: string, ...words: string[]][] = [
    ["restore without it", products, "softDelete", "restore"],
    ["restore where it is off", withSetting({ enabled: false }), "softDelete", "restore"],
    [
      "a table without the columns",
      { ...products, tableName: "receipts", softDelete: true },
      "softDelete",
      "neither is_deleted nor deleted_at",
    ],
    ["a flag that is a text", withSetting({ flag: "sku" }), "softDelete.flag", "boolean"],
    ["a time that is a number", withSetting({ at: "stock", flag: "is_active" }), "softDelete.at"],
    ["a user that is a number", withSetting({ by: "stock" }), "softDelete.by", "text column"],
    [
      "a view without the columns",
      withSetting({ flag: "none" }, { viewName: "product_view" }),
      "viewName",
      "deleted_at",
    ],
    ["a misspelt visibility", withSetting({ visibility: "active" }), "softDelete.visibility"],
    [
      "an unknown reusable field",
      withSetting({ reusable: [{ field: "sk" }] }),
      "softDelete.reusable[0].field",
      "sku",
    ],
    [
      "a reusable number",
      withSetting({ reusable: [{ field: "stock" }] }),
      "softDelete.reusable[0].field",
      "text column",
    ],
  ];
  test.each(cases)("%s", async (_name, payload, path, ...words) => {
    const { faults } = await load(filesOf({ "items.json": payload }));
    const sentences = faults.map(sentenceOf);
    expect(sentences).toHaveLength(1);
    expect(faults[0]!.path).toBe(path);
    for (const word of words) expect(sentences[0]).toContain(word);
  });

  test("a second endpoint of the table with other columns", async () => {
    const { faults } = await load(
      filesOf({ "a.json": withSetting(true), "b.json": withSetting({ flag: "is_active" }) }),
    );
    expect(faults.map(sentenceOf)).toEqual([
      expect.stringMatching(/^shop\/b\.json softDelete: .*the flag, at and by of a/),
    ]);
  });
});

describe("softDelete", () => {
  test("skips the columns that the table lacks", async () => {
    const { entity } = await entityOf(withSetting(true));
    const { flag, at, by } = entity.marking!.marks;
    expect([flag, at?.name, by]).toEqual([null, "deleted_at", null]);
    expect(entity.write!.writable.has("deleted_at")).toBe(false);
  });

  test("needs no columns in a view where all rows are seen", async () => {
    const { entity } = await entityOf(
      withSetting({ visibility: "include_deleted" }, { viewName: "product_view" }),
    );
    expect(entity.visibility!.seen.get("read")).toBe("all");
  });

  test("changes nothing for an endpoint that reaches no such table", async () => {
    const { entities } = await load(
      filesOf({
        "a.json": withSetting(true),
        "b.json": { tableName: "receipts", action: { read: true, create: true } },
      }),
    );
    expect(entities.get("b")!.visibility).toBeNull();
  });
});
