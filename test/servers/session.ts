/**
 * One plain session with a database, without Rowgate. Tests use it to create databases and tables and to read what is
 * stored. Rows are as the driver returns them, with text for numbers that a double cannot hold.
 */
import { randomUUID } from "node:crypto";
import Database from "better-sqlite3";
import { Redis } from "ioredis";
import mysql from "mysql2/promise";
import postgres from "postgres";
import type { ServerName } from "./choose.ts";

export type EngineName = "postgres" | "mysql" | "sqlite";

export interface PlainSession {
  /** Runs one statement or several; the rows of a single SELECT, otherwise an empty list. */
  run(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** `url` as in project.json. Rejects with the driver's error. */
export async function openSession(engine: EngineName, url: string): Promise<PlainSession> {
  if (engine === "postgres") return openPostgres(url);
  if (engine === "mysql") return openMysql(url);
  return openSqlite(url);
}

/** Resolves when the server answers and lets the tests do what they need; rejects with the reason. */
export async function tryServer(name: ServerName, url: string): Promise<void> {
  if (name === "redis") return tryRedis(url);
  const session = await openSession(name, url);
  try {
    const database = `rowgate_test_${randomUUID().slice(0, 8)}`;
    await session.run(`CREATE DATABASE ${database}`);
    await session.run(`DROP DATABASE ${database}`);
  } finally {
    await session.close();
  }
}

function openPostgres(url: string): PlainSession {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} });
  return {
    run: async (text) => [...(await sql.unsafe(text))],
    close: () => sql.end({ timeout: 1 }),
  };
}

async function openMysql(url: string): Promise<PlainSession> {
  const connection = await mysql.createConnection({
    uri: url,
    connectTimeout: 5000,
    multipleStatements: true,
    supportBigNumbers: true,
    dateStrings: true,
    timezone: "Z",
    charset: "utf8mb4",
  });
  return {
    async run(text) {
      const [rows] = await connection.query(text);
      const isSelect = Array.isArray(rows) && !Array.isArray(rows[0]);
      return isSelect ? (rows as Record<string, unknown>[]) : [];
    },
    close: () => connection.end(),
  };
}

function openSqlite(url: string): PlainSession {
  const database = new Database(url.slice("sqlite:".length), { timeout: 5000 });
  // A test's tables need not outlive the machine.
  database.pragma("synchronous = OFF");
  return {
    async run(text) {
      if (/^\s*(select|with|pragma)\b/i.test(text)) {
        return database.prepare(text).all() as Record<string, unknown>[];
      }
      database.exec(text);
      return [];
    },
    close: async () => void database.close(),
  };
}

async function tryRedis(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 5000,
    retryStrategy: () => null,
  });
  // Without a listener, a refused connection would be printed. `connect` rejects with it anyway.
  redis.on("error", () => {});
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}
