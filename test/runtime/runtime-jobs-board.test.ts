/** The jobs board on Node, Bun and Deno, with a base path and jobs in PostgreSQL: pages, files and the list of jobs. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { freshDatabase } from "../servers/database.ts";
import { commandFor } from "./runtimes.ts";

test.each(["node", "bun", "deno"] as const)("%s shows the board and its jobs", async (runtime) => {
  const database = await freshDatabase("postgres");
  try {
    const command = commandFor(runtime, [new URL(database.url).host]);
    if (!command) throw new Error(`${runtime} is not installed`);
    const [program, ...args] = command;
    const script = join(import.meta.dirname, "jobs-board.ts");
    const { stdout } = await promisify(execFile)(program, [...args, script, database.url], {
      cwd: join(import.meta.dirname, "../.."),
      env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" },
      timeout: 45_000,
    });
    const seen = JSON.parse(stdout) as { statuses: number[]; jobs: [string, string[]][][] };
    expect(seen).toMatchObject({
      base: "/rows/jobs-board/",
      statuses: [200, 200, 404],
      isWhole: true,
    });
    expect(seen.jobs).toEqual([[["export", expect.arrayContaining(["project", "request"])]]]);
  } finally {
    await database.drop();
  }
});
