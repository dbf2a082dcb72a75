/**
 * A separate database for each test file, so that files can run at the same time and leave nothing behind. The servers
 * come from the run (`test/run.ts` provides their URLs); SQLite needs none.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import { labels } from "./choose.ts";
import { openSession, type EngineName } from "./session.ts";
import type { ServerUrls } from "./start.ts";

export interface FreshDatabase {
  /** As project.json takes it. */
  readonly url: string;
  /** Removes the database, even with open connections. */
  drop(): Promise<void>;
}

/** `locale`: of the letters of a PostgreSQL database, which otherwise has the server's. */
export async function freshDatabase(engine: EngineName, locale?: string): Promise<FreshDatabase> {
  if (engine === "sqlite") return freshFile();
  const server = inject("serverUrls")?.[engine];
  if (!server) {
    throw new Error(
      `No ${labels[engine].title} was started for this run: use "npm test -- <file>".`,
    );
  }
  const name = `rowgate_test_${randomUUID().replaceAll("-", "").slice(0, 12)}`;
  await create(engine, server, name, locale);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => runOnce(engine, server, removal[engine](name)) };
}

async function create(
  engine: "postgres" | "mysql",
  server: string,
  name: string,
  locale?: string,
): Promise<void> {
  if (engine === "postgres") {
    const letters = locale === undefined ? "" : ` LC_COLLATE '${locale}' LC_CTYPE '${locale}'`;
    const text = `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'${letters}`;
    // Copying the template's files takes a third of the time of logging its pages. PostgreSQL 14 always copies files.
    return runOnce(engine, server, `${text} STRATEGY file_copy`).catch(() =>
      runOnce(engine, server, text),
    );
  }
  // Text that compares by bytes, trailing blanks included, has another name on MariaDB than on MySQL.
  const text = `CREATE DATABASE ${name} CHARACTER SET utf8mb4 COLLATE`;
  await runOnce(engine, server, `${text} utf8mb4_nopad_bin`).catch(() =>
    runOnce(engine, server, `${text} utf8mb4_0900_bin`),
  );
}

const removal = {
  postgres: (name: string) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
  mysql: (name: string) => `DROP DATABASE IF EXISTS ${name}`,
};

/** In a session of its own. */
export async function runOnce(engine: EngineName, url: string, text: string): Promise<void> {
  const session = await openSession(engine, url);
  try {
    await session.run(text);
  } finally {
    await session.close();
  }
}

async function freshFile(): Promise<FreshDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-sqlite-"));
  const path = join(folder, "test.db");
  // An empty file is an empty database; the service creates none.
  await writeFile(path, "");
  return { url: `sqlite:${path}`, drop: () => rm(folder, { recursive: true, force: true }) };
}

declare module "vitest" {
  interface ProvidedContext {
    /** The engine of the Vitest project: only in `sqlite`, `postgres` and `mysql`. */
    engine: EngineName;
    /** The servers that the run has; absent when Vitest was started without `test/run.ts`. */
    serverUrls: ServerUrls | undefined;
  }
}
