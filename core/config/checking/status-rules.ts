/**
 * `workflow.roles` and `workflow.closed` of all endpoints -> rules of their tables, and the details that a closed
 * record keeps as they are: those of `masterDetail`, and those of relations to many that the database deletes with the
 * record, or that the file calls details.
 */
import type { Catalog } from "../../plans/database-catalog.ts";
import {
  noStatuses,
  type OwnerLink,
  type StatusTable,
  type StatusTables,
} from "../../plans/status-tables.ts";
import type { WorkflowPlan } from "../../plans/workflow-plan.ts";
import type { WritePlan } from "../../plans/write-plan.ts";
import type { Table } from "../../values/types/column.ts";
import { goesWith, isList, keyAmong } from "../compiling/key-plan.ts";
import type { Path } from "../reading/faults.ts";
import type { CompiledEndpoint, Survey } from "../compiling/survey.ts";
import { cascadesTo } from "./cascades.ts";

/** An endpoint whose file has such rules. */
interface Asking extends CompiledEndpoint {
  readonly write: WritePlan;
  readonly workflow: WorkflowPlan;
}

/** While the files are read. */
interface Draft extends StatusTable {
  readonly closed: Set<string>;
  readonly roles: Map<string, readonly string[]>;
}

/** Adds faults to the surveys. */
export async function statusTables(
  compiled: readonly CompiledEndpoint[],
  catalog: Catalog,
): Promise<StatusTables> {
  const guarded = new Map<string, Draft>();
  for (const one of compiled.flatMap(asking)) addRules(guarded, one);
  if (guarded.size === 0) return noStatuses;
  const owners = new Map<string, OwnerLink[]>();
  const kept = new Map<string, Table>();
  for (const one of compiled) {
    const { write } = one.entity;
    const owner = write ? guarded.get(write.table.identity) : undefined;
    if (owner === undefined || owner.closed.size === 0) continue;
    kept.set(owner.table.identity, owner.table);
    for (const { table, columns, referenced } of await detailsOf(one, { compiled, catalog })) {
      const links = owners.get(table.identity) ?? [];
      owners.set(table.identity, links);
      kept.set(table.identity, table);
      const link = { owner, columns, referenced };
      if (!links.some((other) => isSame(other, link))) links.push(link);
    }
  }
  const cascades = await cascadesTo([...kept.values()], { catalog, effects: ["delete", "change"] });
  return { guarded, owners, cascades };
}

/** Empty without such rules, and with a fault if the endpoint cannot have them. */
function asking(one: CompiledEndpoint): Asking[] {
  const { survey, entity, table } = one;
  const { roles, closed } = survey.payload.workflow ?? {};
  if (roles === undefined && closed === undefined) return [];
  const path = ["workflow", closed === undefined ? "roles" : "closed"];
  const { write, workflow } = entity;
  if (table === null || table.kind === "view" || write === null)
    survey.fault(path, { expected: "a tableName that is a table with a primary key" });
  else if (!table.transactional)
    survey.fault(path, {
      found: `${table.name}, whose storage cannot roll back a change`,
      expected: "a table whose storage has transactions",
    });
  else if (workflow !== null) return [{ ...one, write, workflow }];
  return [];
}

/** The rules of several endpoints of a table are joined; what they say of the same thing must be the same. */
function addRules(guarded: Map<string, Draft>, { survey, write, workflow }: Asking): void {
  const { table } = write;
  const { status } = workflow;
  const { roles = {}, closed = [] } = survey.payload.workflow ?? {};
  const other = guarded.get(table.identity);
  const draft = other ?? { table, status, closed: new Set(), roles: new Map() };
  guarded.set(table.identity, draft);
  if (draft.status.name !== status.name) {
    survey.fault(["workflow", "statusField"], {
      found: status.name,
      expected: `${draft.status.name}, as another endpoint of ${table.name} with roles or closed has it`,
    });
    return;
  }
  for (const name of closed) draft.closed.add(name);
  for (const [name, list] of Object.entries(roles)) {
    const known = draft.roles.get(name);
    draft.roles.set(name, known ?? list);
    if (known && new Set(known).symmetricDifference(new Set(list)).size > 0)
      survey.fault(["workflow", "roles", name], {
        found: list.join(", "),
        expected: `the roles that another endpoint of ${table.name} names: ${known.join(", ")}`,
      });
  }
}

type Detail = Pick<OwnerLink, "columns" | "referenced"> & { readonly table: Table };

interface Project {
  readonly compiled: readonly CompiledEndpoint[];
  readonly catalog: Catalog;
}

/** The details of the endpoint's records. What is wrong with their configuration is a fault elsewhere. */
async function detailsOf(one: CompiledEndpoint, project: Project): Promise<Detail[]> {
  const { masterDetail } = one.survey.payload;
  const write = one.entity.write!;
  const found: Detail[] = [];
  const add = (
    names: readonly string[],
    referenced: OwnerLink["referenced"],
    table: Table,
  ): void => {
    const columns = keyAmong(table.columns, names);
    if (columns.length === 0 || columns.length !== referenced.length) return;
    found.push({ table, columns, referenced });
  };
  for (const { detailTable, foreignKey } of [masterDetail ?? []].flat()) {
    const table = await project.catalog.table(detailTable).catch(() => null);
    if (table) add([foreignKey], write.key, table);
  }
  for (const { path, endpoint, names, key, isDetail } of manyOf(one.survey)) {
    const table = project.compiled.find(({ entity }) => entity.name === endpoint)?.table;
    if (!table || table.kind === "view" || isDetail === false) continue;
    const referenced = key ?? write.key.map((column) => column.name);
    if (
      isDetail !== true &&
      !(await goesWith(one.survey, table, { names, parent: write.table, referenced }))
    )
      continue;
    if (!table.transactional)
      one.survey.fault(path, {
        found: `${table.name}, whose storage cannot roll back a change`,
        expected:
          "details in a table whose storage has transactions, because a record can be closed",
      });
    add(names, keyAmong(write.table.columns, referenced), table);
  }
  return found;
}

interface Many {
  readonly path: Path;
  /** Of the records that hold the key of this one. */
  readonly endpoint: string;
  readonly names: readonly string[];
  /** Columns here; undefined = the primary key. */
  readonly key: readonly string[] | undefined;
  /** Undefined: as the database has it. */
  readonly isDetail: boolean | undefined;
}

const manyOf = ({ payload }: Survey): Many[] =>
  Object.entries(payload.relations ?? {}).flatMap(([name, config]): Many[] => {
    if (config === false || config.column !== undefined) return [];
    const { through, foreignColumn, key, details: isDetail } = config;
    const path = ["relations", name];
    return through
      ? [
          {
            path,
            endpoint: through.endpoint,
            names: [through.column].flat(),
            key: undefined,
            isDetail,
          },
        ]
      : [
          {
            path,
            endpoint: config.endpoint,
            names: [foreignColumn ?? []].flat(),
            key: key === undefined ? undefined : [key].flat(),
            isDetail,
          },
        ];
  });

const isSame = (one: OwnerLink, other: OwnerLink): boolean =>
  isList(
    one.columns.map(({ name }) => name),
    other.columns.map(({ name }) => name),
  ) &&
  isList(
    one.referenced.map(({ name }) => name),
    other.referenced.map(({ name }) => name),
  );
