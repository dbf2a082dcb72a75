/** A server and one that follows it, of a test's own: PostgreSQL by streaming its log, MariaDB by GTIDs. */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { runOnce } from "./database.ts";
import { type Started, startPrograms } from "./start.ts";

export interface Replicated {
  /** Of a database on each of them. */
  readonly primaryUrl: string;
  readonly replicaUrl: string;
  /** Nothing that is written from now on reaches the replica, until `goOn`. */
  pause(): Promise<void>;
  goOn(): Promise<void>;
  stop(): Promise<void>;
}

type ReplicatedName = "postgres" | "mysql";

const database = "replicated";

export async function openReplicated(name: ReplicatedName): Promise<Replicated> {
  const primary = await startPrograms(name, argsOf[name].primary);
  const replica = await startReplica(name, primary.url).catch(async (error: unknown) => {
    await primary.stop();
    throw error;
  });
  await runOnce(name, primary.url, `create database ${database}`);
  const at = ({ url }: Started): string => Object.assign(new URL(url), { pathname: database }).href;
  return {
    primaryUrl: at(primary),
    replicaUrl: at(replica),
    pause: () => runOnce(name, replica.url, pausing[name].pause),
    goOn: () => runOnce(name, replica.url, pausing[name].goOn),
    async stop() {
      await replica.stop();
      await primary.stop();
    },
  };
}

const argsOf = {
  postgres: { primary: ["--wal_level=replica", "--max_wal_senders=4"] },
  mysql: { primary: ["--log-bin=binlog", "--server-id=1", "--binlog-format=ROW"] },
} as const;

const pausing = {
  postgres: { pause: "select pg_wal_replay_pause()", goOn: "select pg_wal_replay_resume()" },
  mysql: { pause: "stop slave sql_thread", goOn: "start slave sql_thread" },
} as const;

async function startReplica(name: ReplicatedName, primaryUrl: string): Promise<Started> {
  if (name === "postgres")
    return startPrograms(name, [], {
      fill: ([initdb = ""], folder) => [
        join(dirname(realpathSync(initdb)), "pg_basebackup"),
        `--pgdata=${join(folder, "data")}`,
        `--dbname=${primaryUrl}`,
        "--write-recovery-conf",
        "--wal-method=stream",
        "--checkpoint=fast",
        "--no-sync",
      ],
      isUsable: (url) => runOnce(name, url, "select 1"),
    });
  const replica = await startPrograms(name, [
    "--server-id=2",
    "--read-only=ON",
    "--log-bin=binlog",
  ]);
  const { hostname, port } = new URL(primaryUrl);
  await runOnce(
    name,
    replica.url,
    // What the test for readiness wrote on the replica itself is no part of what it follows.
    `set global gtid_slave_pos = ''; change master to master_host = '${hostname}', master_port = ${port},
      master_user = 'root', master_use_gtid = slave_pos, master_connect_retry = 1; start slave`,
  );
  return replica;
}
