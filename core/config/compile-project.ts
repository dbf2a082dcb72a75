/**
 * Compiles checked configuration into frozen entities: the second half of loading, after `read-config.ts`. Every name
 * is looked up in the live database, and all faults of all endpoints are collected. An endpoint with a fault is left
 * out of the result.
 */
import { switchedOn } from "../actions.ts";
import type { Column, Columns, Source, Table } from "../values/types/column.ts";
import {
  auditColumnIn,
  type AuditColumns,
  type AuditField,
  auditFields,
} from "../plans/audit-columns.ts";
import { type Entity, noTableRules } from "../plans/entity.ts";
import type { InsertPlan } from "../plans/write-plan.ts";
import type { JoinableTable } from "../plans/aggregate-plan.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import type { MarkColumns } from "../plans/soft-delete.ts";
import type { FieldRule } from "../rules/rule-definition.ts";
import type { Catalog } from "../plans/database-catalog.ts";
import { compileRules } from "../rules/compile-rules.ts";
import { accessOf, noteKeylessLines } from "./compiling/access-plan.ts";
import { aggregateOf, exposedTable, withTables } from "./compiling/compile-aggregate.ts";
import { type Dependencies, dependenciesFor } from "./compiling/cache-plan.ts";
import { handlersOf, type ImportComponent } from "./compiling/components-plan.ts";
import { compositeOf } from "./compiling/compile-composite.ts";
import { consoleOf } from "./compiling/compile-console.ts";
import { changeTables } from "./checking/change-rules.ts";
import { fileTables, shownFiles, withFiles } from "./compiling/compile-files.ts";
import { numberTables, withNumbered } from "./compiling/compile-numbers.ts";
import { documentTables, withDocuments } from "./checking/document-rules.ts";
import { statusTables } from "./checking/status-rules.ts";
import { besides, sortFaults, type Fault } from "./reading/faults.ts";
import { exportOf } from "./compiling/compile-export.ts";
import { deepFreeze } from "../values/freeze.ts";
import { gridOf } from "./compiling/compile-grid.ts";
import { importOf } from "./compiling/compile-import.ts";
import { byName, keyAmong, type Keys, keysOf, takesWrites } from "./compiling/key-plan.ts";
import { lookupOf } from "./compiling/lookup-plan.ts";
import {
  adjustOf,
  auditOf,
  forEverybody,
  keepsTimes,
  readingOf,
  scopeOf,
  setBy,
  shownColumns,
  type Reading,
} from "./compiling/plans.ts";
import type { EndpointConfig, ProjectConfig } from "./reading/read-config.ts";
import { noteUnchecked, readRules, refineColumns, withDateForms } from "./compiling/rule-plan.ts";
import { checkActions, checkNames } from "./checking/requirements.ts";
import { checkRights } from "./checking/rights.ts";
import { projectNotices } from "./checking/project-notices.ts";
import { checkNamedPaths } from "./compiling/named-paths.ts";
import {
  noRelations,
  onlyTo,
  declaredRelations,
  withPaths,
} from "./compiling/compile-relations.ts";
import { paramsOf } from "./compiling/params-plan.ts";
import { procedureOf } from "./compiling/compile-procedure.ts";
import { endpointRisks, type Risk } from "./checking/risks.ts";
import { noteStoredForms, noteTypes } from "./compiling/column-notes.ts";
import { isUnfilled, withSoftDelete } from "./checking/marked-tables.ts";
import { withScopePaths } from "./compiling/scope-paths.ts";
import { type TextIndexes, textIndexesFor } from "./compiling/full-text-plan.ts";
import { softDeleteOf, type SoftDeleteSetting, withLengths } from "./compiling/soft-delete-plan.ts";
import { openSurvey, remembering, type Survey } from "./compiling/survey.ts";
import { workflowOf } from "./compiling/compile-workflow.ts";

export interface CompiledProject {
  /** By endpoint name; those without faults. */
  readonly entities: ReadonlyMap<string, Entity>;
  /** Endpoints with faults, with access rules that refuse everyone: what they protect stays protected in joins. */
  readonly faulty: ReadonlyMap<string, Entity>;
  readonly faults: readonly Fault[];
  /** Notes for the operator that do not prevent the start. */
  readonly notices: readonly string[];
  /** Dangerous settings that do not prevent the start. */
  readonly risks: readonly Risk[];
  /** Information for the operator that needs no action. */
  readonly remarks: readonly string[];
}

export interface CompileOptions {
  /** Absent: files of handlers cannot be loaded. */
  readonly importComponent?: ImportComponent | undefined;
}

const noComponents: ImportComponent = () =>
  Promise.reject(new Error("this runtime cannot load components"));

/** Compiles every endpoint of a project against its database. Rejects only as the catalog does (`unavailable`). */
export async function compileProject(
  config: ProjectConfig,
  catalog: Catalog,
  { importComponent = noComponents }: CompileOptions = {},
): Promise<CompiledProject> {
  const asked = withFiles(withNumbered(remembering(catalog), config.endpoints), config.endpoints);
  const compiled = await Promise.all(
    config.endpoints.map(async (endpoint) => {
      const survey = openSurvey(config, endpoint, asked);
      return { endpoint, survey, ...(await compileEntity(survey, endpoint, importComponent)) };
    }),
  );
  noteKeylessLines(compiled);
  const marked = await withSoftDelete(compiled, asked);
  const apart = compiled.map((one, at) => ({ ...one, entity: marked[at]! }));
  const documents = await documentTables(apart, asked);
  const files = fileTables(apart, config);
  const { changes, faults } = await changeTables(apart, { config, catalog: asked, files });
  const numbers = numberTables(apart);
  const statuses = await statusTables(apart, asked);
  const documented = apart.map((one) => ({
    ...one,
    entity: { ...withDocuments(one.entity, documents), changes, statuses, numbers, files },
  }));
  const { all, related } = withScopePaths(documented, declaredRelations(documented));
  checkNamedPaths(all, related);
  const isGood = ({ endpoint, survey }: (typeof all)[number]): boolean =>
    endpoint.faults.length + survey.faults.length === 0;
  const [good, faulty] = [all.filter(isGood), all.filter((one) => !isGood(one))];
  const entities = new Map<string, Entity>();
  for (const { entity } of good) {
    const relations = onlyTo(good, related.get(entity)!);
    entities.set(entity.name, { ...withTables(entity, good), relations });
  }
  for (const entity of entities.values())
    entities.set(entity.name, deepFreeze(withPaths(entity, entities)));
  const ofProject = projectNotices(config, entities);
  return {
    entities,
    faulty: new Map(faulty.map(({ entity }) => [entity.name, deepFreeze(closed(entity))])),
    faults: sortFaults([
      ...faults,
      ...compiled.flatMap(({ endpoint, survey }) => besides(endpoint.faults, survey.faults)),
    ]),
    notices: [...compiled.flatMap(({ survey }) => survey.notices), ...ofProject],
    risks: endpointRisks(config, entities),
    remarks: compiled.flatMap(({ survey }) => survey.remarks),
  };
}

/** The entity with access rules that refuse everyone. */
const closed = (entity: Entity): Entity => ({
  ...entity,
  access: entity.access && {
    ...entity.access,
    actions: new Map(),
    administrators: new Set(),
    readers: new Set(),
    writers: new Set(),
  },
});

/** One piece, because it lists the parts of an entity in the order in which each needs the ones before. */
async function compileEntity(
  survey: Survey,
  endpoint: EndpointConfig,
  importComponent: ImportComponent,
): Promise<{
  entity: Entity;
  table: Table | null;
  exposed: JoinableTable | null;
  softDelete: SoftDeleteSetting | null;
}> {
  const { payload } = survey;
  const enabled = new Set(switchedOn(payload.action));
  const found =
    payload.tableName === undefined ? null : await survey.table(payload.tableName, ["tableName"]);
  const foundReading = await readingOf(survey, found);
  const foundQuery = await survey.ownQuery("datatablesQuery");
  const foundExport = await survey.ownQuery("exportQuery");
  const rules = withLengths(
    rulesOf(survey, found, [foundReading, foundQuery, foundExport]),
    payload,
    found?.columns,
  );
  const compiledRules = Object.freeze(compileRules(rules));
  const table = found && { ...found, columns: refineColumns(found.columns, rules) };
  const refined = (columns: Columns) => shownFiles(refineColumns(columns, rules), payload);
  const isOfTable = foundReading?.property === "tableName" && table !== null;
  const reading =
    foundReading &&
    withColumns(foundReading, isOfTable ? table.columns : refined(foundReading.columns));
  const query = foundQuery && withColumns(foundQuery, refined(foundQuery.columns));
  const exportQuery = foundExport && withColumns(foundExport, refined(foundExport.columns));
  noteStoredForms(survey, [table, reading, query, exportQuery]);
  const isOther = reading !== null && reading.property !== "tableName";
  noteTypes(survey, table, [isOther ? reading : null, query, exportQuery]);

  const keys = keysOf(survey, table);
  const audit = table ? auditOf(survey, table.columns, compiledRules) : [];
  const shown = table ? shownColumns(survey, table, keys, audit) : none;
  const dependencies = await dependenciesFor(survey, table);
  const softDelete = softDeleteOf(survey, {
    table,
    sources: [
      ...(reading && isOther ? [reading] : []),
      ...(query ? [{ columns: query.columns, label: "a query", property: "datatablesQuery" }] : []),
      ...(exportQuery
        ? [{ columns: exportQuery.columns, label: "a query", property: "exportQuery" }]
        : []),
    ],
  });
  const marks = softDelete?.marks ?? null;
  const headed = insertPlan(survey, table, { keys, shown, audit, reading, marks });
  const composite = await compositeOf(survey, enabled, {
    table,
    key: keyAmong((table ?? reading)?.columns ?? none, keys.names),
    isKeyRead: reading !== null && keyAmong(reading.columns, keys.names).length > 0,
    audit,
    writable: headed?.writable ?? none,
  });
  const lines = composite.columns;
  checkNames(survey, { table, reading, grid: query, exported: exportQuery, lines });
  const write =
    headed && headed.key.length > 0 ? { ...headed, cascades: composite.cascades } : null;
  const indexes = await textIndexesFor(survey, { table, shown, reading, query });
  const own = { keys, shown, dependencies, indexes };
  const read = reading && readPlan(survey, reading, own);
  const adjust = write && adjustOf(survey, write);
  const lookup = read && reading && lookupOf(survey, reading, read, keys);
  const grid = gridOf(survey, { query, table, ...own });
  const exporting = exportOf(survey, { query: exportQuery, table, reading, read, keys, shown });
  const importing = await importOf(survey, table, write);
  const aggregate = read && reading && (await aggregateOf(survey, read, reading));
  const workflow = workflowOf(survey, { table, shown, write, read, rules: compiledRules });
  const params = paramsOf(survey, [reading, query, exportQuery]);
  const procedure = await procedureOf(survey);
  const access = accessOf(survey, {
    table: found,
    sources: [
      ...(table ? [{ columns: table.columns, label: `the table ${table.name}` }] : []),
      ...(reading && reading.property !== "tableName" ? [reading] : []),
      ...(query ? [{ columns: query.columns, label: "the datatablesQuery" }] : []),
      ...(exportQuery ? [{ columns: exportQuery.columns, label: "the exportQuery" }] : []),
    ],
    lines,
  });
  const handlers = await handlersOf(survey, table, importComponent);
  checkActions(survey, { found, hasReading: foundReading !== null, keys, write });
  checkRights(survey, { write: headed, read, reading, composite: composite.plan, marks });

  const entity: Entity = {
    project: survey.project,
    name: endpoint.name,
    definition: JSON.stringify([
      survey.requests.decimals,
      payload,
      read && shapeOf(read),
      grid && shapeOf(grid),
    ]),
    enabled,
    settings: survey.requests,
    labels: new Map(Object.entries(payload.fieldLabels ?? {})),
    params,
    console: consoleOf(survey, { grid, read }),
    read,
    relations: noRelations,
    write,
    insert: write ?? headed,
    rules: compiledRules,
    procedure,
    adjust,
    lookup,
    grid,
    composite: composite.plan,
    export: exporting,
    importing,
    aggregate,
    workflow,
    access,
    handlers,
    visibility: null,
    marking: null,
    ...noTableRules,
  };
  return {
    entity: deepFreeze(entity),
    table,
    exposed: exposedTable(survey, table, shown),
    softDelete,
  };
}

/** The same source, its columns refined by the rules. */
const withColumns = <Origin extends { readonly source: Source }>(
  origin: Origin,
  columns: Columns,
): Origin & { readonly columns: Columns } => ({
  ...origin,
  source: { ...origin.source, columns },
  columns,
});

/** A source that the database refused is already reported; a rule may be about one of its columns. */
function rulesOf(
  survey: Survey,
  table: Table | null,
  [reading, ...queries]: readonly [
    Reading | null,
    ...({ readonly columns: Columns } | null | undefined)[],
  ],
): FieldRule[] {
  const columns = table?.columns ?? reading?.columns;
  if (!columns) return [];
  const of = table ? `the table ${table.name}` : reading!.label;
  const read = new Map([reading, ...queries].flatMap((source) => [...(source?.columns ?? [])]));
  const about = read.size > columns.size ? `${of}, or of what the endpoint reads` : of;
  const rules = readRules(survey, survey.payload.fieldValidation, ["fieldValidation"], {
    columns,
    read,
    of: about,
  });
  return withDateForms(survey, rules, { columns: new Map([...read, ...columns]), of: about });
}

/** A text that changes when answers of this source would look different, for example when a column has another type. */
const shapeOf = ({ source, columns }: Pick<ReadPlan, "source" | "columns">): unknown => [
  source.kind === "query" ? source.text : source,
  [...columns.values()].map(({ name, native }) => [name, native]),
];

const none: Columns = new Map();

function readPlan(
  survey: Survey,
  reading: Reading,
  own: { keys: Keys; shown: Columns; dependencies: Dependencies; indexes: TextIndexes },
): ReadPlan {
  const hidden = new Set(forEverybody(survey.payload.hiddenFields));
  const columns =
    reading.property === "tableName"
      ? own.shown
      : new Map([...reading.columns].filter(([name]) => !hidden.has(name)));
  if (columns.size === 0)
    survey.fault(["hiddenFields"], { expected: "at least one column that is left to show" });
  const stamp = (when: AuditField["when"]): Column | null => {
    const field = auditFields.find((one) => one.kind === "time" && one.when === when)!;
    const column = auditColumnIn(reading.columns, survey.payload.auditColumns, field);
    return column && keepsTimes(column) ? column : null;
  };
  return {
    source: reading.source,
    columns,
    named: columns,
    fullText: own.indexes.ofReads,
    key: keyAmong(reading.columns, own.keys.ofLists),
    scope: scopeOf(survey, "read", reading),
    dependsOn: own.dependencies[reading.property === "tableName" ? "ofTable" : "ofQuery"],
    times: { create: stamp("create"), update: stamp("update") },
  };
}

/** Null for views that have no key or cannot be written, and if the configured key does not exist. */
function insertPlan(
  survey: Survey,
  table: Table | null,
  own: {
    keys: Keys;
    shown: Columns;
    audit: AuditColumns;
    reading: Reading | null;
    marks: MarkColumns | null;
  },
): InsertPlan | null {
  const { keys, shown, audit, reading, marks } = own;
  const key = table && keyAmong(table.columns, keys.names);
  if (table === null || key === null || key.length < keys.names.length) return null;
  if (table.kind === "view" && (key.length === 0 || !takesWrites(table))) return null;
  const closed = new Set([
    ...audit.map(({ column }) => column.name),
    ...keys.names,
    ...Object.values(marks ?? {}).flatMap((column: Column | null) => column?.name ?? []),
  ]);
  const fields = new Set(survey.payload.fieldName ?? table.columns.keys());
  noteUnchecked(survey, survey.payload.fieldValidation, { checked: [...fields, ...closed] });
  const open = [...table.columns.values()].filter(
    ({ name, generated }) => fields.has(name) && !closed.has(name) && generated !== "computed",
  );
  return {
    table,
    key,
    keyColumns: byName(key),
    shown,
    ...setBy(survey.payload, open),
    audit,
    flag: marks?.flag && isUnfilled(marks.flag) ? marks.flag : null,
    readBack:
      reading !== null &&
      reading.property !== "tableName" &&
      key.length > 0 &&
      key.every(({ name }) => reading.columns.has(name)),
    namesRecords: true,
  };
}
