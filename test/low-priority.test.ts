/** The priority of the threads that jobs run on. */
import { getPriority } from "node:os";
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";

const program = `
  const { parentPort } = require("node:worker_threads");
  const { getPriority } = require("node:os");
  import(${JSON.stringify(new URL("../jobs/low-priority.ts", import.meta.url).href)}).then(({ lowerPriority }) => {
    lowerPriority();
    parentPort.postMessage(getPriority(0));
  });`;

test.runIf(process.platform === "linux")(
  "lowers the priority of its own thread and of no other",
  async () => {
    const before = getPriority(0);
    const thread = new Worker(program, { eval: true });
    const inThread = await new Promise<unknown>((resolve, reject) => {
      thread.once("message", resolve);
      thread.once("error", reject);
    });
    await thread.terminate();
    expect(inThread).toBe(Math.max(before, 10));
    expect(getPriority(0)).toBe(before);
  },
);
