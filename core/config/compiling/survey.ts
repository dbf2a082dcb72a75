/**
 * One endpoint while it is compiled: its payload, access to the database catalog, and the faults found so far. Names of
 * tables, columns and queries are resolved only here, so that each unknown name is a fault with its position and "did
 * you mean".
 */
import { paramColumns, parametersIn } from "./query-parameters.ts";
import { timeZoneNamed } from "../../values/time-zones.ts";
import type { Column, Columns, Source, Table } from "../../values/types/column.ts";
import type { Entity, RequestSettings } from "../../plans/entity.ts";
import { AppError, isUnavailable } from "../../values/errors.ts";
import type { Catalog } from "../../plans/database-catalog.ts";
import type { Computation } from "../../query/statement.ts";
import { didYouMean } from "../reading/did-you-mean.ts";
import { faultAt } from "../reading/document.ts";
import type { Fault, Path } from "../reading/faults.ts";
import { singleStatement } from "../../query/query-text.ts";
import type { EndpointConfig, ProjectConfig } from "../reading/read-config.ts";
import type { Payload } from "../reading/schema.ts";

/** A query of the configuration, and the columns that it returns. */
export interface FoundQuery {
  readonly source: Source;
  readonly columns: Columns;
}

/** An endpoint that is compiled by itself, for what all endpoints of the project decide: relations, rules of tables. */
export interface CompiledEndpoint {
  readonly survey: Survey;
  /** With what soft delete adds to it. */
  readonly entity: Entity;
  /** The one that its file names. */
  readonly table: Table | null;
}

export interface Survey {
  readonly project: string;
  readonly endpoint: string;
  readonly payload: Payload;
  /** A column for each of the endpoint's `params`. */
  readonly params: Columns;
  /** Whether the project requires credentials. */
  readonly hasAuth: boolean;
  /** Whether the database's own rules may show each caller other rows. */
  readonly hasPolicies: boolean;
  readonly requests: RequestSettings;
  /** Time-out of hooks without their own. */
  readonly hookTimeoutMs: number;
  /** The project's files, see `ProjectConfig`. */
  readonly files: ProjectConfig["files"];
  /** See `ProjectConfig`. */
  readonly endpointNames: ProjectConfig["endpointNames"];
  readonly jobs: ProjectConfig["jobs"];
  readonly faults: Fault[];
  readonly notices: string[];
  readonly remarks: string[];
  fault(path: Path, about: { found?: string; expected: string; hint?: string | undefined }): void;
  /** Adds a note for the operator that does not prevent the start. */
  notice(message: string): void;
  /** Something that only `rowgate check` prints. */
  remark(message: string): void;
  /** Null, with a fault, if the database has no such table. */
  table(name: string, path: Path): Promise<Table | null>;
  /** As in the catalog: no fault if there is none. */
  findTable(name: string): Promise<Table | null>;
  /** See `Catalog`. */
  referencesTo: Catalog["referencesTo"];
  /** The configured SQL at this path. Null, and a fault, when it cannot be used. */
  query(sql: string, path: Path): Promise<FoundQuery | null>;
  /** The same of a property that may be absent: then undefined. */
  ownQuery(property: "datatablesQuery" | "exportQuery"): Promise<FoundQuery | null | undefined>;
  /** The columns of a query around the places of parameters. Null, and a fault, when the database refuses it. */
  parameterQuery(
    texts: readonly string[],
    parameters: readonly Column[],
    path: Path,
  ): Promise<readonly Column[] | null>;
  /** See `Catalog`. */
  textIndex: Catalog["textIndex"];
  /** See `Catalog`. */
  routines: Catalog["routines"];
  /** See `Catalog`. */
  computes(computation: Computation): boolean;
  /** See `Catalog`. */
  readonly answersStoredRows: boolean;
  /** The SQL text, read from its file if it names one. Does not use the database. */
  queryText(sql: string, path: Path): string | null;
  /** Null, and a fault, when there is no such column; `of` names the owner of the columns. */
  column(name: string, columns: Columns, path: Path, of: string): Column | null;
  /** Each name of the list at this path that exists. */
  columns(names: readonly string[], columns: Columns, path: Path, of: string): Column[];
}

/** Whether a fault of one of these properties was found: what depends on it is no fault of its own. */
export const isAtFault = ({ faults }: Survey, ...properties: readonly string[]): boolean =>
  faults.some(({ path }) => properties.includes(/^\w*/.exec(path)![0]));

/** A view that the database cannot read is as good as none; a database that does not answer is another matter. */
export const nullUnlessAway = (error: unknown): null => {
  if (error instanceof AppError) throw error;
  return null;
};

/** An empty object counts as absent. */
export const hasAuth = ({ auth }: Pick<ProjectConfig, "auth">): boolean =>
  auth !== undefined && Object.keys(auth).length > 0;

/** One piece, because its members use each other and report to the same lists of faults and notices. */
export function openSurvey(
  config: ProjectConfig,
  endpoint: EndpointConfig,
  catalog: Catalog,
): Survey {
  const { document, payload } = endpoint;
  const survey: Survey = {
    project: config.name,
    endpoint: endpoint.name,
    payload,
    params: paramColumns(payload.params),
    hasAuth: hasAuth(config),
    hasPolicies: config.database.claimsSetting !== undefined,
    requests: {
      decimals: config.decimals,
      unknownMembers: config.requests.unknown,
      lockTtlSecondsMax: config.locking.maxResourceTtlSeconds,
      offsetMax: config.limits.maxOffset,
      timeZone: timeZoneNamed(config.timeZone) ?? config.timeZone,
      bulkRecordsMax: config.limits.bulkRecords,
      messages: config.messages,
      errorDetails: config.requests.errorDetails,
    },
    hookTimeoutMs: config.hooks.timeoutMs,
    files: config.files,
    endpointNames: config.endpointNames,
    jobs: config.jobs,
    faults: [],
    notices: [],
    remarks: [],
    fault: (path, about) => void survey.faults.push(faultAt(document, path, about)),
    notice: (message) => void survey.notices.push(`${config.name}/${endpoint.name}: ${message}`),
    remark: (message) => void survey.remarks.push(`${config.name}/${endpoint.name}: ${message}`),

    findTable: (name) => catalog.table(name).catch(nullUnlessAway),
    referencesTo: (table) => catalog.referencesTo(table),

    async table(name, path) {
      const table = await catalog.table(name).catch((error: unknown) => {
        if (error instanceof AppError) throw error;
        return (error as Error).message;
      });
      if (typeof table === "string") {
        survey.fault(path, {
          found: `a view that the database itself cannot read (${table})`,
          expected: "a table, or a view that can be read",
        });
        return null;
      }
      if (table === null) {
        survey.fault(path, {
          expected: "a table or view of the database",
          hint: didYouMean(name, await catalog.names()),
        });
      }
      return table;
    },

    queryText(sql, path) {
      const isFile = sql.startsWith("file:");
      const name = sql.slice("file:".length).trim().replace(/^\.\//, "");
      const written = isFile ? config.files.get(name) : sql;
      if (written === undefined) {
        const known = [...config.files.keys()].filter((file) => file.endsWith(".sql"));
        survey.fault(path, {
          expected: `a file in the folder ${config.name}, such as "file:query/open.sql"`,
          hint: didYouMean(name, known),
        });
        return null;
      }
      const single = singleStatement(written);
      if (single.ok) return single.text;
      survey.fault(path, {
        ...single,
        found: isFile ? `${single.found}, in ${name}` : single.found,
      });
      return null;
    },

    async query(sql, path) {
      const text = survey.queryText(sql, path);
      if (text === null) return null;
      const parameters = parametersIn(text, endpoint.name, survey.params);
      if (parameters !== null && "expected" in parameters) {
        survey.fault(path, parameters);
        return null;
      }
      const asked =
        parameters === null
          ? catalog.query(text)
          : catalog.parameterQuery(parameters.texts, parameters.columns);
      const found = await columnsOf(asked, path);
      const columns = found && new Map(found.map((one) => [one.name, one]));
      const named = parameters && { parameters };
      return columns && { source: { kind: "query", text, columns, ...named }, columns };
    },

    async ownQuery(property) {
      const sql = payload[property];
      return sql === undefined ? undefined : survey.query(sql, [property]);
    },

    routines: (name) => catalog.routines(name),
    textIndex: (table, wish) => catalog.textIndex(table, wish),
    computes: (computation) => catalog.computes(computation),
    answersStoredRows: catalog.answersStoredRows,

    parameterQuery: (texts, parameters, path) =>
      columnsOf(catalog.parameterQuery(texts, parameters), path),

    column(name, columns, path, of) {
      const column = columns.get(name) ?? null;
      if (column === null) {
        const hint = didYouMean(name, columns.keys());
        survey.fault(path, { found: JSON.stringify(name), expected: `a column of ${of}`, hint });
      }
      return column;
    },

    columns: (names, columns, path, of) =>
      names.flatMap((name, index) => survey.column(name, columns, [...path, index], of) ?? []),
  };
  return survey;

  async function columnsOf(
    asking: Promise<readonly Column[]>,
    path: Path,
  ): Promise<readonly Column[] | null> {
    let columns: readonly Column[];
    try {
      columns = await asking;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      survey.fault(path, {
        found: `a query that the database refuses: ${reason}`,
        expected: "a query that the database accepts",
      });
      return null;
    }
    const names = columns.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice === undefined) return columns;
    survey.fault(path, {
      found: `two columns named ${twice}`,
      expected: "a different name for each column; use AS",
    });
    return null;
  }
}

/** Looks each table and query up in the database once, however many endpoints name it. */
export function remembering(catalog: Catalog): Catalog {
  const tables = new Map<string, Promise<Table | null>>();
  const queries = new Map<string, Promise<readonly Column[]>>();
  let names: Promise<readonly string[]> | null = null;
  const once = <Value>(
    known: Map<string, Promise<Value>>,
    key: string,
    ask: () => Promise<Value>,
  ): Promise<Value> => {
    const answer = known.get(key) ?? ask();
    known.set(key, answer);
    return answer;
  };
  const asked = catalog.together();
  const remembered: Catalog = {
    ...catalog,
    together: () => remembered,
    table: (name) => once(tables, name, () => asked.table(name)),
    referencesTo: (table) => asked.referencesTo(table),
    query: (text) => once(queries, text, () => catalog.query(text)),
    names: () => (names ??= catalog.names()),
  };
  return remembered;
}
