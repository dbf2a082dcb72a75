/** The priority of the threads that jobs run on, and their pauses. */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, getPriority } from "node:os";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { expect, test, vi } from "vitest";
import { createPauses } from "../../../jobs/thread/low-priority.ts";

const module = JSON.stringify(
  new URL("../../../jobs/thread/low-priority.ts", import.meta.url).href,
);

const threadProgram = `
  const { parentPort } = require("node:worker_threads");
  const { getPriority } = require("node:os");
  import(${module}).then(({ lowerPriority }) => {
    lowerPriority();
    parentPort.postMessage(getPriority(0));
  });`;

test.runIf(process.platform === "linux")(
  "lowers the priority of its own thread, and of none that answers requests",
  async () => {
    const before = getPriority(0);
    const thread = new Worker(threadProgram, { eval: true });
    const inThread = await new Promise<unknown>((resolve, reject) => {
      thread.once("message", resolve);
      thread.once("error", reject);
    });
    await thread.terminate();
    expect(inThread).toBe(Math.max(before, 10));
    expect(getPriority(0)).toBe(before);
  },
);

const serviceProgram = `
  import { readdirSync, readFileSync } from "node:fs";
  import { stat } from "node:fs/promises";
  import { getPriority } from "node:os";
  import { lowerPriority } from ${module};
  // The pool has no threads before its first work.
  await stat("/");
  lowerPriority();
  const nameOf = (thread) => readFileSync(\`/proc/self/task/\${thread}/comm\`, "utf8").trim();
  console.log(JSON.stringify(readdirSync("/proc/self/task").map((thread) => [nameOf(thread), getPriority(Number(thread))])));`;

test.runIf(process.platform === "linux")(
  "lowers the priority of the helpers that compile, collect garbage and compress for it",
  async () => {
    const program = ["--input-type=module", "--eval", serviceProgram];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    const threads = JSON.parse(stdout) as [string, number][];
    const low = Math.max(getPriority(0), 10);
    for (const helper of ["V8Worker", "libuv-worker"]) {
      const own = threads.filter(([name]) => name === helper);
      expect(own.length).toBeGreaterThan(0);
      expect(new Set(own.map(([, priority]) => priority))).toEqual(new Set([low]));
    }
  },
);

const processProgram = `
  import { readdirSync } from "node:fs";
  import { getPriority } from "node:os";
  import { lowerPriorityOfProcess } from ${module};
  lowerPriorityOfProcess();
  console.log(JSON.stringify(readdirSync("/proc/self/task").map((thread) => getPriority(Number(thread)))));`;

test.runIf(process.platform === "linux")(
  "lowers the priority of all threads of a worker's process",
  async () => {
    const program = ["--input-type=module", "--eval", processProgram];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    const priorities = JSON.parse(stdout) as number[];
    expect(priorities.length).toBeGreaterThan(1);
    expect(new Set(priorities)).toEqual(new Set([Math.max(getPriority(0), 10)]));
  },
);

test.runIf(process.platform === "linux")(
  "a job pauses while it has to wait for a processor",
  async () => {
    const others = Array.from(
      { length: 2 * availableParallelism() },
      () => new Worker("for (;;);", { eval: true }),
    );
    await Promise.all(others.map((other) => once(other, "online")));
    const sleeps = vi.spyOn(Atomics, "wait");
    try {
      const pause = createPauses();
      const endMs = performance.now() + 10_000;
      while (sleeps.mock.calls.length < 10 && performance.now() < endMs) pause();
      expect(sleeps.mock.calls.length).toBe(10);
      expect(sleeps.mock.results.map(({ value }) => value)).toEqual(Array(10).fill("timed-out"));
    } finally {
      sleeps.mockRestore();
      await Promise.all(others.map((other) => other.terminate()));
    }
  },
);
