/**
 * Services over a table of entries. Their process, or another one that they need, is killed at random moments of their
 * work, and started again.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { createTables } from "../contract/tables.ts";
import { startDatabase } from "../jobs/own-database.ts";
import { startWorkerProcess } from "../jobs/worker-process.ts";
import { freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession } from "../servers/session.ts";
import { startRedis } from "../stores/own-redis.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

/** What is killed. Two services share the Redis; else there is one, and with a worker it runs the imports. */
export type Victim = "service" | "worker" | "database" | "redis";

interface KilledOptions {
  /** Default: the service. */
  readonly victim?: Victim;
  /** Of the table, a number beside its key. */
  readonly column: string;
  readonly endpoint: object;
  /** More of project.json; asked for at each start. */
  readonly project?: () => object;
}

export interface KilledService {
  /** Those that run, or are just being replaced. */
  services(): readonly ServiceProcess[];
  /** Kills at that moment of the work, and starts again what was killed. The work can ask whether that has happened. */
  killDuring<T>(
    work: (service: ServiceProcess, isBack: () => boolean) => Promise<T>,
    moment: () => Promise<unknown>,
  ): Promise<T>;
  /** Past the service. */
  sql(text: string): Promise<Record<string, unknown>[]>;
}

/** Call it once, at the top of a test or of a `describe`. */
export function useKilledService(
  engine: EngineName,
  { victim = "service", column, endpoint, project }: KilledOptions,
): KilledService {
  let url = "";
  const env: Record<string, string> = { REDIS_URL: "" };
  const services: ServiceProcess[] = [];
  let kill: () => Promise<void>;
  let start: () => Promise<void>;
  /** What is to be removed, the last one first. */
  const ends: (() => Promise<unknown>)[] = [];

  const files = (): Record<string, object> => ({
    "project.json": { database: { url }, batch: { enabled: true }, ...project?.() },
    "entries.json": { tableName: "entries", ...endpoint },
  });

  async function sql(text: string): Promise<Record<string, unknown>[]> {
    const session = await openSession(engine, url);
    try {
      return await session.run(text);
    } finally {
      await session.close();
    }
  }

  async function openDatabase(): Promise<void> {
    if (victim !== "database" || engine === "sqlite") {
      const database = await freshDatabase(engine);
      url = database.url;
      ends.push(() => database.drop());
      return;
    }
    const own = await startDatabase(engine);
    url = own.url;
    ends.push(() => own.stop());
    kill = () => own.crash();
    start = () => own.start();
  }

  async function openRedis(): Promise<void> {
    const own = await startRedis();
    env["REDIS_URL"] = own.url;
    ends.push(() => own.stop());
    kill = () => own.kill();
    start = () => own.start();
  }

  async function openWorker(): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), "rowgate-test-killed-"));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    env["STORAGE_URL"] = `file:${folder}`;
    const texts = Object.entries(files()).map(
      ([name, content]) => [`test/${name}`, JSON.stringify(content)] as const,
    );
    const program = "test/jobs/hasty-worker.ts";
    const startWorker = () => startWorkerProcess({ files: new Map(texts), env, program });
    let worker = await startWorker();
    ends.push(() => worker.stop());
    kill = async () => void (await worker.end("SIGKILL"));
    start = async () => void (worker = await startWorker());
  }

  async function openServices(): Promise<void> {
    ends.push(() => Promise.all(services.map((service) => service.stop())));
    for (let count = victim === "redis" ? 2 : 1; count > 0; count--)
      services.push(await startService(files(), { env }));
    if (victim !== "service") return;
    kill = async () => {
      const { process: dying, said, stop } = services[0]!;
      const dead = once(dying, "exit");
      if (!dying.kill("SIGKILL")) throw new Error(`The service had ended before: ${said()}`);
      await dead;
      // Removes its folder.
      await stop();
    };
    start = async () => void (services[0] = await startService(files(), { env }));
  }

  beforeAll(async () => {
    await openDatabase();
    const columns = { entry_id: "key", [column]: "integer" } as const;
    for (const text of createTables(engine, [{ name: "entries", columns }])) await sql(text);
    if (victim === "redis" || victim === "worker") await openRedis();
    if (victim === "worker") await openWorker();
    await openServices();
  }, 120_000);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, 60_000);

  return {
    services: () => services,
    sql,
    async killDuring(work, moment) {
      let isBack = false;
      const working = work(services[0]!, () => isBack);
      const killing = async (): Promise<void> => {
        await moment();
        await kill();
        await start();
      };
      // The work ends too where this fails.
      await Promise.all([working, killing().finally(() => (isBack = true))]);
      return working;
    },
  };
}
