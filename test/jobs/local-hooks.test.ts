/** Hooks in files: how often a call is made, when it is given up, and what a disk that takes nothing means. */
import { mkdtemp, readdir, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { HookFailure, HookQueue, MakeCall } from "../../core/workflow/hook-queue.ts";
import { limits } from "../../core/values/limits.ts";
import type { HookCall } from "../../core/plans/hook-call.ts";
import type { Log } from "../../core/plans/log-port.ts";
import { createFolderFiles } from "../../jobs/files/folder-files.ts";
import { createLocalHooks } from "../../jobs/queue/local/local-hooks.ts";

let folder: string;
let opened: HookQueue[] = [];
let lines: string[] = [];
const line = (_: object, message: string) => void lines.push(message);
const log: Log = { debug: line, info: line, warn: line, error: line };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-hook-files-"));
  lines = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const queue of opened.splice(0)) await queue.stop(0);
  await rm(folder, { recursive: true, force: true });
});

const newCall = (): HookCall => ({
  id: randomUUID(),
  place: { project: "p", endpoint: "e", status: "s", hook: "onAfter:h", index: 0 },
  label: "e onAfter:h",
  requestId: "r",
  request: { method: "POST", url: "/api/a/b", headers: {}, body: null, timeoutMs: 1 },
});
function open(makeCall: MakeCall, root = folder): HookQueue {
  const queue = createLocalHooks({ files: createFolderFiles(root), makeCall, log });
  opened.push(queue);
  queue.start();
  return queue;
}
const filesLeft = () => readdir(join(folder, "hooks")).catch(() => []);
const failure = (isFinal = false): HookFailure => ({ error: new Error("no"), isFinal });

describe("a call", () => {
  test("is made once, and its file is gone then", async () => {
    const made: string[] = [];
    const queue = open(async ({ id }) => (made.push(id), null));
    const call = newCall();
    await queue.add(call);
    await expect.poll(filesLeft).toEqual([]);
    expect(made).toEqual([call.id]);
  });

  test("that fails for good is made once, and its file is gone then", async () => {
    let made = 0;
    const queue = open(async () => ((made += 1), failure(true)));
    await queue.add(newCall());
    await expect.poll(filesLeft).toEqual([]);
    expect([made, lines]).toEqual([1, ["A hook failed for the last time; it is not tried again"]]);
    const none = { waiting: 0, active: 0, delayed: 0, completed: 0 };
    expect(await queue.counts()).toEqual({ ...none, failed: 1 });
  });

  test("that fails again and again is given up after so many tries, over restarts too", async () => {
    vi.spyOn(Math, "random").mockReturnValue(-1);
    let made = 0;
    const makeCall: MakeCall = async () => ((made += 1), failure());
    const first = open(makeCall);
    await first.add(newCall());
    await expect.poll(() => made).toBeGreaterThan(3);
    await first.stop(performance.now() + 1_000);
    open(makeCall);
    await expect.poll(filesLeft).toEqual([]);
    expect(lines.at(-1)).toBe("A hook failed for the last time; it is not tried again");
    expect([limits.hookTriesMax, limits.hookTriesMax + 1]).toContain(made);
  });

  test("that is broken off by the end of the process is left, and counts as no try", async () => {
    const queue = open(
      (_, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve(failure()))),
    );
    await queue.add(newCall());
    await queue.stop(0);
    expect(await filesLeft()).toHaveLength(1);
    expect(lines).toEqual([]);
    open(async () => null);
    await expect.poll(filesLeft).toEqual([]);
  });

  test("is refused when the disk does not take it, and is not made then", async () => {
    await writeFile(join(folder, "hooks"), "no folder");
    let made = 0;
    const queue = open(async () => ((made += 1), null));
    await expect(queue.add(newCall())).rejects.toThrow();
    await sleep(50);
    expect(made).toBe(0);
  });

  test("is refused once the queue was told to stop", async () => {
    const queue = open(async () => null);
    await queue.stop(0);
    await expect(queue.add(newCall())).rejects.toThrow("stopping");
  });
});

test("many calls are made a few at a time, and the stop waits for all that are due", async () => {
  let running = 0;
  let most = 0;
  let made = 0;
  const queue = open(async () => {
    most = Math.max(most, ++running);
    await sleep(20);
    running -= 1;
    made += 1;
    return null;
  });
  await Promise.all(Array.from({ length: 100 }, () => queue.add(newCall())));
  await queue.stop(performance.now() + 5_000);
  expect({ most, made }).toEqual({ most: limits.hookCallsAtOnceMax, made: 100 });
});

test("a file that is no call is left where it is, and said", async () => {
  await mkdir(join(folder, "hooks"));
  await writeFile(join(folder, "hooks", "other.json"), "{}");
  open(async () => null);
  await expect.poll(() => lines).toEqual(["The file of a hook call cannot be read"]);
  expect(await filesLeft()).toEqual(["other.json"]);
});
