/**
 * Records the statements that the service sends to its database in this process, and tells the plan of a statement: the nodes and indexes
 * of the planner, without costs and names of tables, so that two ways to write one query can be compared.
 */
import { vi } from "vitest";
import type { Connection } from "../../db/engines/engine.ts";
import { openEngine, enginesOf } from "../../db/open-engine.ts";
import { remoteRegistrations } from "../../db/open-remote.ts";
import { address as sqlite } from "../../db/engines/sqlite/address.ts";
import type { RawRow } from "../../db/statements/dialect.ts";
import type { EngineName } from "../servers/session.ts";

export interface SentStatement {
  readonly text: string;
  readonly params: readonly unknown[];
}

export interface Recorder {
  /** The statements over the data that are sent while the work runs, in their order. */
  during(work: () => Promise<unknown>): Promise<SentStatement[]>;
  /** One line for each step of the plan. */
  planOf(statement: SentStatement): Promise<string[]>;
  close(): Promise<void>;
}

const engines = enginesOf([
  ...remoteRegistrations,
  { address: sqlite, load: () => import("../../db/engines/sqlite/engine.ts") },
]);

/** `url`: of the database that the service uses. */
export async function openRecorder(engine: EngineName, url: string): Promise<Recorder> {
  const options = { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number" } as const;
  const own: Connection = await (await openEngine(engines, url, options)).connect("read");
  // The service's connections are of the same class.
  const methods = Object.getPrototypeOf(own) as Pick<Connection, "run"> &
    Partial<Pick<Connection, "runNow">>;
  const spies = [
    vi.spyOn(methods, "run"),
    ...(methods.runNow ? [vi.spyOn(methods as Required<typeof methods>, "runNow")] : []),
  ];
  return {
    async during(work) {
      for (const spy of spies) spy.mockClear();
      await work();
      return spies
        .flatMap(({ mock }) => mock.calls.map(([text, params]) => ({ text, params })))
        .filter(({ text }) => overData.test(text));
    },
    async planOf({ text, params }) {
      const { rows } = await own.run(`${explain[engine]} ${text}`, params, false);
      return steps[engine](rows);
    },
    async close() {
      for (const spy of spies) spy.mockRestore();
      await own.close();
    },
  };
}

/** Reads, and what changes or deletes rows; not what the service asks the database about itself. */
const overData = /^(select .* from .*\bsource\b|update |delete from )/s;

const explain: Readonly<Record<EngineName, string>> = {
  sqlite: "explain query plan",
  postgres: "explain (format json)",
  mysql: "explain",
};

interface PostgresNode {
  readonly "Node Type": string;
  readonly "Join Type"?: string;
  readonly "Index Name"?: string;
  readonly "Relation Name"?: string;
  readonly "Parent Relationship"?: string;
  readonly Plans?: readonly PostgresNode[];
}

/** What decides how fast a step of MySQL and MariaDB is; which part of the server applies a condition is left out. */
const weighty = /Using (filesort|temporary|index(?! condition)|\w*union\([^)]*\)|join buffer)/g;

const steps: Readonly<Record<EngineName, (rows: readonly RawRow[]) => string[]>> = {
  // Names of tables are those of the statement, `source` or others; the names of indexes tell the tables.
  sqlite: (rows) =>
    rows.map(({ detail }) => String(detail).replace(/\b(SEARCH|SCAN|BLOOM FILTER ON) \w+/, "$1")),
  postgres: ([row]) => {
    const [{ Plan: top }] = JSON.parse(String(row!["QUERY PLAN"])) as [{ Plan: PostgresNode }];
    return nodesOf(top, "");
  },
  mysql: (rows) =>
    rows.map(({ type, key, Extra: extra }) =>
      [type, key ?? "no index", ...(String(extra).match(weighty) ?? [])].join(", "),
    ),
};

function nodesOf(node: PostgresNode, indent: string): string[] {
  const { "Node Type": type, "Join Type": join, Plans: plans = [] } = node;
  const words = [type, join, node["Index Name"] ?? node["Relation Name"]];
  const own = indent + words.filter((word) => word !== undefined).join(" ");
  return [own, ...plans.filter(readsRows).flatMap((plan) => nodesOf(plan, `${indent}  `))];
}

/** Not what is computed once, before the plan runs. */
const readsRows = ({
  "Node Type": type,
  "Parent Relationship": relation,
  Plans: plans = [],
}: PostgresNode): boolean => relation !== "InitPlan" || type !== "Result" || plans.length > 0;
