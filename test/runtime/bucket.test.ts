/** Files in a bucket on Node, Bun and Deno: a large one is streamed in both directions. Workers have separate tests. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { runAside } from "../running/run-aside.ts";
import { startBucket } from "../storage/own-bucket.ts";
import { commandFor, type Runtime } from "./runtimes.ts";
import { openForTests } from "../contract/harness.ts";

const bucket = openForTests(startBucket);

test.each<Runtime>(["node", "bun", "deno"])(
  "20 MB go into a bucket and back on %s",
  async (name) => {
    const { url, keys } = bucket.address;
    const [program, ...args] = commandFor(name, [new URL(url).host])!;
    const script = join(import.meta.dirname, "../storage/large-file.ts");
    const { stdout, stderr, status } = await runAside(program, [
      ...args,
      script,
      url,
      keys.accessKeyId,
      "20",
    ]);
    expect([status, stderr]).toEqual([0, ""]);
    expect(Number(stdout)).toBeGreaterThan(0);
  },
);
