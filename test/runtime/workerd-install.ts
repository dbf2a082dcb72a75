/** Installs wrangler if needed and runs one workerd for the contract tests. Vitest calls it once per project. */
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { npmCi } from "../running/npm-ci.ts";
import { authority } from "./tls-door.ts";
import { hasWrangler, startWorkerd, workers } from "./workerd.ts";

export default async function install(project: TestProject): Promise<() => Promise<void>> {
  if (!hasWrangler()) {
    console.log("Installing wrangler for the tests of Workers …");
    await npmCi(workers);
  }
  process.env["NODE_EXTRA_CA_CERTS"] = authority;
  const { url, stop } = await startWorkerd(join(workers, "wrangler.toml"));
  project.provide("workerdUrl", url);
  return stop;
}
