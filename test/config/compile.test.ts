/** Compiles payload and catalog into the frozen entity: what it reads, writes, adjusts and adds. */
import { describe, expect, test } from "vitest";
import { singleStatement } from "../../core/query/query-text.ts";
import type { Entity } from "../../core/plans/entity.ts";
import { auditFields } from "../../core/plans/audit-columns.ts";
import type { Column } from "../../core/values/types/column.ts";
import { entityOf, filesOf, load, projectFile, tables } from "./shop.ts";

const crud = { create: true, read: true, first: true, update: true, delete: true };
const base = { action: crud, tableName: "products" };
const names = (columns: ReadonlyMap<string, unknown> | undefined): string[] => [
  ...(columns?.keys() ?? []),
];
const keyOf = (plan: { readonly key: readonly Column[] } | null): string[] | undefined =>
  plan?.key.map(({ name }) => name);

describe("reading", () => {
  test.each([
    [
      "the view before query and table",
      { viewName: "product_view", viewQuery: "select 1" },
      { kind: "table", name: "product_view" },
    ],
    [
      "the query before the table",
      { viewQuery: "select 1 ;" },
      { kind: "query", text: "select 1" },
    ],
    ["the table last", {}, { kind: "table", schema: null, name: "products" }],
    ["a table of a schema", { tableName: "public.products" }, { kind: "table", name: "products" }],
    [
      "a query from its file",
      { viewQuery: "file:query/open.sql" },
      { kind: "query", text: "select *\nfrom products" },
    ],
    [
      "a query from its file, with a dot before it",
      { viewQuery: "file:./query/open.sql" },
      { kind: "query", text: "select *\nfrom products" },
    ],
  ])("takes %s", async (_, payload, source) => {
    const { entity } = await entityOf(
      { ...base, ...payload },
      { "query/open.sql": "select *\nfrom products; -- all of them\n" },
    );
    expect(entity.read!.source).toMatchObject(source);
  });

  test("a table shows fieldName, the key and its audit columns, in the table's order", async () => {
    const { entity } = await entityOf({
      ...base,
      fieldName: ["name", "sku", "secret"],
      hiddenFields: ["secret"],
    });
    const shown = [
      "product_id",
      "sku",
      "name",
      "created_at",
      "created_by",
      "updated_at",
      "updated_by",
    ];
    expect(names(entity.read!.columns)).toEqual(shown);
    expect(names(entity.write!.shown)).toEqual(shown);
  });

  test("a view shows all that it gives, whatever fieldName says, less the hidden fields", async () => {
    const { entity } = await entityOf({
      ...base,
      viewName: "product_view",
      fieldName: ["sku"],
      hiddenFields: ["price"],
    });
    expect(names(entity.read!.columns)).toEqual(["product_id", "sku", "name", "category_name"]);
    expect(keyOf(entity.read)).toEqual(["product_id"]);
    expect(entity.write!.readBack).toBe(true);
  });

  test("a view without the key is told", async () => {
    const { entity, notices } = await entityOf({
      ...base,
      tableName: "receipts",
      viewName: "product_view",
    });
    expect(keyOf(entity.read)).toEqual([]);
    expect(entity.write!.readBack).toBe(false);
    expect(notices).toContain(
      "shop/items: the view or query has no column receipt_id: answers to writes show the columns of the table instead",
    );
  });

  test("a role of project.json that is nearly one of access is told", async () => {
    const key = (id: string, ...roles: string[]) => ({ id, roles, sha256: id.repeat(64) });
    const auth = {
      apiKeys: [key("a", "clrk", "clerk"), key("b", "porter")],
      anonymous: { roles: ["guset"] },
    };
    const { notices } = await load(
      filesOf({
        "items.json": { ...base, access: { clerk: "*", guest: ["read"] } },
        "project.json": { ...projectFile, auth },
      }),
    );
    expect(notices).toEqual([
      'shop: the key a has the role "clrk", which no "access" names; did you mean "clerk"?',
      'shop: auth.anonymous has the role "guset", which no "access" names; did you mean "guest"?',
    ]);
  });

  test("a column of a setting that the table lacks is told with the nearest one", async () => {
    const { notices } = await entityOf({
      ...base,
      auditColumns: { createdAt: "craeted_at" },
      softDelete: { flag: "is_actve", at: "deleted_at" },
    });
    expect(notices).toEqual([
      expect.stringMatching(
        /^shop\/items: auditColumns\.createdAt: .*; did you mean "created_at"\?$/,
      ),
      expect.stringMatching(/^shop\/items: softDelete\.flag: .*; did you mean "is_active"\?$/),
    ]);
  });

  test.each<[what: string, name: string, constraints: object, notice: RegExp]>([
    ["a default of another type", "stock", { default: "ten" }, /default "ten".*whole number/],
    ["a list as the default of a number", "price", { default: [] }, /default \[\]/],
    [
      "a default that another constraint refuses",
      "name",
      { default: "open", enum: ["draft", "done"] },
      /default "open".*must be one of: draft, done/,
    ],
    [
      "a default that the column cannot hold",
      "price",
      { default: 12345678901234 },
      /default 12345678901234/,
    ],
    [
      "an allowed value of another type",
      "stock",
      { enum: [1, "two"] },
      /allowed value "two".*whole number/,
    ],
  ])("%s is told at the start", async (_, name, constraints, notice) => {
    const fieldValidation = [{ name, constraints }];
    const { notices } = await entityOf({ ...base, fieldValidation });
    expect(notices).toEqual([expect.stringMatching(notice)]);
  });

  test.each<[what: string, rule: object, payload: object, isTold: boolean]>([
    ["a field outside of fieldName", { name: "stock", constraints: { min: 0 } }, {}, true],
    ["a field of fieldName", { name: "sku", constraints: { required: true } }, {}, false],
    ["the key", { name: "product_id", constraints: { required: true } }, {}, false],
    ["an audit column", { name: "created_by", constraints: { maxLength: 9 } }, {}, false],
    [
      "the status",
      { name: "name", constraints: { lowercase: true } },
      { workflow: { statusField: "name" } },
      false,
    ],
    [
      "a type for reading",
      { name: "price", type: "decimal", constraints: { scale: 2 } },
      {},
      false,
    ],
    ["what is for readers", { name: "name", constraints: { unique: true } }, {}, false],
  ])("a rule of %s", async (_, rule, payload, isTold) => {
    const { notices } = await entityOf({
      ...base,
      fieldName: ["sku"],
      fieldValidation: [rule],
      ...payload,
    });
    const told =
      "shop/items: fieldValidation: the rule of stock is never checked, because stock is not in fieldName";
    expect(notices).toEqual(isTold ? [told] : []);
  });

  test("a rule of a detail outside of its fieldName is told", async () => {
    const { notices } = await entityOf({
      action: { "create-composite": true },
      tableName: "receipts",
      masterDetail: {
        detailTable: "receipt_lines",
        foreignKey: "receipt_id",
        detailConfig: {
          fieldName: ["amount"],
          fieldValidation: [
            { name: "qty", constraints: { min: 1 } },
            { name: "receipt_id", constraints: { required: true } },
          ],
          requiredFields: ["note"],
        },
      },
    });
    const told = (property: string, name: string) =>
      `shop/items: masterDetail.detailConfig.${property}: the rule of ${name} is never checked, because ${name} is not in fieldName`;
    expect(notices).toEqual([told("fieldValidation", "qty"), told("requiredFields", "note")]);
  });

  test("without fieldName every column is in use", async () => {
    const { entity } = await entityOf(base);
    expect(entity.read!.columns.size).toBe(tables[0]!.columns.size);
  });

  test("a hidden key still orders the rows", async () => {
    const { entity } = await entityOf({ ...base, hiddenFields: ["product_id"] });
    expect(entity.read!.columns.has("product_id")).toBe(false);
    expect(keyOf(entity.read)).toEqual(["product_id"]);
  });

  test("a table with a key of two columns can be read and written", async () => {
    const { entity } = await entityOf({
      action: { read: true, first: true },
      tableName: "members",
    });
    expect(keyOf(entity.read)).toEqual(["group_id", "user_id"]);
    expect(keyOf(entity.write)).toEqual(["group_id", "user_id"]);
  });

  test("an endpoint without a source of its own reads nothing", async () => {
    const { entity } = await entityOf({
      action: { datatables: true },
      datatablesQuery: "select 1",
    });
    expect(entity.read).toBeNull();
  });
});

describe("the grid", () => {
  test.each([
    [
      "its query before view and table",
      { viewName: "product_view", datatablesQuery: "select 1;" },
      { kind: "query", text: "select 1" },
    ],
    [
      "a query from its file",
      { datatablesQuery: "file:query/grid.sql" },
      { kind: "query", text: "select 2" },
    ],
    [
      "the table without a query, never the view",
      { viewName: "product_view" },
      { kind: "table", name: "products" },
    ],
  ])("reads %s", async (_, payload, source) => {
    const { entity } = await entityOf(
      { ...base, ...payload },
      { "query/grid.sql": "select 2; -- all\n" },
    );
    expect(entity.grid!.source).toMatchObject(source);
    expect(keyOf(entity.grid)).toEqual(["product_id"]);
  });

  test("a table's grid has the fields, the key and the audit columns, and no hidden one", async () => {
    const { entity } = await entityOf({
      ...base,
      fieldName: ["name", "sku", "secret"],
      hiddenFields: ["secret"],
    });
    expect(names(entity.grid!.columns)).toEqual(names(entity.write!.shown));
  });

  test("a query's grid has all that it gives, but what is hidden", async () => {
    const { entity } = await entityOf({
      ...base,
      fieldName: ["name"],
      datatablesQuery: "select 1",
      hiddenFields: ["secret"],
    });
    const given = tables.find(({ name }) => name === "products")!.columns;
    expect(names(entity.grid!.columns)).toEqual(names(given).filter((name) => name !== "secret"));
  });

  test("the search over all fields looks at datatablesWhere, and at nothing hidden", async () => {
    const { entity } = await entityOf({
      ...base,
      datatablesWhere: ["sku", "secret"],
      hiddenFields: ["secret"],
    });
    expect([...entity.grid!.searched!]).toEqual(["sku"]);
  });

  test("an endpoint with neither a query nor a table has no grid", async () => {
    const { entity } = await entityOf({ action: { read: true }, viewName: "product_view" });
    expect(entity.grid).toBeNull();
  });
});

describe("the key", () => {
  test.each([
    ["is the configured one", { ...base, primaryKey: "sku" }, "sku"],
    ["is the database's", base, "product_id"],
    [
      "is the first field where that is unique and never null",
      { action: crud, tableName: "coupons", fieldName: ["code", "note"] },
      "code",
    ],
  ])("%s", async (_, payload, key) => {
    const { entity } = await entityOf(payload);
    expect(entity.write!.key.map(({ name }) => name)).toEqual([key]);
  });

  test.each([
    ["the first column may be null", { tableName: "coupons" }],
    ["the first field is not unique", { tableName: "coupons", fieldName: ["note", "code"] }],
  ])("is none where %s", async (_, payload) => {
    const { entity } = await entityOf({ ...payload, action: { read: true, create: true } });
    expect({ lists: keyOf(entity.read), write: entity.write }).toEqual({ lists: [], write: null });
    expect(entity.insert!.key).toEqual([]);
  });

  test("that is named for reading does not end lists where the database does not keep it unique", async () => {
    const { entity } = await entityOf({
      tableName: "products",
      primaryKey: "name",
      action: { read: true },
    });
    expect(keyOf(entity.read)).toEqual(["product_id"]);
  });
});

describe("writing", () => {
  test("takes fieldName, less the key and the computed, read-only and audit columns", async () => {
    const { entity } = await entityOf({
      ...base,
      fieldName: ["sku", "name", "margin", "stock", "created_by", "secret"],
      readOnlyFields: ["stock"],
      hiddenFields: ["secret"],
    });
    expect(names(entity.write!.writable)).toEqual(["sku", "name", "secret"]);
  });

  test.each([
    ["have their usual names", undefined, ["created_at", "created_by", "updated_at", "updated_by"]],
    ["are none", false, [null, null, null, null]],
    [
      "have other names",
      { createdAt: "deleted_at", createdBy: "sku" },
      ["deleted_at", "sku", "updated_at", "updated_by"],
    ],
    [
      "are skipped when the table lacks them",
      { updatedAt: "changed" },
      ["created_at", "created_by", null, "updated_by"],
    ],
  ])("audit columns %s", async (_, auditColumns, expected) => {
    const { entity } = await entityOf({
      ...base,
      ...(auditColumns === undefined ? {} : { auditColumns }),
    });
    const { audit } = entity.write!;
    const filled = auditFields.map(({ when, kind }) =>
      audit.find((one) => one.when === when && one.kind === kind),
    );
    expect(filled.map((one) => one?.column.name ?? null)).toEqual(expected);
    expect(entity.write!.writable.has("created_at")).toBe(
      auditColumns === false || (typeof auditColumns === "object" && "createdAt" in auditColumns),
    );
  });

  test("audit columns that cannot hold their values are columns like others, and told of", async () => {
    const { entity, notices } = await entityOf({ action: crud, tableName: "loose" });
    expect(entity.write!.audit).toEqual([]);
    expect(names(entity.write!.writable)).toEqual(
      expect.arrayContaining(["created_by", "updated_at"]),
    );
    expect(notices).toEqual([
      expect.stringContaining("the service does not fill created_by"),
      expect.stringContaining("the service does not fill updated_at"),
    ]);
  });

  test("with credentials, the service fills columns of users of any type, and tells what they hold", async () => {
    const auth = { apiKeys: [{ id: "ada", sha256: "0".repeat(64), roles: [] }] };
    const { entity, notices } = await entityOf(
      { action: crud, tableName: "loose", access: { "*": "*" } },
      { "project.json": { ...projectFile, auth } },
    );
    expect(entity.write!.audit.map(({ column }) => column.name)).toEqual(["created_by"]);
    expect(names(entity.write!.writable)).not.toContain("created_by");
    expect(notices[0]).toContain("created_by holds only users whose id is a value of type integer");
  });

  test("a cascading delete knows the details and their foreign key", async () => {
    const masterDetail = {
      detailTable: "receipt_lines",
      foreignKey: "receipt_id",
      cascadeDelete: true,
    };
    const { entity } = await entityOf({ action: crud, tableName: "receipts", masterDetail });
    expect(entity.write!.cascades[0]).toMatchObject({
      table: { name: "receipt_lines" },
      foreignKey: { name: "receipt_id" },
      key: [{ name: "line_id" }],
    });
  });
});

describe("composites", () => {
  const masterDetail = { detailTable: "receipt_lines", foreignKey: "receipt_id" };
  const receipts = { action: crud, tableName: "receipts", masterDetail };

  test("a body sets neither keys nor what is computed, of header and details", async () => {
    const { entity } = await entityOf({
      ...receipts,
      calculation: { detail: { amount: "qty * 2" }, header: { total: "SUM(amount)" } },
    });
    const [detail] = entity.composite!.details;
    expect(names(entity.composite!.writable)).toEqual(["status"]);
    expect(names(detail!.writable)).toEqual(["qty", "note", "largest"]);
    expect(names(detail!.shown)).toContain("amount");
    expect(detail!.totals.map(({ column, function: name }) => [column.name, name])).toEqual([
      ["total", "sum"],
    ]);
  });

  test("formulas come in an order in which each finds the results that it needs", async () => {
    const { entity } = await entityOf({
      ...receipts,
      calculation: { detail: { largest: "amount * 2", amount: "qty + 1" } },
    });
    const order = entity.composite!.details[0]!.computed.map(({ column }) => column.name);
    expect(order).toEqual(["amount", "largest"]);
  });

  test("hidden fields are hidden in details and in their query too", async () => {
    const { entity } = await entityOf({
      ...receipts,
      hiddenFields: ["status"],
      masterDetail: { ...masterDetail, detailConfig: { fieldName: ["qty"] } },
      detailQuery: "select * from receipt_lines where receipt_id = :header_id",
    });
    const [detail] = entity.composite!.details;
    expect(names(detail!.shown)).toEqual(["line_id", "receipt_id", "qty"]);
    expect(detail!.query!.texts).toEqual(["select * from receipt_lines where receipt_id = ", ""]);
    expect(detail!.queryShown).not.toContain("status");
  });

  test.each([
    ["select 1 where a = :header_id or b = :header_id", 3],
    ["select ':header_id' where a = :header_id -- :header_id", 2],
    ["select a::header_id where a = :header_id", 2],
    ["select data ? 'x' where a = :header_id", 2],
    ["select data ? 'x' where a = $1", 2],
    ["select $10, $$ $1 $$ where a = $1", 2],
    ["select '?' where a = ? or b = ?", 3],
    ['select ":header_id", `?` /* ? */ where a = :header_idx or b = :header_id', 2],
  ])("a detailQuery %j has the header's key between %i texts", async (detailQuery, count) => {
    const { entity } = await entityOf({ ...receipts, detailQuery });
    const { texts } = entity.composite!.details[0]!.query!;
    expect(texts).toHaveLength(count);
  });
});

describe("defaultScope", () => {
  const scopeOf = async (defaultScope: unknown) =>
    (await entityOf({ ...base, defaultScope })).entity.read!.scope;

  test.each([
    ["a scalar is equality", { stock: 5 }, { kind: "compare", operator: "=", value: 5n }],
    ["a boolean too", { is_active: true }, { kind: "compare", operator: "=", value: true }],
    ["null is IS NULL", { deleted_at: null }, { kind: "null", negated: false }],
    [
      "an operator with a value",
      { price: { operator: ">=", value: "1.50" } },
      { kind: "compare", operator: ">=", value: "1.5" },
    ],
    [
      "an operator without a value",
      { deleted_at: { operator: "IS NOT NULL" } },
      { kind: "null", negated: true },
    ],
    [
      "a list",
      { sku: { operator: "IN", value: ["a", "b"] } },
      { kind: "in", values: ["a", "b"], negated: false },
    ],
    [
      "a range",
      { stock: { operator: "BETWEEN", value: [1, 2] } },
      { kind: "between", low: 1n, high: 2n },
    ],
    [
      "the nested form for reads",
      { read: { stock: 5 }, lookup: { stock: 6 } },
      { kind: "compare", value: 5n },
    ],
    ["several, all of which must hold", { stock: 5, sku: "a" }, { kind: "and" }],
  ])("%s", async (_, scope, condition) => {
    const [only] = unwrap(await scopeOf(scope));
    expect(only).toMatchObject(condition);
  });

  test.each([
    ["none", undefined],
    ["an empty one", {}],
    ["one for lookups alone", { lookup: { stock: 5 } }],
  ])("%s adds nothing to reads", async (_, scope) => {
    expect(await scopeOf(scope)).toBeNull();
  });

  test("may name a column that nobody sees", async () => {
    const { entity } = await entityOf({
      ...base,
      fieldName: ["sku"],
      hiddenFields: ["secret"],
      defaultScope: { secret: "x" },
    });
    expect(JSON.stringify(entity.read!.scope)).toContain("secret");
  });

  /** Groups of one are the same condition. */
  function unwrap(condition: unknown): unknown[] {
    const { kind, members } = condition as { kind: string; members?: unknown[] };
    return kind === "and" && members!.length === 1 ? unwrap(members![0]) : [condition];
  }
});

describe("adjustConfig", () => {
  test.each([
    ["no minimum", { price: {} }, null],
    ["a minimum alone", { price: { min: 0.5 } }, "0.5"],
    [
      "a minimum as text keeps its digits",
      { price: { min: "-12345678901234567890.10" } },
      "-12345678901234567890.1",
    ],
    ["no negative result", { price: { allowNegativeResult: false } }, "0"],
    ["negative results allowed", { price: { allowNegativeResult: true } }, null],
    ["the larger of both", { price: { min: -5, allowNegativeResult: false } }, "0"],
    ["the larger of both, the other way", { price: { min: 5, allowNegativeResult: false } }, "5"],
    ["a tiny minimum without an exponent", { price: { min: 1e-7 } }, "0.0000001"],
    ["the database's own name of its type", { price: { type: "numeric(12,2)" } }, null],
  ])("%s", async (_, fields, min) => {
    const { entity } = await entityOf({
      ...base,
      action: { adjust: true },
      adjustConfig: { fields },
    });
    expect(entity.adjust).toMatchObject({ reasonRequired: false });
    expect(entity.adjust!.fields.get("price")).toMatchObject({ column: { name: "price" }, min });
  });

  test("may name a field that bodies cannot set", async () => {
    const adjustConfig = { reasonRequired: true, fields: { stock: { type: "integer" } } };
    const { entity } = await entityOf({
      ...base,
      readOnlyFields: ["stock"],
      fieldName: ["sku"],
      adjustConfig,
    });
    expect(names(entity.adjust!.fields)).toEqual(["stock"]);
    expect(entity.adjust!.reasonRequired).toBe(true);
  });
});

describe("a rule tells of its column", () => {
  test.each([
    [
      "decimals in loosely stored text",
      "loose",
      { amount: { type: "decimal", scale: 4 } },
      "amount",
      { type: "decimal", native: "TEXT", precision: null, scale: 4 },
    ],
    [
      "booleans in loosely stored integers",
      "loose",
      { flag: { type: "boolean" } },
      "flag",
      { type: "boolean", range: null },
    ],
    [
      "nothing when its type only checks",
      "loose",
      { day: { type: "date" } },
      "day",
      { type: "text" },
    ],
    [
      "nothing where storage is strict",
      "products",
      { sku: { type: "decimal" } },
      "sku",
      { type: "text" },
    ],
    [
      "the scale of a decimal that declares none",
      "products",
      { weight: { type: "decimal", precision: 10, scale: 3 } },
      "weight",
      { precision: 10, scale: 3 },
    ],
    [
      "no other scale than the declared one",
      "products",
      { price: { type: "decimal", scale: 1 } },
      "price",
      { precision: 12, scale: 2 },
    ],
  ])("%s", async (_, tableName, fieldValidation, name, expected) => {
    const { entity } = await entityOf({ action: crud, tableName, fieldValidation });
    for (const columns of [
      entity.read!.columns,
      entity.write!.writable,
      entity.write!.table.columns,
    ]) {
      expect(columns.get(name)).toMatchObject(expected);
    }
  });

  test("the same column object everywhere", async () => {
    const { entity } = await entityOf({
      action: crud,
      tableName: "loose",
      fieldValidation: { amount: { type: "decimal" } },
    });
    expect(entity.read!.columns.get("amount")).toBe(entity.write!.table.columns.get("amount"));
  });
});

test("rules check a body, with the messages of the configuration", async () => {
  const { entity } = await entityOf({
    ...base,
    fieldValidation: { sku: { required: true, requiredMessage: "no sku" } },
  });
  const checked = entity.rules.check({ name: "x" }, "create", entity.write!.writable);
  expect(checked.errors).toEqual({ sku: ["no sku"] });
});

describe("actions", () => {
  test("that are on are enabled, those that are off are not", async () => {
    const { entity } = await entityOf({
      ...base,
      action: { read: true, create: false, lookup: true },
    });
    expect([...entity.enabled]).toEqual(["read", "lookup"]);
  });

  test("of a group are all enabled with it, and no word is said of it", async () => {
    const { entity, notices } = await entityOf({
      ...base,
      action: { read: true, lookup: true, export: true },
    });
    const group = ["export", "export-status", "export-download", "export-cancel"];
    expect([...entity.enabled]).toEqual(["read", "lookup", ...group]);
    expect(notices).toEqual([]);
  });
});

test("a project without endpoints is told of", async () => {
  expect((await load(filesOf({}))).notices).toEqual(["shop: the project has no endpoint"]);
});

describe("a compiled entity", () => {
  const compiled = async (): Promise<Entity> =>
    (
      await entityOf({
        ...base,
        viewQuery: "select 1",
        defaultScope: { stock: { operator: "IN", value: [1, 2] } },
        adjustConfig: { fields: { stock: { min: 0 } } },
      })
    ).entity;

  test("is frozen through and through", async () => {
    const open: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      if (!Object.isFrozen(value)) open.push(path);
      const members =
        value instanceof Map
          ? [...value]
          : value instanceof Set
            ? [...value].entries()
            : Object.entries(value);
      for (const [name, member] of members) visit(member, `${path}.${String(name)}`);
    };
    const entity = await compiled();
    expect(Object.isFrozen(entity)).toBe(true);
    // What is inside the rules is their own matter.
    for (const [name, part] of Object.entries({ ...entity, rules: null })) visit(part, name);
    expect(open).toEqual([]);
    expect(Object.isFrozen(entity.rules)).toBe(true);
  });

  test.each<[string, (entity: Entity) => unknown]>([
    ["a column taken away", ({ read }) => (read!.columns as Map<string, unknown>).delete("sku")],
    ["a field added", ({ adjust }) => (adjust!.fields as Map<string, unknown>).set("x", 1)],
    ["all columns cleared", ({ write }) => (write!.table.columns as Map<string, unknown>).clear()],
    ["an action switched on", ({ enabled }) => (enabled as Set<string>).add("x")],
    ["another source", ({ read }) => Object.assign(read!.source, { text: "x" })],
  ])("refuses %s", async (_, change) => {
    const entity = await compiled();
    expect(() => change(entity)).toThrow(TypeError);
  });
});

describe("one statement of SQL", () => {
  test.each([
    ["select 1", "select 1"],
    ["  select 1 ;; \n", "select 1"],
    ["select 1 -- done", "select 1"],
    ["select 1; /* done; really */", "select 1"],
    ["select ';' as a", "select ';' as a"],
    ["select 'it''s; fine'", "select 'it''s; fine'"],
    ["select 'it\\'s; fine'", "select 'it\\'s; fine'"],
    ["select '\\'; -- a closed literal", "select '\\'"],
    ['select ";" from `a;b`', 'select ";" from `a;b`'],
    ["select $$a;b$$, $t$c;$$;d$t$", "select $$a;b$$, $t$c;$$;d$t$"],
    ["select 1 -- a; b\n, 2", "select 1 -- a; b\n, 2"],
    ["select 4/2-1", "select 4/2-1"],
    ["select 1 order by 1", "select 1 order by 1"],
  ])("%s is taken", (sql, text) => {
    expect(singleStatement(sql)).toEqual({ ok: true, text });
  });

  test.each([
    ["select 1; select 2", "second statement"],
    ["select 1;;delete from a", "second statement"],
    ["select 'a';'b'", "second statement"],
    ["", "no statement"],
    [";", "no statement"],
    ["/* only */", "no statement"],
    ["select /* open", "never ends"],
    ['select "open', "never ends"],
  ])("%s is refused", (sql, found) => {
    const read = singleStatement(sql);
    expect(read.ok).toBe(false);
    expect(JSON.stringify(read)).toContain(found);
  });
});
