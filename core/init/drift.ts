/** Differences between a database and the files of a project, other than the faults of `compile-project.ts`. */
import { nullUnlessAway } from "../config/compiling/survey.ts";
import { pathInFile, valueAt } from "../config/reading/document.ts";
import type { Path } from "../config/reading/faults.ts";
import type { EndpointConfig, ProjectConfig } from "../config/reading/read-config.ts";
import type { Rule } from "../config/reading/rule-schema.ts";
import { softDeleteConfig } from "../config/compiling/soft-delete-plan.ts";
import type { Catalog } from "../plans/database-catalog.ts";
import type { Column, ColumnType, Table } from "../values/types/column.ts";
import { isObject } from "../values/json.ts";
import { ruleTypes } from "../values/types/column-types.ts";
import { switchedOn } from "../actions.ts";
import { largeOf } from "./draft-endpoint.ts";
import {
  type DraftRelation,
  draftRelations,
  freeName,
  type RelatedEndpoint,
} from "./draft-relations.ts";
import { tableNameOf } from "./file-names.ts";
import { auditNames, looksSecret } from "./name-words.ts";
import { type DraftRule, ruleOf } from "./rules.ts";

export interface Drift {
  readonly kind: "table" | "column" | "length" | "labels" | "type" | "relation";
  readonly table: string;
  readonly column: string | null;
  /** Relative to the configuration folder; null: no file is about it. */
  readonly file: string | null;
  readonly message: string;
  /** The changes of `rowgate sync`; empty = none would be safe. */
  readonly changes: readonly Change[];
}

/** A value of a file that is set, or put at the end of a list. */
export interface Change {
  /** In the file, whichever spelling it has. */
  readonly path: Path;
  readonly value: unknown;
  readonly isAdded: boolean;
}

interface Endpoint extends EndpointConfig {
  readonly table: Table;
}

/** Rejects as the catalog does. */
export async function driftOf(config: ProjectConfig, asked: Catalog): Promise<Drift[]> {
  const found = await Promise.all(
    config.endpoints.map(async (endpoint): Promise<Endpoint[]> => {
      const { tableName } = endpoint.payload;
      const table =
        tableName === undefined ? null : await asked.table(tableName).catch(nullUnlessAway);
      return table ? [{ ...endpoint, table }] : [];
    }),
  );
  const endpoints = found.flat();
  return [
    ...(await unknownTables(config, asked, endpoints)),
    ...[...Map.groupBy(endpoints, ({ table }) => table.identity).values()].flatMap(unknownColumns),
    ...endpoints.flatMap(outgrownRules),
    ...missingRelations(endpoints),
  ];
}

/** Tables that the service makes for itself. */
export const ownTables: ReadonlySet<string> = new Set([
  "rowgate_jobs",
  "rowgate_requests",
  "rowgate_changes",
  "rowgate_change_order",
  "rowgate_deliveries",
  "rowgate_numbers",
  "rowgate_files",
]);

async function unknownTables(
  { name: project, endpointNames, files }: ProjectConfig,
  catalog: Catalog,
  endpoints: readonly Endpoint[],
): Promise<Drift[]> {
  const served = new Set(endpoints.map(({ table }) => table.identity));
  // Files with faults are about their tables too.
  const texts = [...files].flatMap(([path, text]) =>
    path.endsWith(".sql") || endpointNames.has(path.replace(/\.json$/, "")) ? [text] : [],
  );
  const outlines = await catalog.outline([]);
  const unknown = await Promise.all(
    outlines.map(async (outline) => {
      const name = tableNameOf(outline);
      const named = wholeName(name);
      if (ownTables.has(name) || texts.some((text) => named.test(text))) return [];
      const table = await catalog.table(name).catch(nullUnlessAway);
      // A view without columns is one that the database cannot read.
      const isReadable = table !== null && table.columns.size > 0;
      return isReadable && !served.has(table.identity) ? [outline] : [];
    }),
  );
  return unknown.flat().map((outline): Drift => {
    const table = tableNameOf(outline);
    const argument = /^[\w.-]+$/.test(table) ? table : `"${table}"`;
    return {
      kind: "table",
      table,
      column: null,
      file: null,
      message: `no file is about the ${outline.kind} ${table}; rowgate init --database <URL> --project ${project} --tables ${argument} writes one`,
      changes: [],
    };
  });
}

/** Also in a query or as the table of details: what is named somewhere, as a whole word, is known. */
const wholeName = (name: string): RegExp =>
  new RegExp(String.raw`(?<![\p{L}\p{N}_])${RegExp.escape(name)}(?![\p{L}\p{N}_])`, "iu");

/** Columns that no endpoint of their table has. */
function unknownColumns(endpoints: readonly Endpoint[]): Drift[] {
  const [{ table }] = endpoints as readonly [Endpoint];
  const known = new Set(endpoints.flatMap(columnsKnownTo));
  const first = endpoints.find(({ payload }) => payload.fieldName !== undefined);
  if (!first) return [];
  return [...table.columns.values()].flatMap((column): Drift[] => {
    const { name } = column;
    if (known.has(name) || auditNames.has(name)) return [];
    return [
      {
        kind: "column",
        table: table.name,
        column: name,
        file: first.document.file,
        message: `the table ${table.name} has a column ${name} that no fieldName and no hiddenFields names`,
        changes: changesFor(column, first),
      },
    ];
  });
}

function columnsKnownTo({ payload, table }: Endpoint): string[] {
  const { fieldName, hiddenFields, auditColumns } = payload;
  const hidden = Array.isArray(hiddenFields) ? hiddenFields : Object.values(hiddenFields).flat();
  const marks = softDeleteConfig(payload);
  return [
    ...(fieldName ?? table.columns.keys()),
    ...hidden,
    ...(auditColumns === false
      ? []
      : Object.values(auditColumns).filter((name) => name !== undefined)),
    ...(marks === null ? [] : [marks.flag, marks.at, marks.by]),
    ...table.primaryKey,
  ];
}

function changesFor(column: Column, { payload, document, table }: Endpoint): Change[] {
  const { name } = column;
  const { hiddenFields, fieldValidation } = payload;
  const isHidden = looksSecret(column) || largeOf(table).includes(name);
  if (isHidden && !Array.isArray(hiddenFields)) return [];
  const rule = column.generated === "computed" ? null : ruleOf(column);
  return [
    { path: ["fieldName"], value: name, isAdded: true },
    ...(isHidden ? [{ path: ["hiddenFields"], value: name, isAdded: true }] : []),
    ...(rule !== null && fieldValidation.length > 0 ? [newRule(rule, document)] : []),
  ];
}

/**
 * The rule in the form in which the file writes its rules. It requires no value: that would refuse requests that
 * clients send today.
 */
function newRule(rule: DraftRule, { value }: Pick<Endpoint["document"], "value">): Change {
  const { name, type, constraints: { required: _, ...constraints } = {} } = rule;
  const path = ["fieldValidation"];
  const typed = type !== undefined && { type };
  if (isObject(valueAt(value, path)))
    return { path: [...path, name], value: { ...typed, ...constraints }, isAdded: false };
  const nested = Object.keys(constraints).length > 0 && { constraints };
  return { path, value: { name, ...typed, ...nested }, isAdded: true };
}

/** Rules that no longer fit their columns. */
function outgrownRules({ payload, document, table }: Endpoint): Drift[] {
  return payload.fieldValidation.flatMap((rule, at) => {
    const column = table.columns.get(rule.name);
    if (!column) return [];
    const about = { table: table.name, column: column.name, file: document.file };
    const pathOf = (name: string): Path =>
      pathInFile(document, ["fieldValidation", at, "constraints", name]);
    return [lengthOf(rule, column, pathOf), labelsOf(rule, column, pathOf), typeOf(rule, column)]
      .filter((one) => one !== null)
      .map((one): Drift => ({ ...about, ...one }));
  });
}

type Outgrown = Pick<Drift, "kind" | "message" | "changes"> | null;

/** Of a constraint of the rule. */
type PathOf = (name: string) => Path;

/** A rule with its own message is intentional. */
function lengthOf({ name, constraints }: Rule, column: Column, pathOf: PathOf): Outgrown {
  const { maxLength, maxLengthMessage } = constraints;
  const { lengthMax } = column;
  if (maxLength === undefined || lengthMax === null || maxLength === lengthMax) return null;
  if (maxLengthMessage !== undefined && maxLength < lengthMax) return null;
  return {
    kind: "length",
    message: `the rule of ${name} allows ${maxLength} characters, the column holds ${lengthMax}`,
    changes: [{ path: pathOf("maxLength"), value: lengthMax, isAdded: false }],
  };
}

function labelsOf({ name, constraints }: Rule, { labels }: Column, pathOf: PathOf): Outgrown {
  const allowed = constraints.enum;
  if (allowed === undefined || labels === null) return null;
  const listed = allowed.filter((one) => typeof one === "string");
  const missing = labels.filter((label) => !listed.includes(label));
  const gone = listed.filter((label) => !labels.includes(label));
  if (missing.length + gone.length === 0) return null;
  const told = [
    ...(missing.length > 0 ? [`the type also has ${missing.join(", ")}`] : []),
    ...(gone.length > 0 ? [`it no longer has ${gone.join(", ")}`] : []),
  ];
  return {
    kind: "labels",
    message: `the rule of ${name} lists other values than its column: ${told.join("; ")}`,
    changes: [{ path: pathOf("enum"), value: [...labels], isAdded: false }],
  };
}

/** A text column stores these values unchanged, and the rule requires their form. */
const keptAsText: ReadonlySet<ColumnType> = new Set(["uuid", "date", "time", "timestamp", "json"]);

/** Whether the type of a rule should follow is a question for a person. */
function typeOf({ name, type }: Rule, column: Column): Outgrown {
  const asked = type === undefined ? undefined : ruleTypes.get(type);
  if (asked === undefined || asked === column.type || column.ruleTypes?.includes(asked))
    return null;
  if (column.type === "text" && keptAsText.has(asked)) return null;
  return {
    kind: "type",
    message: `the rule of ${name} is for the type ${type}, the column is ${column.native || column.type}`,
    changes: [],
  };
}

/** Foreign keys without a relation, for files that have `relations`. */
function missingRelations(endpoints: readonly Endpoint[]): Drift[] {
  const readable = endpoints
    .filter(readsItsTable)
    .map((endpoint) => ({
      ...endpoint,
      key: [endpoint.payload.primaryKey ?? endpoint.table.primaryKey].flat(),
    }));
  const drafted = draftRelations(readable);
  return readable.flatMap((endpoint) => {
    const { relations } = endpoint.payload;
    if (relations === undefined) return [];
    const taken = new Set([...endpoint.table.columns.keys(), ...Object.keys(relations)]);
    return drafted.get(endpoint)!.flatMap((draft): Drift[] => {
      // The operator left it out, or gave it another name.
      const isLeftOut = Object.hasOwn(relations, draft.name) && relations[draft.name] === false;
      if (isLeftOut || hasRelation(endpoint, draft, readable)) return [];
      const name = freeName(draft.name, draft.ending, taken);
      taken.add(name);
      const columns = `${draft.table.name}.${draft.columns.join(", ")}`;
      return [
        {
          kind: "relation",
          table: draft.table.name,
          column: draft.columns.length === 1 ? draft.columns[0]! : null,
          file: endpoint.document.file,
          message: `no relation follows the foreign key ${columns} to ${draft.endpoint}; "relations": {${JSON.stringify(name)}: false} leaves it out`,
          changes: [{ path: ["relations", name], value: draft.setting, isAdded: false }],
        },
      ];
    });
  });
}

const readsItsTable = ({ payload }: Endpoint): boolean => {
  const { viewName, viewQuery } = payload;
  const actions = switchedOn(payload.action);
  return (
    viewName === undefined &&
    viewQuery === undefined &&
    (actions.includes("read") || actions.includes("first"))
  );
};

/** Whether a relation of the file goes over the same columns, to whichever endpoint of the table. */
function hasRelation(
  { payload }: Endpoint,
  draft: DraftRelation,
  endpoints: readonly RelatedEndpoint[],
): boolean {
  const wanted = draft.columns.toSorted().join("\n");
  const isOver = (endpoint: string, names: string | readonly string[]): boolean =>
    [names].flat().toSorted().join("\n") === wanted &&
    endpoints.some((one) => one.name === endpoint && one.table.identity === draft.next);
  return Object.values(payload.relations ?? {}).some((relation) => {
    if (relation === false) return false;
    const { endpoint, column, foreignColumn, through } = relation;
    if (draft.ending === "_record") return column !== undefined && isOver(endpoint, column);
    return through === undefined
      ? foreignColumn !== undefined && isOver(endpoint, foreignColumn)
      : isOver(through.endpoint, through.column);
  });
}
