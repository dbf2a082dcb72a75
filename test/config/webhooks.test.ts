/** `webhooks` of project.json: what is wrong is a fault at load, with its place. */
import { expect, test } from "vitest";
import { filesOf, load, projectFile, sentenceOf } from "./shop.ts";

const secretOf = (bytes: number): string =>
  `whsec_${Buffer.from(new Uint8Array(bytes)).toString("base64")}`;
const good = {
  name: "erp",
  endpoints: ["items"],
  url: "https://erp.example/rowgate",
  secret: secretOf(24),
};
const where = (...conditions: object[]) => ({ conditions });

const items = {
  tableName: "products",
  action: { create: true, read: true, update: true },
  hiddenFields: ["stock"],
};

const loaded = (webhooks: object[], more: Record<string, unknown> = {}) =>
  load(filesOf({ "project.json": { ...projectFile, webhooks }, "items.json": items, ...more }), {
    ERP_SECRET: secretOf(32),
    SHORT_SECRET: secretOf(23),
  });

test.for<[string, object]>([
  ["the least that is needed", good],
  ["a secret of 64 bytes", { ...good, secret: secretOf(64) }],
  ["a secret of the environment", { ...good, secret: "${ERP_SECRET}" }],
  [
    "kinds, columns and a condition",
    {
      ...good,
      on: ["update"],
      columns: ["price"],
      when: where({ key: "name", operator: "LIKE", value: "a%" }),
    },
  ],
  ["an address of this machine", { ...good, url: "http://localhost:4000/in?from=rowgate" }],
])("%s is accepted", async ([, webhook]) => {
  const { faults, entities } = await loaded([webhook]);
  expect(faults.map(sentenceOf)).toEqual([]);
  const [recorded] = entities.get("items")!.changes.recorded.values();
  expect(recorded!.webhooks).toMatchObject([
    { webhook: "erp", endpoint: "items", project: "shop" },
  ]);
  expect(recorded!.isLogged).toBe(false);
});

test.for<[string, object | object[], string, RegExp]>([
  ["a name twice", [good, good], "webhooks[1].name", /a different name for each webhook/],
  [
    "a name with a blank",
    { ...good, name: "my erp" },
    "webhooks[0].name",
    /letters, digits, - and _/,
  ],
  ["no endpoint", { ...good, endpoints: [] }, "webhooks[0].endpoints", /not empty/],
  [
    "an unknown endpoint",
    { ...good, endpoints: ["item"] },
    "webhooks[0].endpoints[0]",
    /did you mean "items"/,
  ],
  [
    "an endpoint twice",
    { ...good, endpoints: ["items", "items"] },
    "webhooks[0].endpoints[1]",
    /each endpoint once/,
  ],
  [
    "an endpoint without a table",
    { ...good, endpoints: ["seen"] },
    "webhooks[0].endpoints[0]",
    /a table with a primary key/,
  ],
  [
    "an unknown kind of change",
    { ...good, on: ["restore"] },
    "webhooks[0].on[0]",
    /one of create, update, delete/,
  ],
  ["no kind of change", { ...good, on: [] }, "webhooks[0].on", /not empty/],
  [
    "an unknown column",
    { ...good, columns: ["prise"] },
    "webhooks[0].columns[0]",
    /did you mean "price"/,
  ],
  [
    "a column that is hidden from everybody",
    { ...good, columns: ["stock"] },
    "webhooks[0].columns[0]",
    /not hidden from everybody/,
  ],
  [
    "a condition on an unknown column",
    { ...good, when: where({ key: "prise", operator: "=", value: 1 }) },
    "webhooks[0].when",
    /Unknown column "prise"/,
  ],
  [
    "a condition on a hidden column",
    { ...good, when: where({ key: "stock", operator: "=", value: 1 }) },
    "webhooks[0].when",
    /Unknown column "stock"/,
  ],
  [
    "an unknown operator",
    { ...good, when: where({ key: "price", operator: "~", value: 1 }) },
    "webhooks[0].when",
    /Unknown operator/,
  ],
  [
    "a value of another type",
    { ...good, when: where({ key: "price", operator: "=", value: "x" }) },
    "webhooks[0].when",
    /refused/,
  ],
  [
    "an empty condition",
    { ...good, when: where() },
    "webhooks[0].when",
    /a where with a condition/,
  ],
  [
    "an unknown member of a condition",
    { ...good, when: where({ key: "price", operator: "=", value: 1, also: 2 }) },
    "webhooks[0].when",
    /unknown member/,
  ],
  [
    "a condition over a relation",
    { ...good, when: where({ key: "lines", operator: "ANY" }) },
    "webhooks[0].when",
    /refused/,
  ],
  [
    "a path of this service",
    { ...good, url: "/api/shop/items/update" },
    "webhooks[0].url",
    /http:\/\/ or https:\/\//,
  ],
  [
    "another scheme",
    { ...good, url: "ftp://erp.example/" },
    "webhooks[0].url",
    /http:\/\/ or https:\/\//,
  ],
  [
    "a password in the address",
    { ...good, url: "https://me:secret@erp.example/" },
    "webhooks[0].url",
    /credentials/,
  ],
  [
    "a variable of hooks in the address",
    { ...good, url: "https://erp.example/{{id}}" },
    "webhooks[0].url",
    /without variables/,
  ],
  [
    "a dot segment in the address",
    { ...good, url: "https://erp.example/a/../b" },
    "webhooks[0].url",
    /segments/,
  ],
  ["no secret", { ...good, secret: undefined }, "webhooks[0].secret", /a string/],
  [
    "a secret without its prefix",
    { ...good, secret: "x".repeat(40) },
    "webhooks[0].secret",
    /whsec_/,
  ],
  [
    "a secret that is no base64",
    { ...good, secret: `whsec_${"?".repeat(40)}` },
    "webhooks[0].secret",
    /24 to 64/,
  ],
  ["a secret of 23 bytes", { ...good, secret: secretOf(23) }, "webhooks[0].secret", /24 to 64/],
  ["a secret of 65 bytes", { ...good, secret: secretOf(65) }, "webhooks[0].secret", /24 to 64/],
  [
    "a short secret of the environment",
    { ...good, secret: "${SHORT_SECRET}" },
    "webhooks[0].secret",
    /24 to 64/,
  ],
  [
    "an unknown property",
    { ...good, column: ["price"] },
    "webhooks[0].column",
    /did you mean "columns"/,
  ],
])("%s is a fault", async ([, webhooks, path, expected]) => {
  const { faults } = await loaded([webhooks].flat(), {
    "seen.json": { viewName: "product_view", primaryKey: "product_id", action: { read: true } },
  });
  expect(faults.map((fault) => fault.path)).toEqual([path]);
  expect(faults[0]!.file).toBe("shop/project.json");
  expect(sentenceOf(faults[0]!)).toMatch(expected);
});

test("a fault never shows a secret that the file holds", async () => {
  const { faults } = await loaded([{ ...good, secret: "whsec_verysecret" }]);
  expect(JSON.stringify(faults)).not.toContain("verysecret");
});

test("changes of an endpoint need a webhook, history or live", async () => {
  const except = { "items.json": { ...items, changes: { except: ["name"] } } };
  expect((await loaded([good], except)).faults).toEqual([]);
  expect((await loaded([], except)).faults.map((fault) => fault.path)).toEqual(["changes"]);
});

test("tables that no webhook names are not recorded", async () => {
  const { entities } = await loaded([good], {
    "members.json": { tableName: "members", action: { create: true } },
  });
  const { changes } = entities.get("members")!;
  expect([...changes.recorded.values()].map(({ table }) => table.name)).toEqual(["products"]);
});
