/** The same sources on Node, Bun and Deno, with SQLite and PostgreSQL: `smoke.ts` prints the same document on all. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { freshDatabase } from "../servers/database.ts";
import { openSession, type EngineName } from "../servers/session.ts";
import { commandFor, type Runtime } from "./runtimes.ts";

interface Seen {
  action: string;
  status: number;
  body: { success: boolean; data?: unknown };
}

const engines: readonly EngineName[] = ["sqlite", "postgres"];
let onNode: Record<string, Seen[]>;

beforeAll(async () => {
  onNode = await visitsUnder("node");
}, 60_000);

test.each(engines)("the service does every basic action on Node over %s", (engine) => {
  const outcomes = onNode[engine]?.map(({ action, status }) => `${action} ${status}`);
  expect(outcomes, JSON.stringify(onNode[engine], null, 2)).toEqual([
    "create 201",
    "create 409",
    "create 201",
    "read 200",
    "read 200",
    "read 200",
    "first 200",
    "first 400",
    "update 200",
    "adjust 200",
    "adjust 409",
    "delete 200",
  ]);
});

test("SQLite and PostgreSQL give the same answers", () => {
  expect(onNode.sqlite).toEqual(onNode.postgres);
});

test.each(["bun", "deno"] as const)("%s gives the same answers as Node", async (runtime) => {
  expect(await visitsUnder(runtime)).toEqual(onNode);
});

async function visitsUnder(runtime: Runtime): Promise<Record<string, Seen[]>> {
  const databases = await Promise.all(engines.map(openGoods));
  try {
    const urls = databases.map(({ url }) => url);
    const hosts = urls.filter((url) => url.includes("//")).map((url) => new URL(url).host);
    const command = commandFor(runtime, hosts);
    if (!command) throw new Error(`${runtime} is not installed`);
    const [program, ...args] = command;
    const byEngine = JSON.stringify(
      Object.fromEntries(engines.map((name, at) => [name, urls[at]])),
    );
    const smoke = join(import.meta.dirname, "smoke.ts");
    const { stdout } = await promisify(execFile)(program, [...args, smoke, byEngine], {
      cwd: join(import.meta.dirname, "../.."),
      env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" },
      timeout: 45_000,
    });
    return JSON.parse(withoutChance(stdout)) as Record<string, Seen[]>;
  } finally {
    await Promise.all(databases.map(({ drop }) => drop()));
  }
}

async function openGoods(engine: EngineName) {
  const database = await freshDatabase(engine);
  const session = await openSession(engine, database.url);
  const [createGoods = ""] = createTables(engine, [
    {
      name: "goods",
      columns: {
        id: "key",
        name: { type: "text(40)", notNull: true },
        price: "decimal(10,2)",
        stock: { type: "integer", default: "0", notNull: true },
        active: "boolean",
        big: "bigint",
        day: "date",
        made: "timestamp",
        created_at: "timestamp",
        created_by: "text(60)",
        updated_at: "timestamp",
        updated_by: "text(60)",
      },
    },
  ]);
  await session.run(createGoods);
  await session.close();
  return database;
}

/** Keys that the service made and the time of day are different on each run. */
function withoutChance(text: string): string {
  const given = "2026-02-28T12:30:00.250Z";
  return text
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, "<key>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (time) =>
      time === given ? time : "<time>",
    );
}
