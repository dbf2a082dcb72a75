/** What the thread of jobs loads: each service loads it once more with its first job, so nothing of HTTP belongs there. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** Prints the addresses of all modules that the thread's world loads. */
const program = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  await import("./app/start/open-job-world.ts");
  await import("./jobs/run-job.ts");
  console.log(JSON.stringify(loaded));`;

test("the thread of jobs loads what jobs need, and nothing of HTTP", async () => {
  const args = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded.filter((url) => url.includes("/jobs/import/"))).not.toEqual([]);
  expect(loaded.filter((url) => /\/app\/http\/|node_modules\/hono\//.test(url))).toEqual([]);
});
