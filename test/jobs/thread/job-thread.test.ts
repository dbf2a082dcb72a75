/** What the jobs thread loads: modules that the service loads a second time with its first job, so no HTTP code. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../../..");

/** Prints the URLs of all modules that the jobs thread loads. */
const program = `
  import { registerHooks } from "node:module";
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  await import("./app/start/opening/open-job-world.ts");
  await import("./jobs/run-job.ts");
  console.log(JSON.stringify(loaded));`;

test("the thread of jobs loads what jobs need, and nothing of HTTP", async () => {
  const args = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded.filter((url) => url.includes("/jobs/import/"))).not.toEqual([]);
  expect(loaded.filter((url) => /\/app\/http\/|node_modules\/hono\//.test(url))).toEqual([]);
});
