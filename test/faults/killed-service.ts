/** A service over a table of entries that is killed at random moments of its work, and started again. */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";
import { createTables } from "../contract/tables.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { type EngineName, openSession, type PlainSession } from "../servers/session.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

interface KilledOptions {
  /** Of the table, a number beside its key. */
  readonly column: string;
  readonly endpoint: object;
  /** More of project.json; asked for at each start. */
  readonly project?: () => object;
}

export interface KilledService {
  /** The service that runs now. */
  running(): Promise<ServiceProcess>;
  /** Kills the service within that time after the work began, and starts it again when the work has ended. */
  killDuring<T>(work: (service: ServiceProcess) => Promise<T>, withinMs: number): Promise<T>;
  /** Past the service. */
  sql(text: string): Promise<Record<string, unknown>[]>;
}

/** Call it once, at the top of a test. */
export function useKilledService(
  engine: EngineName,
  { column, endpoint, project }: KilledOptions,
): KilledService {
  let database: FreshDatabase;
  let session: PlainSession;
  let service: ServiceProcess | undefined;

  const running = async (): Promise<ServiceProcess> =>
    (service ??= await startService({
      "project.json": {
        database: { url: database.url },
        batch: { enabled: true },
        ...project?.(),
      },
      "entries.json": { tableName: "entries", ...endpoint },
    }));

  beforeAll(async () => {
    database = await freshDatabase(engine);
    session = await openSession(engine, database.url);
    const columns = { entry_id: "key", [column]: "integer" } as const;
    for (const text of createTables(engine, [{ name: "entries", columns }]))
      await session.run(text);
  }, 60_000);
  afterAll(async () => {
    await service?.stop();
    await session?.close();
    await database?.drop();
  });

  return {
    running,
    sql: (text) => session.run(text),
    async killDuring(work, withinMs) {
      const dying = await running();
      const dead = new Promise((resolve) => dying.process.once("exit", resolve));
      const working = work(dying);
      await pause(Math.random() * withinMs);
      dying.process.kill("SIGKILL");
      const result = await working;
      await dead;
      await dying.stop().catch(() => undefined);
      service = undefined;
      await running();
      return result;
    },
  };
}
