/**
 * PostgreSQL as an `Engine`: sessions (`connection.ts`), printing and values (`dialect.ts`), tables (`catalog.ts`) and
 * errors (`failure.ts`). Nothing connects before the first `connect`.
 */
import { indexFor, readPlan } from "./advice.ts";
import { readOutlines, schemasQuery } from "./outline.ts";
import type { Engine, EngineOptions } from "../engine.ts";
import { engineDefaults } from "../engine-defaults.ts";
import { kinds, outputsOf, readFolding, readQuery, readTable } from "./catalog.ts";
import type { Folding } from "./like.ts";
import { deferredQuery, namesQuery, pointingQuery } from "./catalog-queries.ts";
import { readRoutines } from "./routines.ts";
import { connectFault } from "./connect-fault.ts";
import { createConnector, formSettings } from "./connection.ts";
import { createDialect } from "./dialect.ts";
import { replication } from "./replication.ts";
import { findTextIndex } from "./full-text.ts";
import { failure, loggedMessage } from "./failure.ts";
import { createLocalSettings } from "./local-settings.ts";
import type { PostgresConnection } from "./session.ts";
import { readTarget } from "./url.ts";

/** Of messages that changes were committed; each database has its own. */
const channel = "rowgate_changes";

/**
 * `url`: postgres: or postgresql:, with one or several hosts, options of TLS (`tls.ts`) and settings of the session.
 * Rejects if it cannot be read; the server need not be reachable.
 */
export async function open(url: string, options: EngineOptions): Promise<Engine> {
  const target = readTarget(url, options);
  const localSettings = createLocalSettings(target, options.claimsSetting);
  const connector = createConnector(target, {
    openTls: options.openTls,
    ownSettings: localSettings(null),
  });
  /** Undefined until the first connection reads it. Statements are printed later, as columns come from the catalog. */
  let folding: Folding | null | undefined;

  async function connect(): Promise<PostgresConnection> {
    const connection = await connector.connect();
    if (folding !== undefined) return connection;
    try {
      folding = await readFolding(connection);
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }

  return {
    ...engineDefaults,
    name: "postgres",
    system: "postgresql",
    dialect: createDialect(options.decimals, () => folding ?? null),
    connect,
    pipelines: "all",
    localSettings,
    // Independent of the server's default: a statement sees what was committed before it, and waits for other writers.
    begin: ["begin isolation level read committed"],
    beginSnapshot: ["begin isolation level repeatable read read only"],
    beginAlone: (name) => [
      "begin isolation level read committed",
      `lock table ${name} in share row exclusive mode`,
    ],
    // The planner would read the whole table for each batch of keys. Compatible servers may lack the setting.
    beginFinding: [
      "select pg_catalog.set_config(name, '1.1', true) from pg_catalog.pg_settings where name = 'random_page_cost'",
    ],
    async foreseeCommit(connection) {
      const { rows } = await connection.send({ text: deferredQuery, params: [], reuse: true });
      if (rows.length === 0) return null;
      return async () => {
        await connection.send({ text: "set constraints all immediate", params: [], reuse: true });
      };
    },
    resettle: ["role", "search_path", ...formSettings].map((name) => `reset ${name}`),
    // Behind a pooler, the next statement may be in another session.
    reset: async (connection) => {
      if (!target.isPooled) await (connection as PostgresConnection).reset();
    },
    // A pooler hands the session that listens to somebody else.
    signals: target.isPooled
      ? null
      : {
          tell: (text) => ({
            text: `select pg_notify('${channel}', $1)`,
            params: [text],
            reuse: true,
          }),
          listen: (connection, hearing) =>
            (connection as PostgresConnection).listen(channel, hearing),
        },
    createLedger: {
      jobs: "create table if not exists rowgate_jobs (job_id varchar(64) primary key, result text, finished_at timestamptz(3))",
      requests:
        "create table if not exists rowgate_requests (request_id varchar(64) primary key, body_hash varchar(64) not null, claim varchar(36) not null, started_at timestamptz(3) not null, answer text, unique (started_at, request_id))",
      changes:
        "create table if not exists rowgate_changes (change_id bigint generated always as identity primary key, seq bigint, write_id varchar(36), at timestamptz(3) not null, table_name varchar(255) not null, record_hash varchar(16) not null, record_key text not null, endpoint varchar(255) not null, action varchar(64) not null, kind varchar(8) not null, by_user text, reason text, request_id text not null, old_values text, new_values text, scope_values text, unique (table_name, record_hash, change_id), unique (table_name, change_id), unique (seq, change_id), unique (write_id, change_id))",
      change_order:
        "create table if not exists rowgate_change_order (name varchar(16) primary key, log_id varchar(36) not null, last_seq bigint not null, first_seq bigint not null)",
      deliveries:
        "create table if not exists rowgate_deliveries (delivery_id bigint generated always as identity primary key, message_id varchar(36) not null unique, project varchar(255) not null, webhook varchar(255) not null, lane varchar(16) not null, state varchar(8) not null, due_at timestamptz(3) not null, claim varchar(36), tries bigint not null, created_at timestamptz(3) not null, failed_at timestamptz(3), reason text, body text not null, unique (project, webhook, state, due_at, delivery_id), unique (lane, state, delivery_id))",
      numbers:
        "create table if not exists rowgate_numbers (counter_id varchar(64) primary key, table_name varchar(255) not null, column_name varchar(255) not null, pattern text not null, by_values text, last_number bigint not null)",
      files:
        "create table if not exists rowgate_files (file_id varchar(36) primary key, project varchar(255) not null, table_name varchar(255) not null, column_name varchar(255) not null, owner_hash varchar(64), record_hash varchar(16), name text not null, media_type varchar(255), bytes bigint, sha256 varchar(64), created_at timestamptz(3) not null, expires_at timestamptz(3), unique (project, expires_at, file_id), unique (owner_hash, file_id))",
    },
    replication,
    failure,
    loggedMessage,
    connectFault: (error) => connectFault(error, connector.place),
    table: ({ connection }, schema, name) =>
      readTable(connection as PostgresConnection, schema, name),
    textIndex: (connection, table, wish) => findTextIndex(connection, table, wish, folding ?? null),
    namesQuery,
    schemasQuery,
    referencesQuery: pointingQuery,
    plan: readPlan,
    indexFor,
    outlines: readOutlines,
    routines: readRoutines,
    query: (connection, text) => readQuery(connection as PostgresConnection, text),
    outputs: outputsOf,
    kinds,
  };
}
