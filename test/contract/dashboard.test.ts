/** `GET /api/{project}/dashboard.json`: the tiles that a caller may see, and nothing of the others. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { type Fixture, openFixture } from "./harness.ts";

const tables = [
  {
    name: "goods",
    columns: { good_id: "key", name: "text(40)", price: "decimal(8,2)", made_on: "date" },
  },
] as const;
const keyOf = (id: string) => ({ headers: by(id) });
const goods = { tableName: "goods", fieldLabels: { name: "Name", price: "Price" } };

const priced = {
  title: "Prices by month",
  endpoint: "goods",
  action: "aggregate",
  body: {
    group_by: [{ field: "made_on", by: "month", alias: "month" }],
    operations: [{ function: "sum", field: "price", alias: "worth" }],
    fill: true,
  },
  show: "line",
  unit: "€",
  labels: { worth: "Worth" },
};
const listed = {
  title: "Goods",
  endpoint: "goods",
  action: "read",
  body: { select: ["name"], limit: 3 },
  show: "table",
  wide: true,
};
const filesWith = (tiles: object[]) => ({
  "test/dashboard.json": JSON.stringify({ title: "Shop", tiles }),
});
const path = "/api/test/dashboard.json";

describe("in other languages", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    const averaged = {
      ...priced,
      title: "constructor",
      body: { operations: [{ function: "avg", field: "price", alias: "worth" }] },
      show: "number",
    };
    const german = {
      dashboardLabels: { Shop: "Laden", "Prices by month": "Preise je Monat", Worth: "Wert" },
      fieldLabels: { name: "Bezeichnung" },
    };
    fixture = await openFixture({
      tables,
      endpoints: { goods: { ...goods, action: { read: true, aggregate: true } } },
      files: {
        ...filesWith([priced, listed, averaged]),
        "test/messages/de.json": JSON.stringify(german),
      },
    });
  });
  afterAll(() => fixture?.close());

  const languages: [header: string, title: string, tiles: string[], labels: string[]][] = [
    ["de-AT", "Laden", ["Preise je Monat", "Goods", "constructor"], ["Wert", "Bezeichnung"]],
    ["en", "Shop", ["Prices by month", "Goods", "constructor"], ["Worth", "Name"]],
    ["fr", "Shop", ["Prices by month", "Goods", "constructor"], ["Worth", "Name"]],
  ];
  test.each(languages)("titles and headings for %s", async (language, title, tiles, labels) => {
    const headers = { "accept-language": language, accept: "application/json" };
    const { body, headers: sent } = await fixture.request(path, { headers });
    expect(sent.get("vary")).toContain("Accept-Language");
    expect([body.title, ...body.tiles.map((one: { title: string }) => one.title)]).toEqual([
      title,
      ...tiles,
    ]);
    const last = body.tiles.map(
      ({ columns }: { columns: { label: string }[] }) => columns.at(-1)!.label,
    );
    expect(last).toEqual([...labels, labels[0]]);
    const index = await fixture.request("/", { headers });
    expect(index.body.projects[0].dashboard.title).toBe(title);
  });

  test("an average says the digits of its column, so that people are shown no more than two others", async () => {
    const { body } = await fixture.request(path);
    expect(body.tiles[2].columns).toMatchObject([{ name: "worth", type: "decimal", scale: 2 }]);
  });
});

describe("without auth", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables,
      endpoints: { goods: { ...goods, action: { read: true, aggregate: true } } },
      project: { batch: { enabled: true, maxSteps: 7 } },
      files: filesWith([priced, listed]),
    });
  });
  afterAll(() => fixture?.close());

  test("everybody gets the requests of all tiles, and what their answers have", async () => {
    const { status, body } = await fixture.request(path);
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      title: "Shop",
      batch: { max_steps: 7 },
      tiles: [
        {
          title: "Prices by month",
          endpoint: "goods",
          action: "aggregate",
          body: priced.body,
          show: "line",
          unit: "€",
          wide: false,
          columns: [
            { name: "month", label: null, type: "date", scale: null, role: "group", by: "month" },
            { name: "worth", label: "Worth", type: "decimal", scale: 2, role: "value", by: null },
          ],
        },
        {
          title: "Goods",
          endpoint: "goods",
          action: "read",
          body: listed.body,
          show: "table",
          unit: null,
          wide: true,
          columns: [
            { name: "name", label: "Name", type: "text", scale: null, role: "other", by: null },
          ],
        },
      ],
      timestamp: expect.any(String),
    });
    const steps = body.tiles.map(({ endpoint, action, body: sent }: (typeof body.tiles)[0]) => ({
      endpoint,
      action,
      body: sent,
    }));
    const sent = await fixture.post("_batch", { independent: true, steps });
    expect(sent.body.data.map((one: { status: number }) => one.status)).toEqual([200, 200]);
  });

  test("the front page leads to it", async () => {
    const { body } = await fixture.request("/");
    expect(body.projects[0].dashboard).toEqual({ title: "Shop", path });
  });

  test.each([
    ["POST to it", path, { method: "POST", body: "{}" }, 405],
    ["one of a project that is not there", "/api/tset/dashboard.json", {}, 404],
  ])("%s is no dashboard", async (_, at, init, status) => {
    expect((await fixture.request(at, init)).status).toBe(status);
  });
});

describe("with roles", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture({
      tables,
      endpoints: {
        goods: {
          ...goods,
          action: { read: true, aggregate: true, create: true },
          access: {
            all: ["read", "aggregate"],
            reader: ["read"],
            clerk: ["read", "aggregate"],
            writer: ["create"],
          },
          hiddenFields: { clerk: ["price"] },
        },
      },
      project: { auth: { apiKeys: ["all", "reader", "clerk", "writer"].map((id) => apiKey(id)) } },
      files: filesWith([priced, listed]),
    });
  });
  afterAll(() => fixture?.close());

  test.each([
    ["all", ["Prices by month", "Goods"]],
    ["reader", ["Goods"]],
    // A tile that named a hidden column would tell that it is there.
    ["clerk", ["Goods"]],
  ])("the role %s sees the tiles that it may ask for", async (role, titles) => {
    const { status, body } = await fixture.request(path, keyOf(role));
    expect([status, body.batch]).toEqual([200, null]);
    expect(body.tiles.map(({ title }: { title: string }) => title)).toEqual(titles);
    const index = await fixture.request("/", keyOf(role));
    expect(index.body.projects[0].dashboard).toEqual({ title: "Shop", path });
  });

  test("a caller without a tile gets the answer of a project without a dashboard", async () => {
    const { status, body } = await fixture.request(path, keyOf("writer"));
    expect([status, body.error]).toEqual([404, "Not found"]);
    expect(JSON.stringify(body)).not.toContain("Shop");
    const index = await fixture.request("/", keyOf("writer"));
    expect(index.body.projects[0]).not.toHaveProperty("dashboard");
  });

  test.each([
    ["no credentials", {}, path],
    ["wrong credentials", { headers: { "x-api-key": "wrong" } }, path],
    ["no credentials for a project that is not there", {}, "/api/tset/dashboard.json"],
  ])("%s: 401", async (_, init, at) => {
    const { status, body } = await fixture.request(at, init);
    expect([status, body.error]).toEqual([401, "Unauthorized"]);
  });
});

test("a project without the file has no dashboard", async () => {
  const fixture = await openFixture({
    tables,
    endpoints: { goods: { ...goods, action: { read: true } } },
  });
  try {
    const { status, body } = await fixture.request(path);
    expect([status, body.error]).toEqual([404, "Not found"]);
  } finally {
    await fixture.close();
  }
});
