/**
 * masterDetail and calculation -> the plans of the composite actions and of delete's cascades. detailQuery and
 * calculation may be next to masterDetail, or inside it when there are several detail tables; both places are handled
 * here. Names are checked even when no composite action is switched on.
 */
import type { Column, Columns, Table } from "../../values/types/column.ts";
import { auditColumnIn, type AuditColumns, auditFields } from "../../plans/audit-columns.ts";
import type { Cascade } from "../../plans/write-plan.ts";
import type { CompositePlan, DetailPlan } from "../../plans/composite-plan.ts";
import { switchedOn } from "../../actions.ts";
import type { FieldRule } from "../../rules/rule-definition.ts";
import { compileRules, type Rules } from "../../rules/compile-rules.ts";
import { type DetailQuery, detailQueryOf, headerKeyTexts } from "./detail-query.ts";
import type { Path } from "../reading/faults.ts";
import { computedOf, type DetailColumns, headerTotalsOf } from "./formula-plan.ts";
import { auditColumnOf, fitsAudit, forEverybody, setBy } from "./plans.ts";
import { noteUnchecked, readRules, refineColumns } from "./rule-plan.ts";
import type { Payload } from "../reading/schema.ts";
import type { Key } from "../../values/types/key.ts";
import { byName, goesWith, keyAmong, keyColumns, nameOneRow } from "./key-plan.ts";
import type { Survey } from "./survey.ts";

/** What composites and cascades need of the header. */
export interface Header {
  readonly table: Table | null;
  /** Empty: the table has no key. */
  readonly key: Key;
  /** Whether the source that the endpoint reads contains the key, by which details are found. */
  readonly isKeyRead: boolean;
  readonly audit: AuditColumns;
  /** See `WritePlan`. */
  readonly writable: Columns;
}

export interface Composite {
  /** Null when there are no details, or when they have a fault. */
  readonly plan: CompositePlan | null;
  readonly cascades: readonly Cascade[];
  /** Null when they are not known, because a detail table or its query has a fault. */
  readonly columns: LineColumns | null;
}

/** Columns of all detail tables. */
export interface LineColumns {
  readonly written: Columns;
  /** With those of the detail queries. */
  readonly shown: Columns;
}

/** The configuration of one detail table, each part with its path. */
interface Setting {
  readonly config: Extract<NonNullable<Payload["masterDetail"]>, readonly unknown[]>[number];
  readonly path: Path;
  readonly query: DetailQuery | null;
  readonly calculation: {
    readonly formulas: NonNullable<Payload["calculation"]>;
    readonly path: Path;
  } | null;
}

export async function compositeOf(
  survey: Survey,
  enabled: ReadonlySet<string>,
  header: Header,
): Promise<Composite> {
  const settings = settingsOf(survey);
  const users = switchedOn(survey.payload.action, ({ requires }) => requires.has("masterDetail"));
  const isUsed = users.length > 0;
  checkHeaderKey(survey, settings, { header, users });
  const found = await Promise.all(
    settings.map((setting) => detailOf(survey, setting, { header, isUsed })),
  );
  const details = found.flatMap((one) => one?.plan ?? []);
  checkNames(survey, settings, { details, header });
  if (settings.length > 0 && enabled.has("read-composite") && !header.isKeyRead)
    survey.fault(["primaryKey"], {
      expected: "a column that the view or query contains too, because read-composite needs it",
    });
  const totals = new Set(details.flatMap((detail) => detail.totals.map(({ column }) => column)));
  const isWhole = settings.length > 0 && details.length === settings.length;
  const hidden = forEverybody(survey.payload.hiddenFields);
  const plan = {
    tableName: survey.payload.tableName ?? header.table?.name ?? "",
    details,
    writable: new Map([...header.writable].filter(([, column]) => !totals.has(column))),
    shownTotals: byName([...totals].filter(({ name }) => !hidden.includes(name))),
  };
  return {
    plan: isWhole ? plan : null,
    cascades: found.flatMap((one) => one?.cascade ?? []),
    columns: lineColumns(found),
  };
}

function lineColumns(found: readonly (Detail | null)[]): LineColumns | null {
  const known = found.flatMap((one) => one?.columns ?? []);
  if (known.length < found.length) return null;
  const joined = (of: keyof LineColumns) => new Map(known.flatMap((one) => [...one[of]]));
  return { written: joined("written"), shown: joined("shown") };
}

function settingsOf(survey: Survey): Setting[] {
  const { masterDetail, calculation, detailQuery } = survey.payload;
  const outer: Pick<Setting, "query" | "calculation"> = {
    query: detailQuery === undefined ? null : { sql: detailQuery, path: ["detailQuery"] },
    calculation:
      calculation === undefined ? null : { formulas: calculation, path: ["calculation"] },
  };
  const several = Array.isArray(masterDetail);
  if (outer.calculation && (!masterDetail || several)) {
    survey.fault(["calculation"], {
      expected: several
        ? "a calculation in each entry of masterDetail, for the details of that entry"
        : "a masterDetail as well, because the formulas use its details",
    });
  }
  if (outer.query && several) {
    survey.fault(["detailQuery"], {
      expected: "a detailQuery in each entry of masterDetail, for the details of that entry",
    });
  }
  if (!masterDetail) {
    if (outer.query) headerKeyTexts(survey, outer.query);
    return [];
  }
  return (several ? masterDetail : [masterDetail]).map((config, at) => {
    const path = several ? ["masterDetail", at] : ["masterDetail"];
    const { detailQuery: sql, calculation: formulas } = config;
    const query = sql === undefined ? null : { sql, path: [...path, "detailQuery"] };
    const own = formulas === undefined ? null : { formulas, path: [...path, "calculation"] };
    return several
      ? { config, path, query, calculation: own }
      : { config, path, query: query ?? outer.query, calculation: own ?? outer.calculation };
  });
}

interface Detail {
  readonly plan: DetailPlan | null;
  readonly cascade: Cascade | null;
  readonly columns: LineColumns | null;
}

async function detailOf(
  survey: Survey,
  setting: Setting,
  { header, isUsed }: { header: Header; isUsed: boolean },
): Promise<Detail | null> {
  const { config, path } = setting;
  const found = await survey.table(config.detailTable, [...path, "detailTable"]);
  if (!found) return null;
  const of = `the table ${found.name}`;
  const rules = rulesOf(survey, setting, found);
  const compiledRules = Object.freeze(compileRules(rules));
  const table = { ...found, columns: refineColumns(found.columns, rules) };
  const { columns } = table;
  const { foreignKey: foreignKeyName, detailConfig, cascadeDelete } = config;
  const foreignKey = survey.column(foreignKeyName, columns, [...path, "foreignKey"], of);
  const key = keyOf(survey, setting, { table, isUsed, foreignKey });
  const configPath = [...path, "detailConfig"];
  survey.columns(detailConfig.fieldName ?? [], columns, [...configPath, "fieldName"], of);
  checkTable(survey, setting, { table, isUsed });
  const audit = auditColumns(survey, columns, compiledRules);
  const closed = new Set<Column | null>([...key, foreignKey, ...audit.map(({ column }) => column)]);
  const { fieldName, fieldValidation, requiredFields } = detailConfig;
  const checked = [
    ...(fieldName ?? columns.keys()),
    ...[...closed].flatMap((column) => column?.name ?? []),
  ];
  const required = requiredFields.map((name) => ({ name, constraints: { required: true } }));
  for (const [property, rules] of Object.entries({ fieldValidation, requiredFields: required }))
    noteUnchecked(survey, rules, { checked, path: [...configPath, property] });
  const calculated = calculatedOf(survey, setting, { header, columns, closed, of });
  const query =
    setting.query &&
    (await detailQueryOf(survey, setting.query, { headerKey: header.key[0] ?? null, rules }));
  if (!foreignKey) return null;
  const by = cascadeDelete ? "service" : await cascading(survey, table, { header, foreignKey });
  const own = { ...calculated, table, key, foreignKey, audit, query, closed };
  return {
    plan:
      key.length === 0
        ? null
        : {
            ...planOf(survey, detailConfig.fieldName, own),
            tableName: config.detailTable,
            rules: compiledRules,
          },
    cascade: by && { by, table, foreignKey, key },
    columns:
      setting.query && !query
        ? null
        : { written: columns, shown: new Map([...byName(query?.columns ?? []), ...columns]) },
  };
}

const cascading = async (
  survey: Survey,
  table: Table,
  { header, foreignKey: { name } }: { header: Header; foreignKey: Column },
): Promise<"database" | null> => {
  if (header.table?.kind !== "table") return null;
  const referenced = header.key.map((column) => column.name);
  const about = { names: [name], parent: header.table, referenced };
  return (await goesWith(survey, table, about)) ? "database" : null;
};

function calculatedOf(
  survey: Survey,
  { calculation }: Setting,
  about: { header: Header } & Pick<DetailColumns, "columns" | "closed" | "of">,
): Pick<DetailPlan, "computed" | "totals"> {
  if (!calculation) return { computed: [], totals: [] };
  const { formulas, path } = calculation;
  const { header, columns, of } = about;
  return {
    computed: computedOf(survey, formulas.detail, { ...about, path: [...path, "detail"] }),
    totals: headerTotalsOf(survey, formulas.header, {
      details: columns,
      header: header.table?.columns ?? null,
      closed: new Set<Column | null>([...header.key, ...header.audit.map(({ column }) => column)]),
      path: [...path, "header"],
      of,
    }),
  };
}

type Found = Pick<
  DetailPlan,
  "table" | "key" | "foreignKey" | "audit" | "query" | "computed" | "totals"
> & { readonly closed: ReadonlySet<Column | null> };

/** `fieldName`: absent = all columns. */
function planOf(
  { payload }: Survey,
  fieldName: readonly string[] | undefined,
  { closed, ...found }: Found,
): Omit<DetailPlan, "rules" | "tableName"> {
  const { table, key, foreignKey, query, computed } = found;
  const columns = [...table.columns];
  const hidden = new Set(forEverybody(payload.hiddenFields));
  const fields = new Set(fieldName ?? table.columns.keys());
  const results = new Set(computed.map(({ column }) => column));
  const isShown = (column: Column): boolean =>
    (fields.has(column.name) || closed.has(column) || results.has(column)) &&
    !hidden.has(column.name);
  const open = [...table.columns.values()].filter(
    (column) =>
      fields.has(column.name) &&
      !closed.has(column) &&
      !results.has(column) &&
      column.generated !== "computed",
  );
  const number = table.columns.get("line_number");
  const lineKey = lineKeyOf(key, foreignKey);
  const sorted = new Set([...(number ? [number] : []), ...lineKey]);
  return {
    ...found,
    lineKey,
    keyColumns: byName(lineKey),
    namesRecords: true,
    ...setBy(payload, open),
    shown: new Map(columns.filter(([, column]) => isShown(column))),
    queryShown: query?.columns.map(({ name }) => name).filter((name) => !hidden.has(name)) ?? [],
    sort: [...sorted].map((column) => ({ column, direction: "asc" })),
    flag: null,
    marking: null,
  };
}

/** What names a detail within its header. */
const lineKeyOf = (key: Key, foreignKey: Column): Key =>
  key.filter((column) => column !== foreignKey);

/** The rules of the details, including those of requiredFields. */
function rulesOf(survey: Survey, { config, path }: Setting, table: Table): FieldRule[] {
  const { fieldValidation, requiredFields } = config.detailConfig;
  const at = [...path, "detailConfig"];
  const of = `the table ${table.name}`;
  const rules = readRules(survey, fieldValidation, [...at, "fieldValidation"], {
    columns: table.columns,
    of,
  });
  survey.columns(requiredFields, table.columns, [...at, "requiredFields"], of);
  const required = new Set(requiredFields);
  const ruled = new Set(rules.map(({ name }) => name));
  return [
    ...rules.map((rule) => (required.has(rule.name) ? { ...rule, required: true } : rule)),
    ...requiredFields.filter((name) => !ruled.has(name)).map((name) => ({ name, required: true })),
  ];
}

/** The key of the details. If nothing identifies a row, or a row within its header: empty, and a fault if needed. */
function keyOf(
  survey: Survey,
  { config, path }: Setting,
  { table, isUsed, foreignKey }: { table: Table; isUsed: boolean; foreignKey: Column | null },
): Key {
  const at = [...path, "detailConfig", "primaryKey"];
  const { primaryKey } = config.detailConfig;
  const { columns } = table;
  const faults = survey.faults.length;
  const key =
    primaryKey === undefined
      ? keyAmong(columns, table.primaryKey)
      : keyColumns(survey, primaryKey, { columns, path: at, of: `the table ${table.name}` });
  if (survey.faults.length > faults) return [];
  if (!isUsed || (table.kind !== "table" && key.length > 0)) return key;
  const names = key.map(({ name }) => name);
  const writers = compositeWrites.filter((name) => survey.payload.action[name] === true);
  const isAlone = foreignKey !== null && key.length > 0 && lineKeyOf(key, foreignKey).length === 0;
  if (key.length === 0)
    survey.fault(at, { expected: `the name of a column that identifies a row of ${table.name}` });
  else if (primaryKey !== undefined && !nameOneRow(table, names))
    survey.fault(at, {
      found: `${names.join(", ")}, which may be null or twice in the database`,
      expected: `${names.length === 1 ? "the column that names" : "columns that together name"} one row of ${table.name}: unique and NOT NULL in the database`,
    });
  else if (isAlone && writers.length > 0)
    survey.fault(at, {
      found: `${names.join(", ")}, which is the foreignKey itself`,
      expected: `a key that tells the rows of one header apart, for ${writers.join(", ")}`,
    });
  return key;
}

const compositeWrites = ["create-composite", "update-composite"] as const;

/** Details name their header by one value. */
function checkHeaderKey(
  survey: Survey,
  settings: readonly Setting[],
  { header: { key }, users }: { header: Header; users: readonly string[] },
): void {
  const cascades = settings.some(({ config }) => config.cascadeDelete);
  const who = [...users, ...(cascades ? ["cascadeDelete"] : [])].join(", ");
  if (settings.length === 0 || who === "" || key.length < 2) return;
  survey.fault(["masterDetail"], {
    found: `a header whose key has ${key.length} columns: ${key.map(({ name }) => name).join(", ")}`,
    expected: `a header with a key of one column, which the foreignKey of its details holds, for ${who}`,
  });
}

/**
 * The audit columns of the details have the same names as those of the header; a column that does not fit is treated as
 * a normal column.
 */
function auditColumns(survey: Survey, columns: Columns, rules: Rules): AuditColumns {
  return auditFields.flatMap((field) => {
    const column = auditColumnIn(columns, survey.payload.auditColumns, field);
    return column && fitsAudit(field.kind, column, survey.hasAuth)
      ? auditColumnOf(survey, field, { column, rules })
      : [];
  });
}

/** Details are written in a transaction, so their table must support rollback. */
function checkTable(
  survey: Survey,
  { config, path }: Setting,
  { table, isUsed }: { table: Table; isUsed: boolean },
): void {
  if (!isUsed && !config.cascadeDelete) return;
  if (table.kind !== "table")
    survey.fault([...path, "detailTable"], { found: "a view", expected: "a table" });
  if (table.transactional) return;
  const expected = "a detail table whose storage has transactions";
  if (config.cascadeDelete) {
    survey.fault([...path, "cascadeDelete"], {
      found: `true, but the storage of ${table.name} cannot roll back a delete`,
      expected,
    });
  } else {
    const found = `${table.name}, whose storage cannot roll back a change`;
    survey.fault([...path, "detailTable"], { found, expected });
  }
}

/** The member that contains the details must not have the name of a field or of other details. */
function checkNames(
  survey: Survey,
  settings: readonly Setting[],
  { details, header }: { details: readonly DetailPlan[]; header: Header },
): void {
  const seen = new Set<string>();
  for (const { table } of details) {
    const setting = settings[details.findIndex((one) => one.table === table)];
    const path = [...(setting?.path ?? ["masterDetail"]), "detailTable"];
    if (header.table?.columns.has(table.name))
      survey.fault(path, { expected: "a table whose name is not also a column of the header" });
    if (seen.has(table.name)) survey.fault(path, { expected: "each detail table only once" });
    seen.add(table.name);
  }
}
