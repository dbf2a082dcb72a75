/**
 * The JSON Schemas that editors use for project.json, endpoint files, dashboard.json and messages, made from the Zod
 * schemas that check them. The schema of endpoints also accepts the alternative spellings of `compat.ts`, so that an editor marks nothing that the
 * service accepts. It is less strict than the check at start; `rowgate check` decides. `write-schemas.ts` writes them.
 */
import { z } from "zod";
import { plainTypes } from "./list-spellings.ts";
import { actionAliases, auditAliases, harmless, hookAliases, lookupAliases } from "./compat.ts";
import { dashboardSchema } from "./dashboard-schema.ts";
import { messagesSchema } from "./read-messages.ts";
import { projectSchema } from "./project-schema.ts";
import { constraintsSchema, ruleSchema } from "./rule-schema.ts";
import * as first from "./schema.ts";
import { hook, workflow } from "./workflow-schema.ts";

/** File name in the configuration folder -> the schema's text, as it is committed. */
export function jsonSchemas(): ReadonlyMap<string, string> {
  return new Map([
    ["project.schema.json", print(projectSchema)],
    ["endpoint.schema.json", print(endpointFile)],
    ["dashboard.schema.json", print(dashboardSchema)],
    ["messages.schema.json", print(messagesSchema)],
  ]);
}

function print(schema: z.ZodType): string {
  // Editors support Draft 7 best. `input`: properties with defaults are not required.
  return `${JSON.stringify(z.toJSONSchema(schema, { target: "draft-7", io: "input" }), null, 2)}\n`;
}

const other = (first: string): z.ZodType =>
  z.unknown().meta({ deprecated: true, description: `Second spelling of ${first}.` });

const others = (aliases: Iterable<readonly [string, string]>): Record<string, z.ZodType> =>
  Object.fromEntries([...aliases].map(([alias, name]) => [alias, other(name).optional()]));

const ignored = (names: readonly string[]): Record<string, z.ZodType> =>
  Object.fromEntries(
    names.map((name) => [name, z.unknown().optional().describe("Without effect here.")]),
  );

const dateFormat = "A form that the text must have. Of a date: second spelling of dateTimeFields.";

/**
 * All properties of an endpoint's file, in any spelling. Created once, because an id can be given to one schema only.
 */
const endpointFile = buildEndpointFile();

/** One piece, because it lists the properties of one file. */
function buildEndpointFile(): z.ZodType {
  const { shape } = first.endpointSchema;
  const { format } = constraintsSchema.shape;
  const formats = { format: z.union([format, z.string()]).optional().describe(dateFormat) };
  const constraints = constraintsSchema.extend({
    ...formats,
    ...ignored(["primaryKey", "autoGenerate"]),
  });
  const rule = ruleSchema.extend({
    ...constraintsSchema.shape,
    ...formats,
    constraints: constraints.optional().describe(ruleSchema.shape.constraints.description!),
    ...ignored(harmless.rule),
  });
  const rules = z
    .union([z.array(rule), z.record(z.string(), rule.partial({ name: true }))])
    .meta({ id: "rules" });
  const calculations = {
    autoCalculateFields: other("calculation.detail").optional(),
    headerCalculations: other("calculation.header").optional(),
  };
  const aliases = [...actionAliases].filter(
    ([alias]) => !Object.hasOwn(first.actionSwitches.shape, alias),
  );
  const groups = Object.fromEntries(
    aliases.map(([alias, names]) => [
      alias,
      z
        .boolean()
        .optional()
        .describe(`Stands for ${names.join(", ")}.`),
    ]),
  );
  const detailConfig = first.detailConfig.extend({
    fieldValidation: rules.optional(),
    ...others([
      ["tableName", "masterDetail.detailTable"],
      ["foreignKey", "masterDetail.foreignKey"],
      ["detailQuery", "detailQuery"],
    ]),
    ...calculations,
  });
  const masterDetail = first.masterDetail
    .partial()
    .extend({
      enabled: z.boolean().optional().describe("false: as if masterDetail were not there."),
      detailConfig: detailConfig.optional(),
      ...ignored(harmless.masterDetail),
      ...calculations,
    });
  const loose = hook
    .partial({ name: true })
    .extend({
      type: z.literal("api").optional().describe("Without effect here."),
      ...others(hookAliases),
    });
  const hooks = z.array(loose).optional();
  const importLookup = first.importLookup.partial().extend(others(lookupAliases));
  const importConfig = first.importConfig.extend({
    maxFileSize: z
      .union([z.int().min(1), z.string().regex(/^\d+\s*(B|KB|MB|GB)$/i)])
      .optional()
      .describe('Bytes, or as "10MB".'),
    lookupFields: z.record(z.string(), importLookup).optional(),
    ...ignored(harmless.importConfig),
  });
  const plainFormat = z.strictObject({ type: z.enum(plainTypes) });
  return first.endpointSchema
    .extend({
      ...ignored(harmless.file),
      ...calculations,
      action: first.actionSwitches.extend(groups).describe(shape.action.description!),
      fieldValidation: rules.optional().describe(shape.fieldValidation.description!),
      defaultScope: z
        .union([shape.defaultScope.unwrap(), first.scope])
        .optional()
        .describe(shape.defaultScope.description!),
      auditColumns: z
        .union([z.boolean(), z.null(), first.auditColumns.extend(others(auditAliases))])
        .optional()
        .describe(shape.auditColumns.description!),
      softDelete: shape.softDelete
        .unwrap()
        .nullable()
        .optional()
        .describe(shape.softDelete.description!),
      masterDetail: z
        .union([masterDetail, z.array(masterDetail).min(1)])
        .optional()
        .describe(shape.masterDetail.description!),
      columnFormats: z
        .record(z.string(), z.union([first.columnFormat, plainFormat]))
        .optional()
        .describe(shape.columnFormats.description!),
      dateTimeFields: z
        .union([shape.dateTimeFields.unwrap(), z.array(z.string())])
        .optional()
        .describe(shape.dateTimeFields.description!),
      cascadeDelete: other("masterDetail.cascadeDelete").optional(),
      workflow: workflow
        .extend({
          hooks: z
            .record(z.string(), z.strictObject({ onBefore: hooks, onAfter: hooks }))
            .nullable()
            .optional(),
          transitions: workflow.shape.transitions.nullable(),
        })
        .optional()
        .describe(shape.workflow.description!),
      importConfig: importConfig.optional().describe(shape.importConfig.description!),
    })
    .meta({ title: "Rowgate endpoint", description: first.endpointSchema.description });
}
