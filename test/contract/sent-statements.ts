/**
 * Records the statements that this process sends to its database, and returns a statement's plan: its nodes and
 * indexes, without costs and table names, so that two forms of one query can be compared.
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
  /** The statements that are sent while the work runs, in their order: those over the data, or those of `kind`. */
  during(work: () => Promise<unknown>, kind?: RegExp): Promise<SentStatement[]>;
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
  const opened = await openEngine(engines, url, options);
  const own = await opened.connect("read");
  const aside = opened.longReadsMax === 0 ? [] : [await opened.connect("longRead")];
  // The service's connections are of the same classes.
  const spies = [own, ...aside].map((connection) =>
    vi.spyOn(Object.getPrototypeOf(connection) as Connection, "send"),
  );
  return {
    async during(work, kind = overData) {
      for (const spy of spies) spy.mockClear();
      await work();
      return spies
        .flatMap(({ mock }) =>
          mock.calls.map(([{ text, params }], at) => {
            return { text, params, order: mock.invocationCallOrder[at]! };
          }),
        )
        .filter(({ text }) => kind.test(text))
        .toSorted((one, other) => one.order - other.order);
    },
    async planOf({ text, params }) {
      const command = { text: `${explain[engine]} ${text}`, params, reuse: false };
      const { rows } = await own.send(command);
      return steps[engine](rows);
    },
    async close() {
      for (const spy of spies) spy.mockRestore();
      for (const connection of [own, ...aside]) await connection.close();
    },
  };
}

/**
 * On a server: runs `work` once, right after the first statement of this process whose text matches. Undone by
 * `vi.restoreAllMocks`. `url`: of the service's database.
 */
export async function afterStatement(
  url: string,
  pattern: RegExp,
  work: () => Promise<unknown>,
): Promise<void> {
  const options = { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number" } as const;
  const own = await (await openEngine(engines, url, options)).connect("read");
  const methods = Object.getPrototypeOf(own) as Connection;
  await own.close();
  const { send } = methods;
  let isDone = false;
  vi.spyOn(methods, "send").mockImplementation(async function (this: Connection, command) {
    const result = await send.call(this, command);
    if (isDone || !pattern.test(command.text)) return result;
    isDone = true;
    await work();
    return result;
  });
}

/** Reads, changes and deletes of rows; not the service's catalog queries. */
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
