/** What dashboard.json may have: faults of its form, and tiles whose requests its endpoints refuse. */
import { describe, expect, test } from "vitest";
import { lookAt } from "../../app/start/opening/open-project.ts";
import { readConfig } from "../../core/config/reading/read-config.ts";
import { catalog, filesOf, sentenceOf } from "./shop.ts";

const items = { tableName: "products", action: { read: true, first: true, aggregate: true } };
const receipts = {
  tableName: "receipts",
  action: { read: true },
  fieldLabels: { total: "Amount" },
};
const figure = {
  title: "Products",
  endpoint: "items",
  action: "aggregate",
  body: { operations: [{ function: "count", field: "*", alias: "products" }] },
  show: "number",
};
const bars = {
  ...figure,
  show: "bar",
  body: { group_by: ["name"], operations: [{ function: "sum", field: "stock" }] },
};
const rows = {
  title: "Receipts",
  endpoint: "receipts",
  action: "read",
  body: { select: ["status", "total"], limit: 5 },
  show: "table",
};

/** The sentences of all faults, and the project's routes. */
async function look(dashboard: unknown, project: object = {}) {
  const files = filesOf({
    "items.json": items,
    "receipts.json": receipts,
    "dashboard.json": dashboard,
    ...(Object.keys(project).length > 0 && {
      "project.json": { database: { url: "sqlite::memory:" }, ...project },
    }),
  });
  const { projects, faults } = readConfig(files, {});
  const [config] = projects;
  const seen = config ? await lookAt(config, { catalog }) : null;
  if (seen && "unreachable" in seen) throw new Error("The catalog is there");
  return {
    config,
    endpoints: [...(seen?.routes.endpoints.keys() ?? [])],
    sentences: [...faults, ...(seen?.faults ?? [])].map(sentenceOf),
  };
}

const withTile = (...tiles: unknown[]) => ({ title: "Shop", tiles });

test.each([
  ["a number", figure],
  ["a number of several operations", { ...figure, body: {} }],
  ["bars of one group", bars],
  [
    "bars of two groups",
    { ...bars, body: { group_by: ["name", "is_active"], operations: bars.body.operations } },
  ],
  [
    "a line over months, with a unit and headings",
    {
      ...bars,
      show: "line",
      unit: "kg",
      wide: true,
      labels: { month: "Month", weight: "Weight" },
      body: {
        group_by: [{ field: "deleted_at", by: "month", alias: "month" }],
        operations: [{ function: "sum", field: "weight", alias: "weight" }],
        fill: true,
      },
    },
  ],
  [
    "a table of groups",
    { ...bars, show: "table", body: { group_by: ["name", "sku", "is_active"] } },
  ],
  ["a table of records", rows],
  ["bars of records", { ...rows, show: "bar", x: "status", y: ["total"] }],
])("a dashboard with %s is accepted", async (_, tile) => {
  const { sentences, config, endpoints } = await look(withTile(tile));
  expect(sentences).toEqual([]);
  expect(config!.dashboard?.dashboard.tiles).toMatchObject([tile]);
  expect(endpoints).toEqual(["items", "receipts"]);
});

describe("a dashboard is refused for", () => {
  const cases: readonly [name: string, dashboard: unknown, path: string, ...words: string[]][] = [
    ["a list", [], "$", "an object"],
    ["a text that is no JSON", "{", "$", "end of the file"],
    ["no title", { tiles: [figure] }, "title", "a string", "nothing"],
    ["no tiles", { title: "Shop" }, "tiles", "a list"],
    ["an empty list of tiles", withTile(), "tiles", "a list that is not empty"],
    [
      "too many tiles",
      withTile(...Array.from({ length: 51 }, () => figure)),
      "tiles",
      "at most 50",
    ],
    ["an unknown property", { ...withTile(figure), titel: "x" }, "titel", 'did you mean "title"?'],
    [
      "an unknown property of a tile",
      withTile({ ...figure, shows: "bar" }),
      "tiles[0].shows",
      'did you mean "show"?',
    ],
    [
      "widgets of RESTForge",
      { ...withTile(figure), widgets: [{ id: "a" }] },
      "widgets",
      "unknown property",
      "tiles",
    ],
    [
      "an action that writes",
      withTile({ ...figure, action: "create" }),
      "tiles[0].action",
      "one of read, aggregate",
    ],
    [
      "an unknown form",
      withTile({ ...figure, show: "lines" }),
      "tiles[0].show",
      'did you mean "line"?',
    ],
    ["no body", withTile({ ...figure, body: undefined }), "tiles[0].body", "an object", "nothing"],
    ["a body that is a text", withTile({ ...figure, body: "{}" }), "tiles[0].body", "an object"],
    [
      "an unknown endpoint",
      withTile(figure, { ...figure, endpoint: "itms" }),
      "tiles[1].endpoint",
      "an endpoint of the project",
      'did you mean "items"?',
    ],
    [
      "an action that is off",
      withTile({ ...figure, endpoint: "receipts" }),
      "tiles[0].action",
      "an action that is switched on for receipts",
    ],
    [
      "a body that the action refuses",
      withTile({ ...bars, body: { group_by: ["naem"] } }),
      "tiles[0].body",
      "a body that aggregate takes",
      'did you mean "name"?',
    ],
    [
      "an empty body of read",
      withTile({ ...rows, body: {} }),
      "tiles[0].body",
      "The payload is empty",
    ],
    [
      "an unknown time zone",
      withTile({ ...bars, body: { ...bars.body, time_zone: "Europe/Wien" } }),
      "tiles[0].body",
      "time_zone",
    ],
    ["groups as a number", withTile({ ...bars, show: "number" }), "tiles[0].show", "for groups"],
    [
      "bars of no group",
      withTile({ ...figure, show: "bar" }),
      "tiles[0].show",
      "nothing is grouped",
    ],
    [
      "bars of three groups",
      withTile({ ...bars, body: { group_by: ["name", "sku", "is_active"] } }),
      "tiles[0].show",
      "table for more than two groups",
    ],
    [
      "several operations of two groups",
      withTile({
        ...bars,
        body: {
          group_by: ["name", "sku"],
          operations: [...figure.body.operations, ...bars.body.operations],
        },
      }),
      "tiles[0].show",
      "table for several operations of two groups",
    ],
    [
      "bars of dates",
      withTile({
        ...bars,
        body: { group_by: ["name"], operations: [{ function: "max", field: "deleted_at" }] },
      }),
      "tiles[0].show",
      "numbers to draw",
    ],
    ["records as a number", withTile({ ...rows, show: "number" }), "tiles[0].show", "for records"],
    ["a line of records without x", withTile({ ...rows, show: "line" }), "tiles[0].x", "axis"],
    [
      "a line of records without y",
      withTile({ ...rows, show: "line", x: "status" }),
      "tiles[0].y",
      "columns of numbers as y",
    ],
    [
      "an x that the answer lacks",
      withTile({ ...rows, show: "line", x: "statsu", y: ["total"] }),
      "tiles[0].x",
      'did you mean "status"?',
    ],
    [
      "a y that is no number",
      withTile({ ...rows, show: "line", x: "total", y: ["status"] }),
      "tiles[0].y[0]",
      "status is a text",
    ],
    ["x where groups are", withTile({ ...bars, x: "name" }), "tiles[0].x", "no x"],
    ["y in a table", withTile({ ...rows, y: ["total"] }), "tiles[0].y", "no y"],
    [
      "a heading of no column",
      withTile({ ...figure, labels: { product: "Products" } }),
      "tiles[0].labels.product",
      "a column of the answer",
      'did you mean "products"?',
    ],
  ];
  test.each(cases)("%s", async (_, dashboard, path, ...words) => {
    const { sentences } = await look(dashboard);
    expect(sentences).toHaveLength(1);
    expect(sentences[0]).toContain(`shop/dashboard.json ${path}: `);
    for (const word of words) expect(sentences[0]).toContain(word);
  });
});

test("all faults of all tiles are told at once", async () => {
  const { sentences } = await look(
    withTile({ ...figure, endpoint: "none" }, bars, { ...bars, show: "number" }),
  );
  expect(sentences.map((one) => one.split(": ")[0])).toEqual([
    "shop/dashboard.json tiles[0].endpoint",
    "shop/dashboard.json tiles[2].show",
  ]);
});

test("a dashboard.json with actions is the file of an endpoint, as before", async () => {
  const { sentences, config, endpoints } = await look({
    tableName: "coupons",
    action: { read: true },
  });
  expect(sentences).toEqual([]);
  expect(config!.dashboard).toBeNull();
  expect(endpoints).toContain("dashboard");
});

test("a tile of an endpoint that is left out has no fault of its own", async () => {
  const { projects } = readConfig(
    filesOf({
      "items.json": { ...items, tableName: "prodcts" },
      "dashboard.json": withTile(figure),
    }),
    {},
  );
  const seen = await lookAt(projects[0]!, { catalog });
  expect("faults" in seen && seen.faults.map(sentenceOf)).toEqual([
    expect.stringContaining("shop/items.json tableName"),
  ]);
});
