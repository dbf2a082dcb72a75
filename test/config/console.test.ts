/** The setting `console` of an endpoint: its compiled form, and refusals with position and the nearest name. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { iconNames } from "../../core/plans/console-plan.ts";
import { filesOf, load } from "./shop.ts";

const base = {
  action: { read: true, first: true },
  tableName: "products",
  hiddenFields: ["secret"],
};
const relations = { receipt: { endpoint: "receipts", column: "product_id" } };
const receipts = { action: { read: true }, tableName: "receipts" };

const loaded = (console: unknown, more: object = {}) =>
  load(filesOf({ "products.json": { ...base, ...more, console }, "receipts.json": receipts }));

test("columns and order become columns of the list, also those of related records", async () => {
  const settings = {
    label: "Articles",
    group: "Stock",
    icon: "box",
    columns: ["sku", "receipt.status", "sku"],
    order: ["-created_at", "receipt.total", "sku"],
  };
  const { entities, faults } = await loaded(settings, { relations });
  expect(faults).toEqual([]);
  const plan = entities.get("products")!.console!;
  expect(plan).toMatchObject({ label: "Articles", group: "Stock", icon: "box", isHidden: false });
  expect(plan.columns).toEqual(["sku", "receipt.status"]);
  expect(plan.order).toEqual([
    { name: "created_at", isDown: true },
    { name: "receipt.total", isDown: false },
    { name: "sku", isDown: false },
  ]);
  expect((await loaded({ hidden: true })).entities.get("products")!.console!.isHidden).toBe(true);
});

test("a path that only the list's own SQL cannot follow gets no advice to write it as it is", async () => {
  const action = { read: true, datatables: true };
  const more = { action, relations, datatablesQuery: "select names" };
  const { faults } = await loaded({ columns: ["receipt.status"] }, more);
  expect(faults).toMatchObject([{ path: "console.columns[0]", found: '"receipt.status"' }]);
  expect(faults[0]!.hint ?? "").not.toContain("receipt.status");
});

test("views have the words of a list: conditions, search, order and columns", async () => {
  const views = {
    "Dear <b>ones</b>": {
      where: [
        { key: "price", operator: "BETWEEN", value: [10, 20] },
        { key: "sku", operator: "IS NULL" },
        { key: "receipt.status", value: "draft" },
        { key: "receipt.total", operator: ">", value: 5 },
        { key: "created_at", operator: ">=", value: "2026-03-14" },
      ],
      search_value: "saw",
      order: ["-receipt.total"],
      columns: ["sku", "receipt.status"],
    },
    All: {},
  };
  const { entities, faults } = await loaded({ views }, { relations });
  expect(faults).toEqual([]);
  const [first, second] = entities.get("products")!.console!.views;
  expect(first).toMatchObject({
    name: "Dear <b>ones</b>",
    searchValue: "saw",
    order: [{ name: "receipt.total", isDown: true }],
    columns: ["sku", "receipt.status"],
  });
  expect(first!.where.map(({ operator }) => operator)).toEqual([
    "BETWEEN",
    "IS NULL",
    "=",
    ">",
    ">=",
  ]);
  expect(second).toMatchObject({ name: "All", where: [], order: [], columns: [], params: {} });
});

test.each([
  ["an unknown column", { columns: ["sku", "prise"] }, "columns[1]", 'mean "price"?'],
  ["a hidden column", { columns: ["secret"] }, "columns[0]", "what its lists show"],
  ["an unknown order", { order: ["-prise"] }, "order[0]", 'mean "price"?'],
  ["two signs", { order: ["--price"] }, "order[0]", '"-price"'],
  [
    "an unknown column of a related record",
    { columns: ["receipt.statu"] },
    "columns[0]",
    'mean "receipt.status"?',
  ],
  ["an unknown relation", { columns: ["reciept.status"] }, "columns[0]", 'mean "receipt.status"?'],
  ["an unknown path as order", { order: ["-receipt.totl"] }, "order[0]", 'mean "receipt.total"?'],
  ["an unknown icon", { icon: "boxx" }, "icon", "box"],
  ["an empty label", { label: "" }, "label", "not empty"],
  ["no columns", { columns: [] }, "columns", "not empty"],
  [
    "a view without columns",
    { views: { Mine: { columns: [] } } },
    "views.Mine.columns",
    "not empty",
  ],
  ["a view without a name", { views: { "": {} } }, "views", "a string that is not empty"],
  [
    "an unknown column of a view",
    { views: { Mine: { columns: ["prise"] } } },
    "views.Mine.columns[0]",
    'mean "price"?',
  ],
  [
    "an unknown order of a view",
    { views: { Mine: { order: ["-prise"] } } },
    "views.Mine.order[0]",
    'mean "price"?',
  ],
  [
    "an unknown condition of a view",
    { views: { Mine: { where: [{ key: "prise", value: 1 }] } } },
    "views.Mine.where[0].key",
    'mean "price"?',
  ],
  [
    "a hidden column in a condition",
    { views: { Mine: { where: [{ key: "secret", value: "x" }] } } },
    "views.Mine.where[0].key",
    "what its lists show",
  ],
  [
    "an unknown path in a condition",
    { views: { Mine: { where: [{ key: "receipt.statu", value: "x" }] } } },
    "views.Mine.where[0].key",
    'mean "receipt.status"?',
  ],
  [
    "a wrong value of a path",
    { views: { Mine: { where: [{ key: "receipt.total", value: "much" }] } } },
    "views.Mine.where[0]",
    "a valid condition",
  ],
  [
    "two conditions for a column",
    { views: { Mine: { where: [1, 2].map((value) => ({ key: "price", value })) } } },
    "views.Mine.where[1].key",
    "one condition for each column",
  ],
  [
    "an operator that no filter has",
    { views: { Mine: { where: [{ key: "price", operator: "IN", value: 1 }] } } },
    "views.Mine.where[0].operator",
    "BETWEEN",
  ],
  [
    "texts in an order",
    { views: { Mine: { where: [{ key: "sku", operator: ">", value: "A" }] } } },
    "views.Mine.where[0].operator",
    "= or IS NULL",
  ],
  [
    "a value of another type",
    { views: { Mine: { where: [{ key: "price", operator: "<", value: "cheap" }] } } },
    "views.Mine.where[0]",
    "a valid condition",
  ],
  [
    "a comparison without a value",
    { views: { Mine: { where: [{ key: "price", operator: "<" }] } } },
    "views.Mine.where[0]",
    "a valid condition",
  ],
  [
    "a moment instead of a day",
    { views: { Mine: { where: [{ key: "created_at", value: "2026-03-14T10:00:00Z" }] } } },
    "views.Mine.where[0].value",
    "a day, such as 2026-03-14",
  ],
  [
    "unknown params of a view",
    { views: { Mine: { params: { from: "2026-01-01" } } } },
    "views.Mine.params.from",
    "params",
  ],
  ["an unknown property of a view", { views: { Mine: { sort: ["sku"] } } }, "views.Mine", "sort"],
  ["hidden as text", { hidden: "yes" }, "hidden", "true or false"],
  ["an unknown property", { columnes: ["sku"] }, "columnes", '"columns"?'],
])("an endpoint's file is refused for %s", async (_, console, place, hint) => {
  const { faults } = await loaded(console, { relations });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toMatchObject({ file: "shop/products.json" });
  const text = JSON.stringify(faults[0])?.replaceAll('\\"', '"');
  expect(text).toContain(`console.${place}`);
  expect(text).toContain(hint);
});

test.each([
  ["a path without relations", { columns: ["receipt.status"] }, {}, "columns[0]"],
  ["columns where nothing is listed", { columns: ["sku"] }, { action: { first: true } }, "columns"],
  [
    "views where nothing is listed",
    { views: { Mine: { order: ["sku"] } } },
    { action: { first: true } },
    "views",
  ],
  [
    "a path without relations in a view",
    { views: { Mine: { where: [{ key: "receipt.status", value: "draft" }] } } },
    {},
    "views.Mine.where[0].key",
  ],
  ["an order where nothing is listed", { order: ["sku"] }, { action: { first: true } }, "order"],
])("an endpoint's file is refused for %s", async (_, console, more, place) => {
  const { faults } = await loaded(console, more);
  expect(faults).toMatchObject([{ path: `console.${place}` }]);
});

describe("steps", () => {
  const steps = { steps: { posted: "Post" } };
  const flow = (console: unknown, more: object = {}) =>
    load(
      filesOf({
        "receipts.json": {
          tableName: "receipts",
          action: { read: true, "change-status": true },
          workflow: { transitions: { draft: ["posted"], posted: [] } },
          ...more,
          console,
        },
      }),
    );

  test("are verbs by status, with transitions and without", async () => {
    for (const more of [{}, { workflow: {} }, { action: { workflow: true } }]) {
      const { entities, faults } = await flow(steps, more);
      expect(faults).toEqual([]);
      expect(entities.get("receipts")!.console!.steps).toEqual(new Map([["posted", "Post"]]));
    }
  });

  test.each<[what: string, console: object, more: object, place: string, hint: string]>([
    ["an unknown status", { steps: { postd: "Post" } }, {}, ".postd", 'mean "posted"?'],
    ["a status that only begins", { steps: { draft: "Draft" } }, {}, ".draft", "can change to"],
    ["an empty verb", { steps: { posted: "" } }, {}, ".posted", "not empty"],
    ["a verb that is no text", { steps: { posted: true } }, {}, ".posted", "a string"],
    ["a list", { steps: ["posted"] }, {}, "", "object"],
    ["no change-status", steps, { action: { read: true } }, "", "the action change-status"],
    [
      "a status that no rule allows",
      { steps: { posted: "Post" } },
      { workflow: {}, fieldValidation: [{ name: "status", constraints: { enum: ["draft"] } }] },
      ".posted",
      "a valid value of status",
    ],
  ])("are refused for %s", async (_, console, more, place, hint) => {
    const { faults } = await flow(console, more);
    const own = faults.filter(({ path }) => path === `console.steps${place}`);
    expect(own).toHaveLength(1);
    expect(JSON.stringify(own[0])?.replaceAll('\\"', '"')).toContain(hint);
  });
});

test("the console draws each icon", () => {
  const drawn = readFileSync(
    join(import.meta.dirname, "../../app/console/client/icons.js"),
    "utf8",
  );
  expect(iconNames.filter((name) => !new RegExp(`^ +${name}:\\s+"M`, "m").test(drawn))).toEqual([]);
});
