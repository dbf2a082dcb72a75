import { expect, test } from "vitest";
import { closest } from "../../core/values/closest.ts";

const columns = ["price", "name", "category_id", "created_at"];

test.each([
  ["pric", "price"],
  ["prize", "price"],
  ["Name", "name"],
  ["categry_id", "category_id"],
  ["createdat", "created_at"],
  ["colour", null],
  ["", null],
  ["xy", null],
  ["x".repeat(65), null],
])("the name %j is taken for %j", (name, meant) => {
  expect(closest(name, columns)).toBe(meant);
});

test("the nearest of several names is chosen", () => {
  expect(closest("total_item", ["total_time", "total_items", "total"])).toBe("total_items");
});
