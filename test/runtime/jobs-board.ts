/**
 * Prints as JSON the answers of the jobs board, with one job in the database that the first argument names.
 * `runtime-jobs-board.test.ts` runs it under Node, Bun and Deno.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import Database from "better-sqlite3";
import { createLog } from "../../app/start/observing/log.ts";
import { openService } from "../../app/start/servers/wire.ts";

const folder = mkdtempSync(join(tmpdir(), "rowgate-test-board-"));
const database = new Database(join(folder, "test.db"));
database.exec("create table goods (id text primary key)");
database.close();

const token = "0123456789abcdef";
const service = await openService({
  files: new Map([
    [
      "test/project.json",
      JSON.stringify({ database: { url: `sqlite:${join(folder, "test.db")}` } }),
    ],
    ["test/goods.json", '{"tableName":"goods","action":{"export":true}}'],
  ]),
  env: {
    STORAGE_URL: `file:${folder}`,
    JOBS_DATABASE_URL: process.argv[2],
    JOBS_BOARD_TOKEN: token,
  },
  log: createLog("silent"),
  basePath: "/rows",
});
await service.ready;
await service.app.request("/rows/api/test/goods/export", { method: "POST" });

const visit = (path: string) =>
  service.app.request(`/rows/jobs-board${path}`, { headers: { Authorization: `Bearer ${token}` } });
const page = await (await visit("")).text();
const base = /<base href="([^"]+)"/.exec(page)?.[1];
const script = /src="(static\/js\/main[^"]+)"/.exec(page)?.[1] ?? "";
const files = [script, "static/favicon.ico", "static/nothing.js"];
const statuses = await Promise.all(files.map(async (name) => (await visit(`/${name}`)).status));
const list = await visit(
  "/api/queues?activeQueue=rowgate&status=prioritized&page=1&jobsPerPage=10",
);
const { queues } = (await list.json()) as { queues: { jobs: { name: string; data: object }[] }[] };
const jobs = queues.map((queue) => queue.jobs.map(({ name, data }) => [name, Object.keys(data)]));
const bytes = (await (await visit(`/${script}`)).arrayBuffer()).byteLength;
await service.close();
rmSync(folder, { recursive: true });
console.log(JSON.stringify({ base, statuses, jobs, isWhole: bytes > 10_000 }));
process.exit(0);
