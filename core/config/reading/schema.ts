/**
 * The properties of an endpoint's file in their main spelling; `compat.ts` converts alternative spellings before the
 * check. The descriptions become the texts that editors show, through the JSON Schema that `npm run schemas` writes.
 */
import { type AuditField, auditFields } from "../../plans/audit-columns.ts";
import { z } from "zod";
import { eventNames } from "../../plans/hook.ts";
import { actionNames } from "../../actions.ts";
import { filesOfColumn } from "./files-schema.ts";
import { consoleSchema } from "./console-schema.ts";
import { paramsSchema, procedureSchema } from "./param-schema.ts";
import { relationSchema } from "./relation-schema.ts";
import { ruleSchema } from "./rule-schema.ts";
import { searchSchema } from "./search-schema.ts";
import { workflow } from "./workflow-schema.ts";
import { filledText, offByDefault } from "./usual-schemas.ts";

const column = filledText;
const columns = z.array(column);
/** One column, or several that together name a row. */
const key = z.union([column, columns.min(1)]);
const byColumn = <Item extends z.ZodType>(item: Item) => z.record(z.string(), item);
const perRole = z.record(z.string(), columns);

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const scopeValue = z.union([
  scalar,
  z.strictObject({
    operator: filledText.describe("An operator of read's where."),
    value: z.union([scalar, z.array(scalar)]).optional(),
  }),
]);
export const scope = byColumn(scopeValue);

export const actionSwitches = z
  .strictObject(
    Object.fromEntries(
      actionNames.map((name) => [name, z.boolean().describe(`The action ${name}.`)]),
    ),
  )
  .partial();

const handlerNames = z
  .strictObject(
    Object.fromEntries(
      eventNames.map((event) => [event, z.array(filledText).describe(`Handlers of ${event}.`)]),
    ),
  )
  .partial();

const numberedColumn = z.strictObject({
  format: filledText
    .max(200)
    .describe(
      "{seq} or {seq:4} is the number; {yyyy}, {yy}, {MM}, {dd} are parts of the date; {name} is the value of a column.",
    ),
  by: columns.default([]).describe("Columns whose values have a counter of their own."),
  date: column.optional().describe("The column with the date of the number; absent: today."),
  start: z.int().min(0).default(1).describe("The first number of each counter."),
  onStatus: filledText
    .optional()
    .describe("The status at which a record is numbered; absent: when it is made."),
  manual: z
    .array(filledText)
    .optional()
    .describe("The roles that may send a number; absent: everybody."),
});

export const detailConfig = z.strictObject({
  primaryKey: key.optional().describe("Key of the details; absent: as the database reports it."),
  fieldName: columns
    .min(1)
    .optional()
    .describe("Columns of the details that a body may set; absent: all."),
  fieldValidation: z.array(ruleSchema).default([]).describe("Rules for the fields of a detail."),
  requiredFields: columns.default([]).describe("Fields that every new detail must have."),
});

const calculation = z
  .strictObject({
    detail: byColumn(filledText).default({}).describe("Formulas over the columns of a detail."),
    header: byColumn(filledText)
      .default({})
      .describe("COUNT(*), SUM, AVG, MIN or MAX of a column of the details."),
  })
  .optional()
  .describe("Columns that the composites compute.");

const detailQuery = filledText
  .optional()
  .describe("Query of the details, with :header_id for the header's key: SQL or a file.");

export const masterDetail = z.strictObject({
  detailTable: filledText.describe("Table of the details."),
  foreignKey: column.describe("Column of the details that holds the header's key."),
  cascadeDelete: offByDefault.describe(
    "delete removes the details first, in the same transaction.",
  ),
  detailConfig: detailConfig.prefault({}),
  detailQuery,
  calculation,
});

const join = z.strictObject({
  tableName: filledText,
  joinType: z.enum(["LEFT", "INNER", "RIGHT"]).default("LEFT"),
  sourceField: column.describe("Column of this entity that points at the joined table."),
  targetField: column.describe("Key of the joined table."),
  fields: columns.min(1).describe("Columns of the joined table that a request may name."),
});

const adjustField = z.strictObject({
  type: filledText.optional().describe("For readers: the column's own type decides."),
  min: z
    .union([z.number(), z.string().regex(/^-?\d+(\.\d+)?$/, "a number, or its digits as text")])
    .optional()
    .describe("Smallest result."),
  allowNegativeResult: z.boolean().optional().describe("false: the result is never below 0."),
});

export const importLookup = z.strictObject({
  targetTable: filledText.describe("Table that knows the readable name."),
  targetField: column.describe("Column of this entity that gets the id."),
  lookupField: column.describe("Column of targetTable that holds the readable name."),
  idField: column.optional().describe("Column of targetTable that holds the id."),
  required: z.boolean().default(true).describe("false: a name that is not found becomes null."),
});

export const importConfig = z.strictObject({
  upsertKeys: columns.default([]).describe("Columns that tell whether a row is there already."),
  upsertStrategy: z
    .enum(["update_existing", "insert_only", "skip_existing"])
    .default("update_existing"),
  requiredFields: columns.default([]).describe("Columns that every row must fill."),
  maxFileSize: z.int().min(1).optional().describe("Largest file in bytes."),
  runHooks: offByDefault.describe(
    "Whether the handlers of components run for each row that a commit stores.",
  ),
  lookupFields: z
    .record(z.string(), importLookup)
    .default({})
    .describe("Headings whose cells are names that stand for ids."),
});

export const columnFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("date"), format: filledText }),
  z.strictObject({ type: z.literal("number"), format: filledText }),
  z.strictObject({ type: z.literal("boolean"), trueLabel: z.string(), falseLabel: z.string() }),
]);

export const auditColumns = z.strictObject(
  Object.fromEntries(auditFields.map(({ property }) => [property, column.optional()])) as Record<
    AuditField["property"],
    ReturnType<typeof column.optional>
  >,
);

export const softDelete = z.strictObject({
  enabled: z.boolean().default(true),
  flag: column
    .default("is_deleted")
    .describe("Column that says whether the row is deleted: a boolean, or 0 and 1."),
  at: column.default("deleted_at").describe("Column of the time of the deletion."),
  by: column.default("deleted_by").describe("Column of who deleted the row."),
  visibility: z
    .enum(["active_only", "deleted_only", "include_deleted"])
    .default("active_only")
    .describe("Which rows actions see."),
  reusable: z
    .array(
      z.strictObject({
        field: column,
        length: z.int().min(1).optional().describe("Longest value of the field in characters."),
      }),
    )
    .default([])
    .describe("Unique fields whose values may be used again while their row is deleted."),
});

const dateForm = z.strictObject({
  type: z
    .enum(["date", "datetime", "timestamp", "time"])
    .optional()
    .describe("For readers: the column's own type decides."),
  format: filledText.describe("Such as dd/MM/yyyy HH:mm: parts yyyy, MM, dd, HH, mm, ss."),
});

const gridExtensions = z.strictObject({
  searchPanes: columns
    .default([])
    .describe("Fields that have a pane: their values and counts come with every answer."),
  searchBuilder: columns
    .default([])
    .describe("Fields whose values SearchBuilder offers in a list, instead of an empty input."),
  columnControl: columns
    .default([])
    .describe("Fields whose values ColumnControl offers in a list."),
  rowId: offByDefault.describe("true: rows carry DT_RowId, the key as text."),
  length: z
    .enum(["reject", "clamp"])
    .default("reject")
    .describe("A length of -1, or above 1000: reject refuses it, clamp gives 1000 rows."),
  search: z
    .enum(["phrase", "words"])
    .default("phrase")
    .describe("words: searches find rows with every word of the text, in any order and column."),
  errorMode: z
    .enum(["status", "inline"])
    .default("status")
    .describe("inline: errors come with status 200, and the grid shows their text."),
});

/** The properties of an endpoint's file; `compat.ts` widens some of them for the JSON Schema. */
export const endpointSchema = z
  .strictObject({
    $schema: z.string().optional().describe("The JSON Schema of this file, for editors."),
    action: actionSwitches.describe("The actions that are on. All others answer 404."),
    tableName: filledText
      .optional()
      .describe("Table to write to, and to read from without a view; may be schema.table."),
    viewName: filledText.optional().describe("View to read from, before viewQuery and tableName."),
    viewQuery: filledText
      .optional()
      .describe('Query to read from, before tableName: SQL, or "file:query/<name>.sql".'),
    datatablesQuery: filledText
      .optional()
      .describe("Query of the datatables action: SQL or a file."),
    exportQuery: filledText.optional().describe("Query of the export: SQL or a file."),
    exportColumns: columns
      .min(1)
      .optional()
      .describe("Columns of an export, and paths over relations; absent: fieldName, or the query."),
    params: paramsSchema.optional(),
    procedure: procedureSchema.optional(),
    detailQuery,
    primaryKey: key
      .optional()
      .describe(
        "The key: a column, or a list of columns; absent: as the database reports it, else the first field.",
      ),
    fieldName: columns
      .min(1)
      .optional()
      .describe("Columns of the table that are in use; absent: all."),
    fieldValidation: z.array(ruleSchema).default([]).describe("Rules for the fields of a body."),
    fieldNameLookup: z
      .strictObject({
        id: column.optional().describe("Column of the id; absent: the key."),
        text: filledText
          .optional()
          .describe("Column of the label, or columns and quoted texts joined with ||."),
        match: z
          .enum(["contains", "prefix"])
          .default("contains")
          .describe("Which labels a search finds: contains its text, or begins with it (prefix)."),
        accents: z
          .enum(["respect", "ignore"])
          .default("respect")
          .describe("ignore: a search for Malaga finds Málaga."),
      })
      .optional()
      .describe("What lookup shows."),
    fieldLabels: byColumn(filledText)
      .optional()
      .describe("Headings of columns, for export and import."),
    defaultScope: z
      .strictObject({ read: scope.optional(), lookup: scope.optional() })
      .optional()
      .describe("Conditions that every read and lookup has, whatever the request says."),
    hiddenFields: z
      .union([columns, perRole])
      .default([])
      .describe("Columns that are never shown, filtered or sorted by."),
    readOnlyFields: z
      .union([columns, perRole])
      .default([])
      .describe("Columns that a body never sets."),
    auditColumns: z
      .union([z.literal(false), auditColumns])
      .default({})
      .describe("Other names of the columns that the service fills; false: it fills none."),
    softDelete: z
      .union([z.boolean(), softDelete])
      .optional()
      .describe("delete marks rows instead of removing them, and restore takes the mark away."),
    masterDetail: z
      .union([masterDetail, z.array(masterDetail).min(1)])
      .optional()
      .describe("The details of this header; a list where they are in several tables."),
    calculation,
    workflow: workflow.optional().describe("Which status may follow which, and whom to call."),
    adjustConfig: z
      .strictObject({
        reasonRequired: offByDefault.describe("Whether each adjustment must say why."),
        fields: byColumn(adjustField).describe("The numeric columns that adjust may change."),
      })
      .optional()
      .describe("What adjust may do."),
    importConfig: importConfig.optional().describe("How import recognises rows and names."),
    columnFormats: byColumn(columnFormat).optional().describe("How export writes columns."),
    csvFormulas: z
      .enum(["escape", "keep"])
      .default("escape")
      .describe(
        "Texts in csv that a spreadsheet would run: escape puts an apostrophe in front, keep leaves them as they are.",
      ),
    aggregateConfig: z
      .strictObject({
        joins: z
          .record(z.string(), join)
          .default({})
          .describe("Joins that a request may use by name."),
      })
      .optional()
      .describe("What aggregate may do beside the entity's own columns."),
    history: offByDefault.describe(
      "true: changes of the table are recorded, and history and revert are on.",
    ),
    live: offByDefault.describe(
      "true: clients can be told of changes of the table when they happen.",
    ),
    changes: z
      .strictObject({
        except: columns.default([]).describe("Columns whose values are never recorded."),
        keepDays: z.int().min(1).max(36_500).optional().describe("Older changes are removed."),
      })
      .optional()
      .describe("What is recorded of changes."),
    numbers: byColumn(numberedColumn)
      .optional()
      .describe("The text columns that the service numbers without gaps."),
    files: byColumn(filesOfColumn)
      .optional()
      .describe("JSON or text columns that hold files of the record."),
    relations: z
      .record(z.string(), relationSchema)
      .optional()
      .describe("Records of other endpoints that belong to one; false: init leaves it out."),
    search: searchSchema.optional(),
    cacheDependsOn: z
      .array(filledText)
      .optional()
      .describe("Tables that a view reads, so that writes to them count."),
    datatablesWhere: z
      .array(column)
      .optional()
      .describe("The only columns that the grid's search looks at."),
    datatables: gridExtensions.optional().describe("What the grid's extensions are told."),
    console: consoleSchema.optional().describe("How the console shows the endpoint."),
    dateTimeFields: byColumn(dateForm)
      .optional()
      .describe("A form that dates may have in a body, besides ISO 8601."),
    components: handlerNames
      .optional()
      .describe("Handlers of each event, in order, as components/code.ts#check."),
    access: z
      .record(z.string(), z.union([z.literal("*"), z.array(filledText)]))
      .optional()
      .describe(
        'For each role its actions, or "*" for all of them; import, export, lock and workflow stand for several. The role "*" is everybody with credentials.',
      ),
    rowScope: z
      .record(z.string(), scope)
      .optional()
      .describe(
        'For each role the rows that it sees and writes: a value for each column, or "{{claims.<path>}}" for one of the caller.',
      ),
  })
  .meta({
    title: "Rowgate endpoint",
    description: "One entity: where its rows are, and what may be done with them.",
  });

/** An endpoint's file in the main spelling, with defaults. */
export type Payload = z.output<typeof endpointSchema>;
