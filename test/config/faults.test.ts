/** Every configuration fault, with its position and the words that its message must contain. */
import { describe, expect, test } from "vitest";
import {
  faultMessage,
  formatFaults,
  formatPath,
  sortFaults,
} from "../../core/config/reading/faults.ts";
import { filesOf, load, projectFile, sentenceOf } from "./shop.ts";

const crud = { create: true, read: true, first: true, update: true, delete: true };
const base = { action: crud, tableName: "products" };
const rule = (constraints: object, more: object = {}) => ({
  fieldValidation: [{ name: "name", constraints, ...more }],
});
const details = { detailTable: "receipt_lines", foreignKey: "receipt_id" };
const receipts = { action: crud, tableName: "receipts", masterDetail: details };
const withQuery = (viewQuery: string) => ({ action: { read: true }, viewQuery });

type Case = readonly [name: string, payload: unknown, path: string, ...words: string[]];

const shapes: readonly Case[] = [
  ["a list as the whole file", [], "$", "an object"],
  ["a file without action", { tableName: "products" }, "action", "nothing", "an object"],
  [
    "an unknown property",
    { ...base, tablename: "x" },
    "tablename",
    "unknown property",
    'did you mean "tableName"?',
  ],
  ["a property of another world", { ...base, zzzzzzzz: 1 }, "zzzzzzzz", "unknown property"],
  ["__proto__", '{"action": {}, "__proto__": {}}', "__proto__", "another name"],
  ["a misspelt action", { ...base, action: { raed: true } }, "action.raed", 'did you mean "read"?'],
  [
    "a misspelt group of actions",
    { ...base, action: { ipmort: true } },
    "action.ipmort",
    'did you mean "import"?',
  ],
  [
    "misspelt constraints of a rule",
    { ...base, fieldValidation: [{ name: "name", cnostraints: { required: true } }] },
    "fieldValidation[0].cnostraints",
    'did you mean "constraints"?',
  ],
  [
    "a misspelt type of a rule",
    { ...base, fieldValidation: { name: { typ: "string", required: true } } },
    "fieldValidation.name.typ",
    'did you mean "type"?',
  ],
  [
    "an action that is a text",
    { ...base, action: { read: "yes" } },
    "action.read",
    '"yes"',
    "true or false",
  ],
  [
    "a planned action",
    { ...base, action: { attach: true } },
    "action.attach",
    "planned but not available yet",
    "create stores the record that links two others",
  ],
  ["a number as table", { ...base, tableName: 5 }, "tableName", "5", "a string"],
  ["an empty table", { ...base, tableName: "" }, "tableName", "not empty"],
  ["an empty list of fields", { ...base, fieldName: [] }, "fieldName", "not empty"],
  ["an empty list as table", { ...base, tableName: [] }, "tableName", "expected a string, found"],
  ["an empty text as fields", { ...base, fieldName: "" }, "fieldName", "expected a list, found"],
  [
    "an empty text as details",
    { ...base, masterDetail: "" },
    "masterDetail",
    "expected an object or a list, found",
  ],
  ["a field that is a number", { ...base, fieldName: ["sku", 7] }, "fieldName[1]", "7", "a string"],
  [
    "a field of an export that the table lacks",
    { ...base, action: { export: true }, fieldName: ["skuu"] },
    "fieldName[0]",
    'did you mean "sku"?',
  ],
  [
    "a column of an export that the table lacks",
    { ...base, action: { export: true }, exportColumns: ["skuu"] },
    "exportColumns[0]",
    'did you mean "sku"?',
  ],
  [
    "a key of a lookup that the table lacks",
    { ...base, action: { lookup: true }, primaryKey: "productid" },
    "primaryKey",
    'did you mean "product_id"?',
  ],
  [
    "a label of a lookup that the table lacks",
    { ...base, action: { lookup: true }, fieldName: ["sku", "nam"] },
    "fieldName[1]",
    'did you mean "name"?',
  ],
  [
    "hidden fields as a number",
    { ...base, hiddenFields: 3 },
    "hiddenFields",
    "a list or an object",
  ],
  ["audit columns as a text", { ...base, auditColumns: "x" }, "auditColumns", "false or an object"],
  [
    "an unknown audit column",
    { ...base, auditColumns: { createdOn: "x" } },
    "auditColumns.createdOn",
    'did you mean "createdAt"?',
  ],
  ["a scope that is a text", { ...base, defaultScope: "x" }, "defaultScope", "an object"],
  [
    "a scope with a list",
    { ...base, defaultScope: { stock: [1] } },
    "defaultScope.stock",
    "a string or a number",
  ],
  [
    "a scope with an unknown member",
    { ...base, defaultScope: { stock: { operator: "=", value: 1, valeu: 1 } } },
    "defaultScope.stock.valeu",
    'did you mean "value"?',
  ],
  [
    "a misspelt join type",
    {
      ...base,
      aggregateConfig: {
        joins: {
          a: {
            tableName: "receipts",
            joinType: "LEF",
            sourceField: "sku",
            targetField: "receipt_id",
            fields: ["status"],
          },
        },
      },
    },
    "aggregateConfig.joins.a.joinType",
    'did you mean "LEFT"?',
  ],
  [
    "an unknown column format",
    { ...base, columnFormats: { price: { type: "numbr" } } },
    "columnFormats.price.type",
    "one of date, number, boolean",
    'did you mean "number"?',
  ],
  [
    "a hook without an address",
    { ...base, tableName: "receipts", workflow: { hooks: { done: { onAfter: [{}] } } } },
    "workflow.hooks.done.onAfter[0].url",
    "nothing",
    "a string",
  ],
  [
    "an upload size of nonsense",
    { ...base, importConfig: { maxFileSize: "10 apples" } },
    "importConfig.maxFileSize",
    '"10 apples"',
    "a number",
  ],
  [
    "an unknown strategy",
    { ...base, importConfig: { upsertStrategy: "insert" } },
    "importConfig.upsertStrategy",
    "one of update_existing",
  ],
  ["kafka", { ...base, kafka: { topic: "x" } }, "kafka", "onAfter"],
  [
    "a scope of another action",
    { ...base, defaultScope: { read: { is_active: true }, datatables: { is_active: true } } },
    "defaultScope.datatables",
    "datatablesQuery",
  ],
  [
    "a JSON Schema in a rule",
    { ...base, fieldValidation: [{ name: "sku", type: "json", constraints: { schema: {} } }] },
    "fieldValidation[0].constraints.schema",
    "onBeforeInsert",
  ],
  [
    "a form of dates that is none",
    { ...base, dateTimeFields: { deleted_at: { format: "MMM yyyy" } } },
    "dateTimeFields.deleted_at.format",
    "dd/MM/yyyy HH:mm",
  ],
  [
    "a form of dates for a text",
    { ...base, dateTimeFields: ["name"] },
    "dateTimeFields.name",
    "a column of dates or times",
  ],
  [
    "a form of dates for no column",
    { ...base, dateTimeFields: { deletd_at: { format: "dd/MM/yyyy" } } },
    "dateTimeFields.deletd_at",
    'did you mean "deleted_at"?',
  ],
  ["a field policy", { ...base, fieldPolicy: { strategy: "x" } }, "fieldPolicy", "readOnlyFields"],
  [
    "a file of a dashboard",
    { widgets: [{ id: "a" }], params: {}, cache: {} },
    "widgets",
    "aggregate",
  ],
  ["a processor", { ...base, processor: "x.js" }, "processor", "components"],
  [
    "actions as the keys of access",
    { ...base, access: { read: ["admin"] } },
    "access",
    'roles as the keys: {"admin":["read"]}',
  ],
  ["softDelete", { ...base, softDelete: { field: "deleted_at" } }, "softDelete.field", "flag"],
  [
    "components as a list",
    { ...base, components: [{ name: "x" }] },
    "components",
    "onBeforeInsert",
  ],
  [
    "components as a list, in their own form",
    {
      ...base,
      components: [
        {
          properties: {
            filename: "components/plants.js",
            methods: [
              { name: "checkLabel", events: "onBeforeInsert", params: [{ value: "{user_id}" }] },
              { name: "tellDepot", events: ["onAfterInsert", "onAfterUpdate"] },
            ],
          },
        },
      ],
    },
    "components",
    '{"onBeforeInsert":["components/plants.js#checkLabel"],"onAfterInsert":["components/plants.js#tellDepot"],"onAfterUpdate":["components/plants.js#tellDepot"]}',
  ],
  [
    "components of details",
    { ...receipts, masterDetail: { ...receipts.masterDetail, components: [] } },
    "masterDetail.components",
    "components at the top of the file",
  ],
  [
    "kafka of details",
    {
      ...receipts,
      masterDetail: { ...receipts.masterDetail, detailConfig: { kafka: { topic: "x" } } },
    },
    "masterDetail.detailConfig.kafka",
    "no kafka",
  ],
  ["a file of processors alone", { processor: [{ name: "x" }] }, "processor", "no processor"],
  [
    "a date format of details",
    {
      ...receipts,
      masterDetail: {
        ...receipts.masterDetail,
        detailConfig: {
          fieldValidation: [{ name: "note", type: "date", constraints: { format: "dd/MM" } }],
        },
      },
    },
    "masterDetail.detailConfig.fieldValidation[0].constraints.format",
    '"dd/MM"',
    "dates are ISO 8601",
  ],
  [
    "a mark of the key that is no boolean",
    { ...base, fieldValidation: [{ name: "name", constraints: { primaryKey: "yes" } }] },
    "fieldValidation[0].constraints.primaryKey",
    "unknown property",
  ],
  ...(
    [
      ["of another type", { type: "avg", source: "items.qty" }],
      ["that counts a column", { type: "count", source: "items.qty" }],
      ["that sums the length", { type: "sum", source: "items.length" }],
      ["without items", { type: "sum", source: "qty" }],
    ] as const
  ).map(([what, total]): Case => [
    `a header calculation by source ${what}`,
    { ...receipts, headerCalculations: { total } },
    "headerCalculations.total",
    '{"type": "sum", "source": "items.<column>"}',
  ]),
  [
    "a header calculation that has no counterpart",
    { ...receipts, headerCalculations: { total: "items.reduce()" } },
    "headerCalculations.total",
    "calculation.header",
  ],
];

const rules: readonly Case[] = [
  [
    "an unknown constraint",
    { ...base, ...rule({ requird: true }) },
    "fieldValidation[0].constraints.requird",
    'did you mean "required"?',
  ],
  [
    "an unknown constraint beside the name",
    { ...base, fieldValidation: [{ name: "name", requird: true }] },
    "fieldValidation[0].requird",
    'did you mean "required"?',
  ],
  [
    "an unknown constraint of the object form",
    { ...base, fieldValidation: { name: { requird: true } } },
    "fieldValidation.name.requird",
    'did you mean "required"?',
  ],
  [
    "an unknown message",
    { ...base, ...rule({ minLengtMessage: "x" }) },
    "fieldValidation[0].constraints.minLengtMessage",
    'did you mean "minLengthMessage"?',
  ],
  [
    "an unknown type",
    { ...base, ...rule({}, { type: "strin" }) },
    "fieldValidation[0].type",
    'did you mean "string"?',
  ],
  [
    "a rule without a name",
    { ...base, fieldValidation: [{ type: "string" }] },
    "fieldValidation[0].name",
    "nothing",
    "a string",
  ],
  [
    "a rule that is a text",
    { ...base, fieldValidation: ["name"] },
    "fieldValidation[0]",
    "an object",
  ],
  [
    "a rule of an unknown column",
    { ...base, fieldValidation: [{ name: "nam" }] },
    "fieldValidation[0].name",
    '"nam"',
    'did you mean "name"?',
  ],
  [
    "a constraint on a column that is only read",
    {
      ...base,
      viewName: "product_view",
      fieldValidation: [{ name: "category_name", type: "text", constraints: { required: true } }],
    },
    "fieldValidation[0].constraints.required",
    "category_name, which is only read",
    "only a type, precision or scale",
  ],
  [
    "an unknown column of the object form",
    { ...base, fieldValidation: { nam: { required: true } } },
    "fieldValidation.nam",
    'did you mean "name"?',
  ],
  [
    "two rules for one field",
    { ...base, fieldValidation: [{ name: "name" }, { name: "name" }] },
    "fieldValidation[1].name",
    "one rule for each field",
  ],
  [
    "a bad pattern",
    { ...base, ...rule({ pattern: "[a" }) },
    "fieldValidation[0].constraints.pattern",
    "[a",
    "regular expression",
  ],
  [
    "an enum that is no list",
    { ...base, ...rule({ enum: "a,b" }) },
    "fieldValidation[0].constraints.enum",
    "a list",
  ],
  [
    "an enum without values",
    { ...base, ...rule({ enum: [] }) },
    "fieldValidation[0].constraints.enum",
    "not empty",
  ],
  [
    "a negative length",
    { ...base, ...rule({ minLength: -1 }) },
    "fieldValidation[0].constraints.minLength",
    "at least 0",
  ],
  [
    "lengths that contradict",
    { ...base, ...rule({ minLength: 5, maxLength: 2 }) },
    "fieldValidation[0].constraints.maxLength",
    "minLength",
  ],
  [
    "an unknown format",
    { ...base, ...rule({ format: "emial" }) },
    "fieldValidation[0].constraints.format",
    'did you mean "email"?',
  ],
  [
    "a bound that is no number",
    {
      ...base,
      fieldValidation: [{ name: "price", type: "decimal", constraints: { min: "cheap" } }],
    },
    "fieldValidation[0].constraints.min",
    "a number",
  ],
  [
    "a range without a value",
    { ...base, fieldValidation: [{ name: "price", type: "decimal", min: 5, max: 1 }] },
    "fieldValidation[0].max",
    "min",
  ],
  [
    "before an unknown field",
    {
      ...base,
      fieldValidation: [
        { name: "deleted_at", type: "timestamp", constraints: { before: "updatd_at" } },
      ],
    },
    "fieldValidation[0].constraints.before",
    'did you mean "updated_at"?',
  ],
  [
    "a number with too many digits",
    '{"action": {}, "tableName": "products", "fieldValidation": [{"name": "price", "constraints": {"max": 12345678901234567890.5}}]}',
    "fieldValidation[0].constraints.max",
    "in quotes",
  ],
  [
    "a detail rule of an unknown column",
    {
      ...receipts,
      masterDetail: { ...details, detailConfig: { fieldValidation: { qt: { required: true } } } },
    },
    "masterDetail.detailConfig.fieldValidation.qt",
    'did you mean "qty"?',
  ],
];

const names: readonly Case[] = [
  [
    "an unknown table",
    { ...base, tableName: "product" },
    "tableName",
    '"product"',
    'did you mean "products"?',
  ],
  [
    "an unknown view",
    { ...base, viewName: "product_viwe" },
    "viewName",
    'did you mean "product_view"?',
  ],
  [
    "an unknown field",
    { ...base, fieldName: ["sku", "prise"] },
    "fieldName[1]",
    "the table products",
    'did you mean "price"?',
  ],
  [
    "an unknown key",
    { ...base, primaryKey: "productid" },
    "primaryKey",
    'did you mean "product_id"?',
  ],
  [
    "an unknown hidden field",
    { ...base, hiddenFields: ["secrets"] },
    "hiddenFields[0]",
    'did you mean "secret"?',
  ],
  [
    "an unknown read-only field",
    { ...base, readOnlyFields: ["skuu"] },
    "readOnlyFields[0]",
    'did you mean "sku"?',
  ],
  [
    "a hidden field that neither header nor details have",
    { ...receipts, hiddenFields: ["qty", "notte"] },
    "hiddenFields[1]",
    'did you mean "note"?',
  ],
  [
    "a read-only field that neither header nor details have",
    { ...receipts, readOnlyFields: ["note", "qtyy"] },
    "readOnlyFields[1]",
    "the table receipts or of its details",
    'did you mean "qty"?',
  ],
  [
    "a read-only field that only the detailQuery has",
    {
      ...receipts,
      detailQuery: "select * from receipt_lines where receipt_id = :header_id",
      hiddenFields: ["sku"],
      readOnlyFields: ["sku"],
    },
    "readOnlyFields[0]",
    "the table receipts or of its details",
  ],
  [
    "an unknown label",
    { ...base, fieldLabels: { skuu: "SKU" } },
    "fieldLabels.skuu",
    'did you mean "sku"?',
  ],
  [
    "an unknown column of the grid's search",
    { ...base, datatablesWhere: ["skuu"] },
    "datatablesWhere[0]",
    'did you mean "sku"?',
  ],
  [
    "a format of an unknown column",
    { ...base, exportQuery: "select 1", columnFormats: { prise: { type: "number", format: "0" } } },
    "columnFormats.prise",
    'did you mean "price"?',
  ],
  [
    "an unknown column in the scope",
    { ...base, defaultScope: { isactive: true } },
    "defaultScope.isactive",
    'did you mean "is_active"?',
  ],
  [
    "an unknown column in the nested scope",
    { ...base, defaultScope: { lookup: { isactive: true } } },
    "defaultScope.lookup.isactive",
    'did you mean "is_active"?',
  ],
  [
    "an unknown operator in the scope",
    { ...base, defaultScope: { stock: { operator: "~", value: 1 } } },
    "defaultScope.stock",
    "operator",
  ],
  [
    "an operator without its value",
    { ...base, defaultScope: { stock: { operator: ">" } } },
    "defaultScope.stock",
    "a value",
  ],
  [
    "a scope value that the column cannot hold",
    { ...base, defaultScope: { stock: "many" } },
    "defaultScope.stock",
    '"stock"',
  ],
  [
    "a label that fieldName leaves out",
    { ...base, fieldName: ["sku"], fieldNameLookup: { text: "name" } },
    "fieldNameLookup.text",
    "a column of what the endpoint shows",
  ],
  [
    "an unknown lookup id",
    { ...base, fieldNameLookup: { id: "productid" } },
    "fieldNameLookup.id",
    'did you mean "product_id"?',
  ],
  [
    "an unknown column in a lookup text",
    { ...base, fieldNameLookup: { text: "sku || ' - ' || nam" } },
    "fieldNameLookup.text",
    '"nam"',
    'did you mean "name"?',
  ],
  [
    "a lookup text without a column",
    { ...base, fieldNameLookup: { text: " || " } },
    "fieldNameLookup.text",
    "joined with ||",
  ],
  [
    "a function in a lookup text",
    { ...base, fieldNameLookup: { text: "upper(name)" } },
    "fieldNameLookup.text",
    "joined with ||",
  ],
  [
    "an unknown detail table",
    { ...receipts, masterDetail: { ...details, detailTable: "receipt_line" } },
    "masterDetail.detailTable",
    'did you mean "receipt_lines"?',
  ],
  [
    "an unknown foreign key",
    { ...receipts, masterDetail: { ...details, foreignKey: "receiptid" } },
    "masterDetail.foreignKey",
    'did you mean "receipt_id"?',
  ],
  [
    "a formula over an unknown column",
    { ...receipts, calculation: { detail: { amount: "qyt * 2" } } },
    "calculation.detail.amount",
    '"qyt"',
    'did you mean "qty"?',
  ],
  [
    "a formula with a call",
    { ...receipts, calculation: { detail: { amount: "qty; drop" } } },
    "calculation.detail.amount",
    "parentheses",
  ],
  [
    "a header formula of its own kind",
    { ...receipts, calculation: { header: { total: "qty * 2" } } },
    "calculation.header.total",
    "COUNT(*)",
  ],
  [
    "a formula over a text",
    { ...receipts, tableName: "receipts", calculation: { detail: { amount: "note * 2" } } },
    "calculation.detail.amount",
    "note, a text column",
    "keep every digit",
  ],
  [
    "a formula for a text",
    { ...receipts, calculation: { detail: { note: "qty * 2" } } },
    "calculation.detail.note",
    "a text column",
  ],
  [
    "a formula for the key of the details",
    { ...receipts, calculation: { detail: { line_id: "qty" } } },
    "calculation.detail.line_id",
    "fills",
  ],
  [
    "a formula that needs its own result",
    { ...receipts, calculation: { detail: { amount: "amount + qty" } } },
    "calculation.detail.amount",
    "its own result",
  ],
  [
    "a formula that the database would cut",
    { ...receipts, calculation: { detail: { amount: "largest * largest" } } },
    "calculation.detail.amount",
    "fewer digits",
  ],
  [
    "a formula that is too long",
    { ...receipts, calculation: { detail: { amount: `qty${" + 1".repeat(130)}` } } },
    "calculation.detail.amount",
    "at most 500 characters",
  ],
  [
    "a formula without its closing bracket",
    { ...receipts, calculation: { detail: { amount: "(qty + 1" } } },
    "calculation.detail.amount",
    "parentheses",
  ],
  [
    "a total of an unknown column",
    { ...receipts, calculation: { header: { total: "SUM(amuont)" } } },
    "calculation.header.total",
    'did you mean "amount"?',
  ],
  [
    "a total in an unknown column",
    { ...receipts, calculation: { header: { totl: "SUM(amount)" } } },
    "calculation.header.totl",
    'did you mean "total"?',
  ],
  [
    "a sum for a text",
    { ...receipts, calculation: { header: { status: "SUM(amount)" } } },
    "calculation.header.status",
    "decimal column for a text column",
  ],
  [
    "a sum of texts",
    { ...receipts, calculation: { header: { total: "SUM(note)" } } },
    "calculation.header.total",
    "text column for a decimal column",
  ],
  [
    "an unknown required field of a detail",
    { ...receipts, masterDetail: { ...details, detailConfig: { requiredFields: ["qyt"] } } },
    "masterDetail.detailConfig.requiredFields[0]",
    'did you mean "qty"?',
  ],
  [
    "an unknown table among several of details",
    { ...receipts, masterDetail: [details, { ...details, detailTable: "receipt_line" }] },
    "masterDetail[1].detailTable",
    'did you mean "receipt_lines"?',
  ],
  [
    "the same table of details twice",
    { ...receipts, masterDetail: [details, details] },
    "masterDetail[1].detailTable",
    "each detail table only once",
  ],
  [
    "a calculation beside several tables of details",
    { ...receipts, masterDetail: [details], calculation: { detail: {} } },
    "calculation",
    "in each entry of masterDetail",
  ],
  [
    "a detailQuery beside several tables of details",
    { ...receipts, masterDetail: [details], detailQuery: "select :header_id" },
    "detailQuery",
    "in each entry of masterDetail",
  ],
  [
    "a wrong formula in one of several tables of details",
    { ...receipts, masterDetail: [{ ...details, calculation: { detail: { amount: "qyt" } } }] },
    "masterDetail[0].calculation.detail.amount",
    'did you mean "qty"?',
  ],
  ["a calculation without details", { ...base, calculation: {} }, "calculation", "masterDetail"],
  [
    "an unknown status field",
    { ...base, tableName: "receipts", workflow: { statusField: "state" } },
    "workflow.statusField",
    '"state"',
    "a column of",
  ],
  [
    "an unknown upsert key",
    { ...base, importConfig: { upsertKeys: ["skuu"] } },
    "importConfig.upsertKeys[0]",
    'did you mean "sku"?',
  ],
  [
    "an unknown target of a lookup",
    {
      ...base,
      importConfig: {
        lookupFields: {
          Receipt: { lookupTable: "receipt", targetField: "sku", lookupColumn: "status" },
        },
      },
    },
    "importConfig.lookupFields.Receipt.lookupTable",
    'did you mean "receipts"?',
  ],
  [
    "an upsert key that a body cannot set",
    { ...base, readOnlyFields: ["sku"], importConfig: { upsertKeys: ["sku"] } },
    "importConfig.upsertKeys[0]",
    "a field that clients may write",
  ],
  [
    "a required field of the import that a body cannot set",
    { ...base, readOnlyFields: ["sku"], importConfig: { requiredFields: ["sku"] } },
    "importConfig.requiredFields[0]",
    "a field that clients may write",
  ],
  [
    "an unknown id of a lookup",
    {
      ...base,
      importConfig: {
        lookupFields: {
          Receipt: {
            targetTable: "receipts",
            targetField: "sku",
            lookupField: "status",
            idField: "nope",
          },
        },
      },
    },
    "importConfig.lookupFields.Receipt.idField",
    "a column of",
  ],
  [
    "an unknown table of the cache",
    { ...base, cacheDependsOn: ["recepts"] },
    "cacheDependsOn[0]",
    'did you mean "receipts"?',
  ],
];

const plans: readonly Case[] = [
  [
    "writing without a table",
    { action: { create: true }, viewName: "product_view" },
    "tableName",
    "nothing",
    "create",
  ],
  [
    "writing to a view",
    { action: { update: true }, tableName: "product_view" },
    "tableName",
    "view",
    "update",
  ],
  [
    "reading from nothing",
    { action: { read: true } },
    "tableName",
    "viewName or viewQuery",
    "read",
  ],
  ["a grid without a source", { action: { datatables: true } }, "datatablesQuery", "datatables"],
  [
    "an unknown column of a key",
    { action: { update: true }, tableName: "members", primaryKey: ["group_id", "user_ids"] },
    "primaryKey[1]",
    'did you mean "user_id"?',
  ],
  [
    "lookup by a key of several columns",
    { action: { lookup: true }, tableName: "members" },
    "fieldNameLookup",
    "one column that names a row",
    "the key has 2 (group_id, user_id)",
  ],
  [
    "composites whose header has a key of several columns",
    { action: { "create-composite": true }, tableName: "members", masterDetail: details },
    "masterDetail",
    "a header whose key has 2 columns: group_id, user_id",
    "a key of one column",
    "for create-composite",
  ],
  [
    "a cascade from a header with a key of several columns",
    {
      action: { delete: true },
      tableName: "members",
      masterDetail: { ...details, cascadeDelete: true },
    },
    "masterDetail",
    "a header whose key has 2 columns: group_id, user_id",
    "for cascadeDelete",
  ],
  [
    "composites whose details have no key but the header's",
    {
      ...receipts,
      action: { "create-composite": true },
      masterDetail: { detailTable: "receipt_lines", foreignKey: "line_id" },
    },
    "masterDetail.detailConfig.primaryKey",
    "line_id, which is the foreignKey itself",
    "tells the rows of one header apart",
  ],
  [
    "DT_RowId of a key that the grid lacks in part",
    {
      action: { datatables: true },
      tableName: "members",
      hiddenFields: ["user_id"],
      datatables: { rowId: true },
    },
    "datatables.rowId",
    "(group_id, user_id)",
    "all columns of the grid",
  ],
  [
    "a named key that is not unique",
    { action: { update: true, create: true }, tableName: "products", primaryKey: "name" },
    "primaryKey",
    "name, which the database does not keep unique",
    "create, update (unique and NOT NULL in the database)",
  ],
  [
    "a named key that may be null",
    { action: { create: true }, tableName: "coupons", primaryKey: "alias" },
    "primaryKey",
    "alias, which may be null",
    "create (unique and NOT NULL in the database)",
  ],
  [
    "writing to a table without a key",
    {
      action: { read: true, create: true, update: true, delete: true, import: true },
      tableName: "coupons",
    },
    "tableName",
    "the table coupons, which has no key",
    "for update, delete",
  ],
  [
    "locks on a table without a key",
    { action: { read: true, lock: true }, tableName: "coupons" },
    "tableName",
    "which has no key",
    "for lock",
  ],
  [
    "half of a composite key",
    { action: { update: true }, tableName: "members", primaryKey: "user_id" },
    "primaryKey",
    "one of the 2 columns",
    "update",
  ],
  [
    "adjust without its fields",
    { ...base, action: { adjust: true } },
    "adjustConfig",
    "nothing",
    "adjust",
  ],
  [
    "adjust of an unknown field",
    { ...base, adjustConfig: { fields: { stok: {} } } },
    "adjustConfig.fields.stok",
    '"stok"',
    'did you mean "stock"?',
  ],
  [
    "adjust of a text",
    { ...base, adjustConfig: { fields: { name: {} } } },
    "adjustConfig.fields.name",
    "text column",
    "numeric",
  ],
  [
    "adjust of a computed column",
    { ...base, adjustConfig: { fields: { margin: {} } } },
    "adjustConfig.fields.margin",
    "database fills",
  ],
  [
    "adjust with half a piece",
    { ...base, adjustConfig: { fields: { stock: { min: 0.5 } } } },
    "adjustConfig.fields.stock.min",
    "0.5",
    "whole number",
  ],
  [
    "adjust of no field",
    { ...base, adjustConfig: { fields: {} } },
    "adjustConfig.fields",
    "at least one",
  ],
  [
    "composites without details",
    { ...base, action: { "create-composite": true } },
    "masterDetail",
    "create-composite",
  ],
  [
    "composites with details in storage that cannot roll back",
    {
      ...receipts,
      action: { "create-composite": true },
      masterDetail: {
        detailTable: "journal",
        foreignKey: "note",
        detailConfig: { primaryKey: "entry" },
      },
    },
    "masterDetail.detailTable",
    "cannot roll back",
    "transactions",
  ],
  [
    "composites with a header in storage that cannot roll back",
    {
      action: { "update-composite": true },
      tableName: "journal",
      primaryKey: "entry",
      masterDetail: details,
    },
    "action.update-composite",
    "transactions",
  ],
  [
    "composites with details without a key",
    {
      ...receipts,
      action: { "read-composite": true },
      masterDetail: { detailTable: "coupons", foreignKey: "note" },
    },
    "masterDetail.detailConfig.primaryKey",
    "identifies a row of coupons",
  ],
  [
    "composites whose view lacks the key",
    {
      action: { "read-composite": true },
      tableName: "products",
      viewName: "product_view",
      primaryKey: "weight",
      masterDetail: details,
    },
    "primaryKey",
    "the view or query contains too",
  ],
  [
    "composites with a view as details",
    {
      ...receipts,
      action: { "create-composite": true },
      masterDetail: {
        detailTable: "product_view",
        foreignKey: "sku",
        detailConfig: { primaryKey: "product_id" },
      },
    },
    "masterDetail.detailTable",
    "a view",
  ],
  [
    "change-status without a status",
    { ...base, action: { "change-status": true } },
    "workflow",
    "statusField",
  ],
  [
    "an audit column that holds no time",
    { ...base, auditColumns: { createdAt: "stock" } },
    "auditColumns.createdAt",
    "timestamp",
  ],
  [
    "an audit column that holds no name",
    { ...base, auditColumns: { createdBy: "stock" } },
    "auditColumns.createdBy",
    "text column",
  ],
  [
    "everything hidden",
    { action: { read: true }, tableName: "journal", fieldName: ["entry"], hiddenFields: ["entry"] },
    "hiddenFields",
    "left to show",
  ],
  [
    "an import into storage that cannot roll back",
    { action: { import: true }, tableName: "journal" },
    "action.import",
    "transactions",
  ],
  [
    "a cascading delete in such storage",
    {
      ...receipts,
      masterDetail: { detailTable: "journal", foreignKey: "entry", cascadeDelete: true },
    },
    "masterDetail.cascadeDelete",
    "transactions",
  ],
  ["access without auth", { ...base, access: { admin: "*" } }, "access", '"auth" in project.json'],
  [
    "rowScope without auth",
    { ...base, rowScope: { clerk: { sku: "{{claims.sku}}" } } },
    "rowScope",
    '"auth" in project.json',
  ],
  [
    "hidden fields per role without auth",
    { ...base, hiddenFields: { clerk: ["secret"] } },
    "hiddenFields",
    '"auth" in project.json',
  ],
  [
    "read-only fields per role without auth",
    { ...base, readOnlyFields: { clerk: ["sku"] } },
    "readOnlyFields",
    '"auth" in project.json',
  ],
];

const queries: readonly Case[] = [
  [
    "a missing query file",
    withQuery("file:query/opn.sql"),
    "viewQuery",
    'did you mean "query/open.sql"?',
  ],
  [
    "a query file of elsewhere",
    withQuery("file:../other/query/x.sql"),
    "viewQuery",
    "a file in the folder shop",
  ],
  [
    "a second statement",
    withQuery("select 1; delete from products"),
    "viewQuery",
    "second statement",
  ],
  [
    "a second statement in a file",
    withQuery("file:query/two.sql"),
    "viewQuery",
    "second statement",
    "query/two.sql",
  ],
  ["nothing but a comment", withQuery("-- later"), "viewQuery", "no statement"],
  ["an open literal", withQuery("select 'a"), "viewQuery", "never ends"],
  [
    "what the database refuses",
    withQuery("select * from refused"),
    "viewQuery",
    'relation "refused" does not exist',
  ],
  [
    "two columns of one name",
    withQuery("select twice"),
    "viewQuery",
    "two columns named name",
    "AS",
  ],
  [
    "a refused grid query",
    { ...base, datatablesQuery: "refused" },
    "datatablesQuery",
    "database refuses",
  ],
  [
    "a refused export query",
    { ...base, exportQuery: "refused" },
    "exportQuery",
    "database refuses",
  ],
  [
    "a detail query with the header in a literal alone",
    { ...receipts, detailQuery: "select ':header_id', '$1' -- ? :header_id" },
    "detailQuery",
    ":header_id",
  ],
  [
    "a detail query with the header in a cast alone",
    { ...receipts, detailQuery: "select x::header_id, $10, $$ ? $$ from y" },
    "detailQuery",
    ":header_id",
  ],
  [
    "a detail query that a backslash makes two of",
    { ...receipts, detailQuery: "select 'a\\' or 1 = :header_id --'" },
    "detailQuery",
    "backslash",
  ],
  [
    "a refused detail query",
    { ...receipts, detailQuery: "refused where id = :header_id" },
    "detailQuery",
    "database refuses",
  ],
  [
    "a detail query without the header",
    { ...base, detailQuery: "select 1" },
    "detailQuery",
    ":header_id",
  ],
];

const sqlFiles = {
  "query/open.sql": "select * from products;\n-- end",
  "query/two.sql": "select 1;\nselect 2",
};

describe("an endpoint's file is refused for", () => {
  test.each([...shapes, ...rules, ...names, ...plans, ...queries])(
    "%s",
    async (_, payload, path, ...words) => {
      const { faults, entities } = await load(filesOf({ "items.json": payload, ...sqlFiles }));
      const sentences = faults.map(sentenceOf);
      expect(sentences).toHaveLength(1);
      expect(faults[0]).toMatchObject({ file: "shop/items.json", path });
      for (const word of words) expect(sentences[0]).toContain(word);
      expect(entities.size).toBe(0);
    },
  );
});

describe("the faults of a file are told at once", () => {
  const wrong = { name: "nam" };
  test.each<[string, object, string[]]>([
    [
      "an unknown property, and a column that the table lacks",
      { ...base, feildLabels: {}, fieldName: ["product_id", "nam"] },
      ["feildLabels", "fieldName[1]"],
    ],
    [
      "a value of a wrong type, and rules of unknown columns",
      { ...base, fieldValidation: [wrong, { name: "name", type: "strin" }, { name: "nmae" }] },
      ["fieldValidation[0].name", "fieldValidation[1].type", "fieldValidation[2].name"],
    ],
    [
      "a misspelt choice, and a lookup that is not possible",
      { ...base, csvFormulas: "kepp", fieldNameLookup: { id: "product_id", text: "nam" } },
      ["csvFormulas", "fieldNameLookup.text"],
    ],
    [
      "but not of a part that has one already",
      { ...base, fieldValidation: [{ ...wrong, type: "strin" }] },
      ["fieldValidation[0].type"],
    ],
    [
      "but not without the table that they are about",
      { ...base, tableName: 1, fieldName: ["nam"] },
      ["tableName"],
    ],
  ])("%s", async (_, payload, paths) => {
    const { faults, entities } = await load(filesOf({ "items.json": payload }));
    expect(faults.map(({ path }) => path)).toEqual(paths);
    expect(entities.size).toBe(0);
  });
});

describe("project.json is refused for", () => {
  test.each<Case>([
    ["no database", {}, "database", "nothing", "an object"],
    ["an unknown property", { ...projectFile, databse: 1 }, "databse", 'did you mean "database"?'],
    [
      "an unknown setting",
      { database: { ...projectFile.database, pol: 3 } },
      "database.pol",
      'did you mean "pool"?',
    ],
    [
      "no connection",
      { database: { ...projectFile.database, pool: 0 } },
      "database.pool",
      "at least 1",
    ],
    [
      "half a connection",
      { database: { ...projectFile.database, pool: 1.5 } },
      "database.pool",
      "a whole number",
    ],
    [
      "a missing variable",
      { database: { url: "${SHOP_URL}" } },
      "database.url",
      "SHOP_URL",
      "default",
    ],
    ["a variable without its end", { database: { url: "a${SHOP_URL" } }, "database.url", "${NAME}"],
    ["a bad name of a variable", { database: { url: "${1X}" } }, "database.url", "${NAME}"],
    [
      "an unknown choice",
      { ...projectFile, decimals: "text" },
      "decimals",
      "one of number, string",
    ],
    ...["https://shop.example/", "shop.example", "HTTPS://shop.example", "null", "file://"].map(
      (origin) =>
        [
          `an origin that no browser sends: ${origin}`,
          { ...projectFile, cors: { origins: [origin] } },
          "cors.origins[0]",
          "an origin as browsers send it",
        ] as const,
    ),
    ["origins as a text", { ...projectFile, cors: { origins: "*" } }, "cors.origins", "a list"],
    [
      "a token's secret beside published keys",
      { ...projectFile, auth: { jwt: { secret: "s3cret", jwksUri: "https://id.example/keys" } } },
      "auth.jwt",
      "either a secret or a jwksUri",
    ],
    ...[{}, { issuer: "shop" }, { issuer: "http://id.example" }].map(
      (jwt) =>
        [
          `a client id without a place to sign in: ${JSON.stringify(jwt)}`,
          {
            ...projectFile,
            auth: { jwt: { jwksUri: "https://id.example/keys", clientId: "console", ...jwt } },
          },
          "auth.jwt.issuer",
          "an issuer that is an https address",
        ] as const,
    ),
    [
      "a shared secret for published keys' algorithms",
      { ...projectFile, auth: { jwt: { secret: "s3cret", algorithms: ["RS256"] } } },
      "auth.jwt.algorithms",
      "HS",
    ],
    [
      "two API keys of one id",
      {
        ...projectFile,
        auth: {
          apiKeys: [
            { id: "a", sha256: "0".repeat(64), roles: [] },
            { id: "a", sha256: "1".repeat(64), roles: [] },
          ],
        },
      },
      "auth.apiKeys",
      "a different id for each key",
    ],
    [
      "an unknown word of the rate limit",
      { ...projectFile, rateLimit: { perMinute: 60 } },
      "rateLimit.perMinute",
      "one of windowSeconds, max, actions",
    ],
    [
      "a rate limit of an unknown action",
      { ...projectFile, rateLimit: { actions: { exprt: 10 } } },
      "rateLimit.actions.exprt",
      'did you mean "export"',
    ],
    [
      "a rate limit of none",
      { ...projectFile, rateLimit: { max: 0 } },
      "rateLimit.max",
      "at least 1",
    ],
    [
      "a rate limit that limits nothing",
      { ...projectFile, rateLimit: { windowSeconds: 10 } },
      "rateLimit",
      "max, or a limit in actions",
    ],
    [
      "an offset below nothing",
      { ...projectFile, limits: { maxOffset: -1 } },
      "limits.maxOffset",
      "at least 0",
    ],
    [
      "an unknown strategy of locking",
      { ...projectFile, locking: { strategy: "wait" } },
      "locking.strategy",
      "one of retry, fail",
    ],
  ])("%s", async (_, project, path, ...words) => {
    const { faults } = await load(filesOf({ "project.json": project }));
    const sentences = faults.map(sentenceOf);
    expect(sentences).toHaveLength(1);
    expect(faults[0]).toMatchObject({ file: "shop/project.json", path });
    for (const word of words) expect(sentences[0]).toContain(word);
    expect(sentences[0]).not.toContain("s3cret");
  });
});

describe("the folder is refused for", () => {
  test.each([
    ["no project", new Map<string, string>(), "<project>/project.json", "no project"],
    [
      "schemas alone",
      new Map([["project.schema.json", "{}"]]),
      "<project>/project.json",
      "no project",
    ],
    [
      "endpoints without a project.json",
      new Map([["shop/a.json", '{"action": {}}']]),
      "shop/project.json",
      "no such file",
    ],
    [
      "a folder that is no name",
      new Map([["my shop/project.json", '{"database": {"url": "x:"}}']]),
      "my shop/project.json",
      "letters",
    ],
    [
      "an endpoint that is no name",
      filesOf({ "stock.items.json": { action: {} } }),
      "shop/stock.items.json",
      "part of the URL",
    ],
    [
      "an endpoint whose name ends in other letters",
      filesOf({ "stock.JSON": { action: {} } }),
      "shop/stock.JSON",
      "ends in .JSON",
    ],
    [
      "a language whose name ends in other letters",
      filesOf({ "messages/de.Json": {} }),
      "shop/messages/de.Json",
      "ends in .Json",
    ],
  ])("%s", async (_, files, file, word) => {
    const { faults } = await load(files);
    expect(faults.map((fault) => fault.file)).toEqual([file]);
    expect(sentenceOf(faults[0]!)).toContain(word);
  });
});

describe("text that is not JSON is refused with line and column:", () => {
  test.each([
    ["a trailing comma", '{\n  "action": {},\n}', 3, 1, "}"],
    ["no text at all", "", 1, 1, "end of the file"],
    ["an open object", '{"action": {', 1, 13, "end of the file"],
    ["single quotes", "{\n 'a': 1}", 2, 2, "'"],
    ["a comment", '{ // no\n "a": 1}', 1, 3, "/"],
    ["two values", "{} {}", 1, 4, "{"],
    ["a bare word", '{"action": yes}', 1, 12, "y"],
    ["a number with a leading zero", '{"action": 01}', 1, 13, "1"],
    ["a line break in a text", '{"a": "b\nc"}', 1, 7, '\\"'],
    ["no colon", '{"action" {}}', 1, 11, "{"],
    ["endless nesting", "[".repeat(1000), 1, 66, "["],
  ])("%s", async (_, text, line, column, found) => {
    const { faults } = await load(filesOf({ "items.json": text }));
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatchObject({ file: "shop/items.json", path: "$", line, column });
    expect(faults[0]!.found).toContain(found);
  });

  test("a property twice", async () => {
    const { faults } = await load(filesOf({ "items.json": '{"action": {},\n "action": {}}' }));
    expect(faults.map(sentenceOf)).toEqual([
      expect.stringContaining("shop/items.json action: expected each property only once"),
    ]);
  });
});

test.each([
  ["which has none", {}, []],
  ["which has some", { cahce: {}, decimals: 1, onFault: "skip" }, ["cahce", "decimals"]],
])("faults of all files come at once, beside a project.json %s", async (_, more, own) => {
  const { faults } = await load(
    filesOf({
      "project.json": { database: { url: "x:" }, ...more },
      "b.json": { ...base, fieldName: ["skuu", "sku"], hiddenFields: ["nam"] },
      "a.json": { action: { raed: true }, tableName: 5 },
      "c.json": "{",
    }),
  );
  expect(faults.map(({ file, path }) => `${file} ${path}`)).toEqual([
    "shop/a.json action.raed",
    "shop/a.json tableName",
    "shop/b.json fieldName[0]",
    "shop/b.json hiddenFields[0]",
    "shop/c.json $",
    ...own.map((path) => `shop/project.json ${path}`),
  ]);
});

test("an endpoint with a fault does not keep the others from being compiled", async () => {
  const { entities } = await load(filesOf({ "bad.json": {}, "good.json": base }));
  expect([...entities.keys()]).toEqual(["good"]);
});

test("formatFaults shows position, path and the message of each fault", async () => {
  const { faults } = await load(
    filesOf({ "items.json": '{\n  "action": {},\n  "tablename": "products"\n}' }),
  );
  expect(formatFaults(faults)).toBe(
    [
      "1 fault in the configuration",
      "",
      "shop/items.json:3:3  tablename",
      '  unknown property "tablename"; did you mean "tableName"?',
    ].join("\n"),
  );
});

test.each([
  ["what was expected and found", {}, 'expected a number, found "ten"'],
  ["a hint", { hint: 'did you mean "b"?' }, 'expected a number, found "ten"; did you mean "b"?'],
  [
    "an unknown property with a hint",
    { unknownProperty: "tablName", hint: 'did you mean "tableName"?' },
    'unknown property "tablName"; did you mean "tableName"?',
  ],
  [
    "an unknown property without a hint",
    { unknownProperty: "x", expected: "one of min, max" },
    'unknown property "x"; expected one of min, max',
  ],
])("faultMessage makes one sentence of %s", (_, about, message) => {
  const fault = { file: "shop/a.json", path: "b", found: '"ten"', expected: "a number" };
  expect(faultMessage({ ...fault, ...about })).toBe(message);
});

test.each([
  ["the password of an address", { database: ["db://me:hunter2@host/x"] }],
  ["a password with a slash", { database: ["db://me:hunter2/x@host/x"] }],
  [
    "a key that was not hashed",
    { ...projectFile, auth: { apiKeys: [{ id: "a", sha256: "hunter2", roles: [] }] } },
  ],
])("a fault never shows %s", async (_, project) => {
  const { faults } = await load(filesOf({ "project.json": project }));
  expect(faults).toHaveLength(1);
  expect(formatFaults(faults)).not.toContain("hunter2");
});

test.each([
  [[], "$"],
  [["a", 2, "b-c"], "a[2].b-c"],
  [["columnFormats", "unit price"], 'columnFormats["unit price"]'],
  [[0, "a"], "[0].a"],
] as const)("a path %j reads %s", (path, text) => {
  expect(formatPath(path)).toBe(text);
});

test("the same fault of the same place counts once", () => {
  const fault = { file: "a", path: "b", found: "c", expected: "d" };
  expect(sortFaults([fault, { ...fault }, { ...fault, path: "a" }])).toHaveLength(2);
  expect(formatFaults([fault, { ...fault }])).toMatch(/^1 fault in/);
});
