/** docs/from-restforge.md explains for each property of RESTForge's files how the service treats it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { faultMessage } from "../../core/config/reading/faults.ts";
import { endpointSchema } from "../../core/config/reading/schema.ts";
import { rowsUnder } from "../house/page-tables.ts";
import { normalised } from "./shop.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/from-restforge.md"), "utf8");
const rows = rowsUnder("## Properties", page);

const rule = (constraints: object, type = "string") => ({
  fieldValidation: [{ name: "label", type, constraints }],
});
const details = { detailTable: "lines", foreignKey: "delivery_id" };
const detail = (config: object) => ({ masterDetail: { ...details, detailConfig: config } });
const scope = { read: { open_now: true }, lookup: { open_now: true } };
const hook = { name: "tell", url: "/depot/book" };
const handlers = {
  properties: {
    filename: "components/plants.js",
    methods: [{ name: "check", events: "onBeforeInsert", params: [{ value: "{requestData}" }] }],
  },
};

/** An example of each property of the page; an empty path is a property of the whole file. */
const examples: Readonly<Record<string, object>> = {
  tableName: { tableName: "garden.plant" },
  primaryKey: { primaryKey: "plant_id" },
  fieldName: { fieldName: ["plant_id", "label"] },
  action: { action: { datatables: true, createComposite: true, workflow: true, import: true } },
  version: { version: "2.0" },
  description: { description: "Plants for sale" },
  uniqueConstraints: { uniqueConstraints: [{ name: "plant_label", fields: ["label"] }] },
  fieldValidation: rule({ required: true, maxLength: 20, maxLengthMessage: "Too long" }),
  "fieldValidation[].constraints.primaryKey": rule({ primaryKey: true }, "uuid"),
  "fieldValidation[].constraints.autoGenerate": rule({ autoGenerate: true }, "uuid"),
  "fieldValidation[].constraints.schema": rule({ schema: { type: "object" } }, "json"),
  fieldNameLookup: { fieldNameLookup: { id: "plant_id", text: "CONCAT(code, ', ', label)" } },
  defaultScope: { defaultScope: scope },
  "defaultScope.datatables": { defaultScope: { ...scope, datatables: { open_now: true } } },
  auditColumns: { auditColumns: { createdAt: "planted_at", createdBy: "planted_by" } },
  datatablesQuery: { datatablesQuery: "file:query/plant-grid.sql" },
  datatablesWhere: { datatablesWhere: ["label", "all"] },
  viewQuery: { viewQuery: "file:query/plant.sql" },
  viewName: { viewName: "plant_with_nursery" },
  exportQuery: { exportQuery: "select label from plant" },
  dateTimeFields: { dateTimeFields: { due: { type: "date", format: "dd/MM/yyyy" } } },
  columnFormats: { columnFormats: { price: { type: "number", format: "#,##0.00" } } },
  fieldLabels: { fieldLabels: { label: "Plant" } },
  masterDetail: { masterDetail: { ...details, enabled: true, transactionMode: "required" } },
  "masterDetail.detailConfig.tableName": detail({ tableName: "lines" }),
  "masterDetail.detailConfig.detailQuery": detail({ detailQuery: "file:query/lines.sql" }),
  "masterDetail.detailConfig.requiredFields": detail({ requiredFields: ["pieces"] }),
  "masterDetail.detailConfig.autoCalculateFields": detail({
    autoCalculateFields: {
      worth: { type: "calculated", formula: "pieces * price", description: "What it costs" },
      tax: { type: "generated", formula: "worth * 0.19" },
    },
  }),
  "masterDetail.headerCalculations": {
    masterDetail: {
      ...details,
      headerCalculations: {
        lines: { type: "count", source: "items.length" },
        worth: { type: "sum", source: "items.worth" },
      },
    },
  },
  adjustConfig: {
    adjustConfig: {
      fields: { height: { type: "number", min: 0, allowNegativeResult: false } },
      reasonRequired: true,
    },
  },
  aggregateConfig: {
    aggregateConfig: {
      joins: {
        nursery: {
          tableName: "nursery",
          joinType: "INNER",
          sourceField: "nursery_id",
          targetField: "nursery_id",
          fields: ["name"],
        },
      },
    },
  },
  workflow: {
    workflow: {
      statusField: "status",
      transitions: { open: ["sent"], sent: [] },
      hooks: { sent: { onBefore: [{ ...hook, method: "PUT", blocking: true }], onAfter: [] } },
    },
  },
  "workflow.hooks.<status>.onAfter[].timeout": {
    workflow: { transitions: null, hooks: { sent: { onAfter: [{ ...hook, timeout: 500 }] } } },
  },
  importConfig: {
    importConfig: {
      enabled: true,
      upsertKeys: ["label"],
      upsertStrategy: "skip_existing",
      requiredFields: ["label"],
      maxFileSize: "10MB",
      allowedFormats: ["xlsx"],
      chunkSize: 100,
    },
  },
  "importConfig.lookupFields.<heading>.lookupTable": {
    importConfig: {
      lookupFields: {
        Nursery: {
          targetField: "nursery_id",
          lookupTable: "nursery",
          lookupColumn: "name",
          lookupIdColumn: "nursery_id",
          required: true,
        },
      },
    },
  },
  components: { components: [handlers] },
  kafka: { kafka: { enabled: true, topic: "plants", keyField: "plant_id" } },
  processor: { processor: [{ name: "water", method: "POST" }] },
  fieldPolicy: { fieldPolicy: { strategy: "audit" } },
  widgets: { widgets: [{ id: "sold", query: "file:query/sold.sql" }], params: {}, cache: {} },
  softDelete: {
    softDelete: {
      enabled: true,
      reusable: [{ field: "label", length: 50 }],
      visibility: "active_only",
    },
  },
  softDeleteFkChecks: { softDeleteFkChecks: [] },
  softDeleteFkParents: { softDeleteFkParents: [] },
  softDeleteFkChildren: { softDeleteFkChildren: [{ childTable: "line", onDelete: "restrict" }] },
  softDeleteCascadeTree: { softDeleteCascadeTree: { master: "plant", order: [], nodes: {} } },
};

const listed = rows.flatMap(([names = "", verdict = "", note = ""]) =>
  [...names.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => ({ name, verdict, note })),
);

test("the page lists each property once", () => {
  expect(listed.map(({ name }) => name).toSorted()).toEqual(Object.keys(examples).toSorted());
});

test.each(listed)("docs/from-restforge.md: $name, $verdict", ({ name, verdict, note }) => {
  const example = { action: {}, ...examples[name] };
  const { value, faults } = normalised(example);
  if (verdict === "not") {
    expect(faults).toHaveLength(1);
    const [fault] = faults;
    expect(fault!.path.replace(/\[\d+\]/, "[]")).toBe(name);
    // The page suggests the same replacement as the message.
    for (const [word] of note.matchAll(/(?<=`)[a-zA-Z]+(?=`)/g))
      expect(faultMessage(fault!)).toContain(word);
    return;
  }
  expect(faults).toEqual([]);
  expect(endpointSchema.safeParse(value).error).toBeUndefined();
  if (verdict === "same") expect(value).toEqual(example);
  else {
    expect(verdict).toBe("other");
    expect(value).not.toEqual(example);
  }
});
