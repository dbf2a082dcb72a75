/** Warnings of `check`: settings that are dangerous but can be intended. */
import { describe, expect, test } from "vitest";
import { riskText, settingsRisks } from "../../core/config/checking/risks.ts";
import { filesOf, load, projectFile } from "./shop.ts";

const sha256 = "0".repeat(64);
const keys = { apiKeys: [{ id: "erp", sha256, roles: ["clerk"] }] };
const items = { action: { read: true }, tableName: "products", access: { clerk: ["read"] } };

/** The risks of a project.json with one endpoint. */
async function risksOf(settings: object, payload: object = items, openBy: string | null = null) {
  const { projects, faults, risks } = await load(
    filesOf({ "project.json": { ...projectFile, ...settings }, "items.json": payload }),
  );
  expect(faults).toEqual([]);
  return [...projects.flatMap((config) => settingsRisks(config, { openBy })), ...risks];
}

const reads = { action: { read: true }, viewQuery: "file:query/open.sql" };

const named = { issuer: "https://id.example", audience: "rowgate" };

test("a project that is meant to be safe has no risks", async () => {
  const jwt = { secret: "s".repeat(32), ...named };
  const cors = { origins: ["https://shop.example"] };
  expect(await risksOf({ auth: { ...keys, jwt }, cors }, items, "HOST=0.0.0.0")).toEqual([]);
});

test.each([
  ["that no endpoint names", items, ["shop/query/open.sql  $: no endpoint uses this file"]],
  ["that an endpoint reads", reads, []],
  ["that an endpoint with a fault reads", { ...reads, misspelt: 1 }, []],
])("a query file %s has the risks %j", async (_, payload, expected) => {
  const files = {
    "project.json": { ...projectFile, onFault: "skip" },
    "items.json": payload,
    "query/open.sql": "select 1",
  };
  const { projects } = await load(filesOf(files));
  const risks = projects.flatMap((config) => settingsRisks(config, { openBy: null }));
  expect(risks.map(riskText)).toEqual(expected);
});

const open = { ...items, access: undefined };
const guests = { auth: { ...keys, anonymous: { roles: ["clerk"] } } };

test.each([
  [
    "no auth where others can connect",
    {},
    open,
    'shop/project.json  auth: there is no "auth", and other machines can connect (HOST=0.0.0.0): everybody who can connect may read and write',
  ],
  [
    "an endpoint without access",
    { auth: keys },
    open,
    'shop/items.json  access: nobody may use this endpoint: project.json has "auth", and the file has no "access"',
  ],
  [
    "a short secret, counted in bytes",
    { auth: { jwt: { secret: `${"ä".repeat(15)}s`, ...named } } },
    items,
    "shop/project.json  auth.jwt.secret: the secret has fewer than 32 bytes: anyone with one token can find it by brute force; use 32 random bytes",
  ],
  [
    "an issuer's keys over http",
    { auth: { jwt: { jwksUri: "http://id.example/keys", ...named } } },
    items,
    "shop/project.json  auth.jwt.jwksUri: the keys are fetched over http: anyone on the network path can replace them; use https",
  ],
  [
    "no audience",
    { auth: { jwt: { secret: "s".repeat(32), issuer: "https://id.example" } } },
    items,
    'shop/project.json  auth.jwt.audience: tokens that were made for other services are accepted; name the value of their claim "aud"',
  ],
  [
    "no issuer",
    { auth: { jwt: { secret: "s".repeat(32), audience: "rowgate" } } },
    items,
    'shop/project.json  auth.jwt.issuer: tokens of every issuer whose signatures the key verifies are accepted; name the value of their claim "iss"',
  ],
  [
    "anonymous callers without limits",
    guests,
    items,
    'shop/project.json  rateLimit: there is no "rateLimit" with a max, and requests without credentials are answered (auth.anonymous): one client can use up the whole service',
  ],
  [
    "pages of every origin",
    { auth: keys, cors: { origins: ["*"] } },
    items,
    'shop/project.json  cors.origins: "*" lets every web page call the API from the browsers of its visitors',
  ],
])("a risk is %s", async (_, settings, payload, expected) => {
  const risks = await risksOf(settings, payload, "HOST=0.0.0.0");
  expect(risks.map(riskText)).toEqual([expected]);
});

test("no auth is no risk where nobody else can connect", async () => {
  expect(await risksOf({}, open)).toEqual([]);
});

test.each([
  ["http://localhost:8080/keys", []],
  ["http://127.0.0.1/keys", []],
  ["http://[::1]:8080/keys", []],
  ["http://id.internal/keys", ["id.internal:80"]],
])("keys from %s with allowedHosts %j are no risk", async (jwksUri, allowedHosts) => {
  const auth = { jwt: { jwksUri, ...named } };
  expect(await risksOf({ auth, hooks: { allowedHosts } })).toEqual([]);
});

describe("a document whose restored header would stay without its details", () => {
  const document = {
    tableName: "products",
    action: { read: true, delete: true, restore: true },
    softDelete: { flag: "is_active", at: "deleted_at" },
    masterDetail: { detailTable: "packages", foreignKey: "product_id", cascadeDelete: true },
  };
  const packages = { tableName: "packages", action: { read: true } };
  const flags = { ...document.softDelete, at: "none" };
  const message = (table: string) =>
    `shop/a.json  masterDetail: ${table} has no time of the deletion (softDelete.at), so a restore of the header leaves its rows of packages deleted`;

  test.each([
    ["if the details have no time", document, { ...packages, softDelete: flags }, ["packages"]],
    [
      "if the header has none",
      { ...document, softDelete: flags },
      { ...packages, softDelete: document.softDelete },
      ["products"],
    ],
    ["unless both have one", document, packages, []],
    [
      "unless the details stay with it",
      {
        ...document,
        masterDetail: {
          detailTable: "receipt_lines",
          foreignKey: "receipt_id",
          cascadeDelete: true,
        },
      },
      packages,
      [],
    ],
    [
      "unless it leaves them as they are",
      { ...document, masterDetail: { ...document.masterDetail, cascadeDelete: false } },
      { ...packages, softDelete: flags },
      [],
    ],
  ])("is a risk %s", async (_, a, b, expected) => {
    const { faults, risks } = await load(filesOf({ "a.json": a, "b.json": b }));
    expect(faults).toEqual([]);
    expect(risks.map(riskText)).toEqual(expected.map(message));
  });

  test("is named by its place in a list of details", async () => {
    const lists = { ...document, softDelete: flags, masterDetail: [document.masterDetail] };
    const { risks } = await load(filesOf({ "a.json": lists }));
    expect(risks.map(({ path }) => path)).toEqual(["masterDetail[0]"]);
  });
});

describe("a column that is hidden from a role", () => {
  const hiding = { hiddenFields: { clerk: ["price"] } };
  const reading = { ...items, ...hiding };

  test.each([
    ["viewQuery", "read", 'select sku, p."price" AS weight from products p'],
    ["datatablesQuery", "datatables", "select sku, price as weight from products"],
    ["exportQuery", "export", "select sku, products.price as `weight` from products"],
  ])("and that the %s shows under another name", async (property, action, query) => {
    const payload = {
      action: { [action]: true },
      tableName: "products",
      access: { clerk: [action] },
      [property]: query,
      ...hiding,
    };
    expect((await risksOf({ auth: keys }, payload)).map(riskText)).toEqual([
      `shop/items.json  ${property}: the query shows price as weight, and price is hidden from the role clerk; hide weight as well`,
    ]);
    const hidden = { hiddenFields: { clerk: ["price", "weight"] } };
    expect(await risksOf({ auth: keys }, { ...payload, ...hidden })).toEqual([]);
  });

  test.each([
    ["the role itself", { clerk: ["read"] }, "clerk"],
    ["everybody with credentials", { "*": ["read"] }, "*"],
  ])("and that another endpoint of the table shows to %s", async (_, access, role) => {
    const files = filesOf({
      "project.json": { ...projectFile, auth: keys },
      "items.json": reading,
      "stock.json": { action: { read: true }, tableName: "products", access },
    });
    expect((await load(files)).risks.map(riskText)).toEqual([
      `shop/stock.json  ${role === "*" ? 'access["*"]' : "access.clerk"}: the role clerk can see price here, and items hides it from that role; hide it here as well`,
    ]);
  });

  test.each(["first", "aggregate", "update", "delete"])(
    "and that another endpoint of the table shows by %s",
    async (action) => {
      const files = filesOf({
        "project.json": { ...projectFile, auth: keys },
        "items.json": reading,
        "stock.json": {
          action: { [action]: true },
          tableName: "products",
          access: { clerk: [action] },
        },
      });
      expect((await load(files)).risks.map(({ path }) => path)).toEqual(["access.clerk"]);
    },
  );

  const lines = { detailTable: "receipt_lines", foreignKey: "receipt_id" };
  const documents = {
    action: { "read-composite": true },
    tableName: "receipts",
    masterDetail: lines,
    access: { clerk: "*" },
  };
  const ofLines = {
    action: { read: true },
    tableName: "receipt_lines",
    access: { clerk: ["read"] },
  };
  const notes = { hiddenFields: { clerk: ["note"] } };

  test.each([
    ["of a document, and that its lines show", { ...documents, ...notes }, ofLines, "b"],
    ["of lines, and that their document shows", documents, { ...ofLines, ...notes }, "a"],
  ])("%s", async (_, a, b, shows) => {
    const files = { "project.json": { ...projectFile, auth: keys }, "a.json": a, "b.json": b };
    const { faults, risks } = await load(filesOf(files));
    expect(faults).toEqual([]);
    expect(risks.map(riskText)).toEqual([
      `shop/${shows}.json  access.clerk: the role clerk can see note here, and ${shows === "a" ? "b" : "a"} hides it from that role; hide it here as well`,
    ]);
  });

  test("of a document, and that the detailQuery shows under another name", async () => {
    const detailQuery = "select note as name from receipt_lines where receipt_id = :header_id";
    expect(
      (await risksOf({ auth: keys }, { ...documents, ...notes, detailQuery })).map(riskText),
    ).toEqual([
      "shop/items.json  detailQuery: the query shows note as name, and note is hidden from the role clerk; hide name as well",
    ]);
  });

  test.each([
    ["hides it too", { access: { clerk: ["read"] }, ...hiding }],
    ["leaves it out", { access: { clerk: ["read"] }, fieldName: ["product_id", "sku"] }],
    ["is for another role", { access: { manager: "*" } }],
    ["shows no rows to the role", { action: { create: true }, access: { clerk: ["create"] } }],
  ])("is no risk where the other endpoint %s", async (_, other) => {
    const files = filesOf({
      "project.json": { ...projectFile, auth: keys },
      "items.json": reading,
      "stock.json": { action: { read: true }, tableName: "products", ...other },
    });
    expect((await load(files)).risks).toEqual([]);
  });
});
