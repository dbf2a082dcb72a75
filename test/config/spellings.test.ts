/** Alternative spellings are converted to the main ones, and the JSON Schema for editors accepts both. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { jsonSchemas } from "../../core/config/reading/json-schemas.ts";
import { endpointSchema } from "../../core/config/reading/schema.ts";
import { normalised, projectFile } from "./shop.ts";

const details = { detailTable: "lines", foreignKey: "receipt_id" };
const hook = { url: "https://example.com/x" };
const lookup = { targetTable: "warehouses", targetField: "warehouse_id", lookupField: "name" };

/** Name, second spelling, first spelling; `action` is added to both. */
const pairs: readonly (readonly [string, Record<string, unknown>, Record<string, unknown>])[] = [
  [
    "camelCase actions",
    { action: { createComposite: true, changeStatus: true, importUpload: false } },
    { action: { "create-composite": true, "change-status": true, "import-upload": false } },
  ],
  ["the group workflow", { action: { workflow: true } }, { action: { "change-status": true } }],
  [
    "the group export",
    { action: { export: true } },
    {
      action: {
        export: true,
        "export-status": true,
        "export-download": true,
        "export-cancel": true,
      },
    },
  ],
  [
    "the group import",
    { action: { import: true } },
    {
      action: {
        "import-upload": true,
        "import-preview": true,
        "import-commit": true,
        "import-status": true,
        "import-template": true,
        "import-errors": true,
        "import-cancel": true,
      },
    },
  ],
  [
    "the group lock",
    { action: { lock: true } },
    { action: { "lock/acquire": true, "lock/release": true, "lock/status": true } },
  ],
  [
    "an action that says more than its group",
    { action: { lock: true, "lock/status": false } },
    { action: { "lock/acquire": true, "lock/release": true, "lock/status": false } },
  ],
  [
    "rules as an object",
    { fieldValidation: { sku: { type: "string", required: true } } },
    { fieldValidation: [{ name: "sku", type: "string", constraints: { required: true } }] },
  ],
  [
    "flat constraints",
    {
      fieldValidation: [{ name: "sku", type: "string", maxLength: 5, maxLengthMessage: "short!" }],
    },
    {
      fieldValidation: [
        { name: "sku", type: "string", constraints: { maxLength: 5, maxLengthMessage: "short!" } },
      ],
    },
  ],
  [
    "flat beside nested constraints",
    { fieldValidation: [{ name: "sku", required: true, constraints: { trim: true } }] },
    { fieldValidation: [{ name: "sku", constraints: { required: true, trim: true } }] },
  ],
  [
    "labels of rules",
    {
      fieldValidation: [
        { name: "sku", label: "SKU", description: "x", primaryKey: true, autoGenerate: true },
      ],
    },
    { fieldValidation: [{ name: "sku", primaryKey: true, autoGenerate: true, constraints: {} }] },
  ],
  [
    "a key and its generation inside of constraints",
    {
      fieldValidation: [
        { name: "sku", constraints: { primaryKey: true, autoGenerate: false, required: true } },
        { name: "name", primaryKey: true, constraints: { primaryKey: true } },
      ],
    },
    {
      fieldValidation: [
        { name: "sku", constraints: { required: true } },
        { name: "name", primaryKey: true, constraints: {} },
      ],
    },
  ],
  [
    "formats of dates in rules",
    {
      fieldValidation: [
        { name: "due", type: "date", constraints: { required: true, format: "dd/MM/yyyy" } },
        { name: "kept", type: "datetime", constraints: { format: "dd/MM/yyyy HH:mm" } },
        { name: "mail", type: "string", constraints: { format: "email" } },
      ],
      dateTimeFields: { kept: { type: "timestamp", format: "dd/MM/yyyy HH:mm:ss" } },
    },
    {
      fieldValidation: [
        { name: "due", type: "date", constraints: { required: true } },
        { name: "kept", type: "datetime", constraints: {} },
        { name: "mail", type: "string", constraints: { format: "email" } },
      ],
      dateTimeFields: {
        kept: { type: "timestamp", format: "dd/MM/yyyy HH:mm:ss" },
        due: { type: "date", format: "dd/MM/yyyy" },
      },
    },
  ],
  [
    "dates as a list",
    { dateTimeFields: ["due", "kept"] },
    { dateTimeFields: { due: { format: "dd/MM/yyyy" }, kept: { format: "dd/MM/yyyy" } } },
  ],
  [
    "column formats that say nothing more than the type",
    {
      columnFormats: {
        sold: { type: "boolean" },
        note: { type: "text" },
        size: { type: "number" },
        due: { type: "date" },
        price: { type: "number", format: "0.0" },
      },
    },
    { columnFormats: { price: { type: "number", format: "0.0" } } },
  ],
  [
    "a search over all columns beside some",
    { datatablesWhere: ["sku", "all"] },
    { datatablesWhere: ["sku"] },
  ],
  ["a search over all columns alone", { datatablesWhere: ["all"] }, {}],
  ["audit columns: null", { auditColumns: null }, { auditColumns: false }],
  [
    "a flat scope",
    { defaultScope: { is_active: true, deleted_at: null } },
    {
      defaultScope: {
        read: { is_active: true, deleted_at: null },
        lookup: { is_active: true, deleted_at: null },
      },
    },
  ],
  [
    "a flat scope with a column named read",
    { defaultScope: { read: true } },
    { defaultScope: { read: { read: true }, lookup: { read: true } } },
  ],
  [
    "audit columns by column name",
    { auditColumns: { created_at: "made_at" } },
    { auditColumns: { createdAt: "made_at" } },
  ],
  ["audit columns: true", { auditColumns: true }, {}],
  [
    "cascadeDelete at the top",
    { cascadeDelete: true, masterDetail: details },
    { masterDetail: { ...details, cascadeDelete: true } },
  ],
  [
    "the detail query inside",
    { masterDetail: { ...details, detailConfig: { detailQuery: "select :header_id" } } },
    { masterDetail: { ...details, detailConfig: {} }, detailQuery: "select :header_id" },
  ],
  [
    "the detail table inside",
    { masterDetail: { detailConfig: { tableName: "lines", foreignKey: "receipt_id" } } },
    { masterDetail: { ...details, detailConfig: {} } },
  ],
  [
    "rules of details as an object",
    {
      masterDetail: { ...details, detailConfig: { fieldValidation: { qty: { required: true } } } },
    },
    {
      masterDetail: {
        ...details,
        detailConfig: { fieldValidation: [{ name: "qty", constraints: { required: true } }] },
      },
    },
  ],
  [
    "masterDetail.enabled",
    { masterDetail: { ...details, enabled: true, transactionMode: "strict" } },
    { masterDetail: details },
  ],
  [
    "several kinds of details, each with its own spellings",
    {
      masterDetail: [
        { ...details, enabled: false },
        {
          detailConfig: {
            tableName: "lines",
            foreignKey: "receipt_id",
            detailQuery: "select :header_id",
            fieldValidation: { qty: { required: true } },
            autoCalculateFields: { amount: "qty * price" },
          },
          headerCalculations: { items: "items.length" },
        },
      ],
    },
    {
      masterDetail: [
        {
          ...details,
          detailConfig: { fieldValidation: [{ name: "qty", constraints: { required: true } }] },
          detailQuery: "select :header_id",
          calculation: { detail: { amount: "qty * price" }, header: { items: "COUNT(*)" } },
        },
      ],
    },
  ],
  ["masterDetail that is off", { masterDetail: { ...details, enabled: false } }, {}],
  [
    "calculated fields as a list",
    {
      masterDetail: {
        ...details,
        detailConfig: {
          autoCalculateFields: [
            { field: "amount", type: "calculated", formula: "qty * price" },
            { field: "tax", type: "generated" },
          ],
        },
      },
    },
    {
      masterDetail: { ...details, detailConfig: {} },
      calculation: { detail: { amount: "qty * price" } },
    },
  ],
  [
    "calculated fields as an object",
    {
      masterDetail: {
        ...details,
        detailConfig: { autoCalculateFields: { amount: "qty * price" } },
      },
    },
    {
      masterDetail: { ...details, detailConfig: {} },
      calculation: { detail: { amount: "qty * price" } },
    },
  ],
  [
    "header calculations",
    {
      masterDetail: {
        ...details,
        headerCalculations: { items: "items.length", qty: "items.qty", top: "MAX(items.price)" },
      },
    },
    {
      masterDetail: details,
      calculation: { header: { items: "COUNT(*)", qty: "SUM(qty)", top: "MAX(price)" } },
    },
  ],
  [
    "header calculations by type and source",
    {
      masterDetail: {
        ...details,
        headerCalculations: {
          items: { type: "count", source: "items.length", description: "x" },
          qty: { type: "sum", source: "items.qty" },
        },
      },
    },
    { masterDetail: details, calculation: { header: { items: "COUNT(*)", qty: "SUM(qty)" } } },
  ],
  [
    "the type and the timeout of a hook",
    { workflow: { hooks: { done: { onAfter: [{ ...hook, type: "api", timeout: 5_000 }] } } } },
    { workflow: { hooks: { done: { onAfter: [{ ...hook, name: "hook1", timeoutMs: 5_000 }] } } } },
  ],
  [
    "hooks without a name",
    {
      workflow: {
        hooks: { done: { onBefore: [hook, hook], onAfter: [{ ...hook, name: "tell" }] } },
      },
    },
    {
      workflow: {
        hooks: {
          done: {
            onBefore: [
              { ...hook, name: "hook1" },
              { ...hook, name: "hook2" },
            ],
            onAfter: [{ ...hook, name: "tell" }],
          },
        },
      },
    },
  ],
  [
    "a label with display_text",
    { fieldNameLookup: { text: "code || ' - ' || name AS display_text" } },
    { fieldNameLookup: { text: "code || ' - ' || name" } },
  ],
  [
    "a label of CONCAT",
    { fieldNameLookup: { text: "CONCAT(code, ', it''s (', name,')') as display_text" } },
    { fieldNameLookup: { text: "code || ', it''s (' || name || ')'" } },
  ],
  [
    "a workflow without transitions and hooks",
    { workflow: { transitions: null, hooks: null } },
    { workflow: {} },
  ],
  ["no soft delete", { softDelete: null }, {}],
  [
    "sizes with a unit",
    { importConfig: { maxFileSize: "10MB" } },
    { importConfig: { maxFileSize: 10_485_760 } },
  ],
  [
    "settings of import without effect",
    { importConfig: { enabled: true, chunkSize: 100, allowedFormats: ["xlsx"] } },
    { importConfig: {} },
  ],
  [
    "lookups of import",
    {
      importConfig: {
        lookupFields: {
          Warehouse: {
            targetField: "warehouse_id",
            lookupTable: "warehouses",
            lookupColumn: "name",
            lookupIdColumn: "id",
          },
        },
      },
    },
    { importConfig: { lookupFields: { Warehouse: { ...lookup, idField: "id" } } } },
  ],
  [
    "properties without effect",
    {
      version: "5",
      description: "x",
      title: "x",
      author: "x",
      $comment: "x",
      uniqueConstraints: [["sku"]],
      transactionMode: "x",
      softDeleteFkChecks: [],
      softDeleteFkParents: [],
      softDeleteFkChildren: [],
      softDeleteCascadeTree: {},
    },
    {},
  ],
  [
    "settings that are switched off",
    { kafka: { enabled: false }, processor: null, components: [] },
    {},
  ],
];

const withAction = (payload: Record<string, unknown>) => ({ action: { read: true }, ...payload });

const ordered = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(endpointSchema.parse(value)));

describe("the first spelling replaces", () => {
  test.each(pairs)("%s", (_, second, first) => {
    const { value, faults } = normalised(withAction(second));
    expect(faults).toEqual([]);
    expect(value).toEqual(withAction(first));
    expect(ordered(value)).toEqual(ordered(withAction(first)));
  });

  test.each(pairs)("nothing where the first one is written already: %s", (_, __, first) => {
    const { value } = normalised(withAction(first));
    expect(ordered(value)).toEqual(ordered(withAction(first)));
  });
});

test.each([
  ["two spellings of one audit column", { auditColumns: { created_at: "a", createdAt: "b" } }],
  [
    "a constraint flat and nested",
    { fieldValidation: [{ name: "sku", required: true, constraints: { required: false } }] },
  ],
  [
    "two places of a detail query",
    { detailQuery: "a", masterDetail: { ...details, detailConfig: { detailQuery: "b" } } },
  ],
])("%s are refused, none is dropped in silence", (_, payload) => {
  expect(endpointSchema.safeParse(normalised(withAction(payload)).value).success).toBe(false);
});

describe("the JSON Schemas", () => {
  const read = (name: string): z.ZodType =>
    z.fromJSONSchema(
      JSON.parse(jsonSchemas().get(name)!) as Parameters<typeof z.fromJSONSchema>[0],
    );
  const endpoint = read("endpoint.schema.json");

  test.each([...jsonSchemas()])(
    "%s is committed as the code writes it (npm run schemas)",
    (name, text) => {
      expect(readFileSync(join(import.meta.dirname, "../../configs", name), "utf8")).toBe(text);
    },
  );

  test.each(pairs)("take both spellings of %s", (name, second, first) => {
    const foreign = name === "settings that are switched off";
    expect(endpoint.safeParse(withAction(first)).error?.issues).toBeUndefined();
    if (!foreign) expect(endpoint.safeParse(withAction(second)).error?.issues).toBeUndefined();
  });

  test.each([
    ["an unknown property", withAction({ tablename: "x" })],
    ["an unknown action", { action: { raed: true } }],
    [
      "an unknown constraint",
      withAction({ fieldValidation: [{ name: "sku", constraints: { requird: true } }] }),
    ],
    ["a missing action", { tableName: "x" }],
    ["a wrong kind", withAction({ fieldName: "sku" })],
  ])("refuse %s", (_, payload) => {
    expect(endpoint.safeParse(payload).success).toBe(false);
  });

  test("take the smallest project.json and refuse an unknown setting", () => {
    const project = read("project.schema.json");
    expect(project.safeParse(projectFile).success).toBe(true);
    expect(project.safeParse({ ...projectFile, databse: 1 }).success).toBe(false);
  });

  test("describe every property of an endpoint", () => {
    const schema = JSON.parse(jsonSchemas().get("endpoint.schema.json")!) as {
      properties: Record<string, { description?: string }>;
    };
    const silent = Object.entries(schema.properties).filter(
      ([name, { description }]) => !description && name in endpointSchema.shape,
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  test("lie where the files of the demo look for them", () => {
    expect(existsSync(join(import.meta.dirname, "../../configs/endpoint.schema.json"))).toBe(true);
  });
});
