import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createTaskList } from "../../../jobs/queue/local/task-list.ts";

/** A list whose tasks end when the test ends them. */
function openList(atOnce = 2, turnOf?: (task: string) => readonly [string, string]) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const tasks = createTaskList<string>({
    atOnce,
    ...(turnOf && { turnOf }),
    perform(task) {
      begun.push(task);
      return new Promise((resolve) => ends.set(task, resolve));
    },
  });
  const end = async (task: string) => {
    ends.get(task)!();
    await pause(0);
  };
  return { tasks, begun, end };
}

describe("a list of tasks", () => {
  test("performs nothing before its start, then so many at a time, in their order", async () => {
    const { tasks, begun, end } = openList(2);
    for (const task of ["b", "c", "d"]) tasks.add(task);
    tasks.addFirst(["a"]);
    expect(begun).toEqual([]);
    tasks.start();
    expect(begun).toEqual(["a", "b"]);
    await end("b");
    expect(begun).toEqual(["a", "b", "c"]);
  });

  test("lets projects take turns, and callers within them", async () => {
    const { tasks, begun, end } = openList(1, (task) => [task[0]!, task[1]!]);
    // Project, caller and number.
    for (const task of ["xa1", "xa2", "xa3", "xb1", "xb2", "ya1", "ya2"]) tasks.add(task);
    tasks.start();
    for (let at = 0; at < 6; at++) await end(begun.at(-1)!);
    expect(begun).toEqual(["xa1", "ya1", "xb1", "ya2", "xa2", "xb2", "xa3"]);
  });

  test("adds a task when its time has come", async () => {
    const { tasks, begun } = openList();
    tasks.start();
    tasks.addLater("a", 5);
    expect(begun).toEqual([]);
    await expect.poll(() => begun).toEqual(["a"]);
  });

  test("drops what waits for its time, and goes on with the rest", async () => {
    const { tasks, begun } = openList();
    tasks.start();
    tasks.addLater("a", 1);
    tasks.dropDelayed();
    tasks.addLater("b", 1);
    tasks.add("c");
    await pause(20);
    expect(begun).toEqual(["c"]);
  });

  test("begins nothing after its stop, whenever it is started", async () => {
    const { tasks, begun, end } = openList(1);
    tasks.start();
    tasks.add("a");
    tasks.add("b");
    tasks.stop();
    await end("a");
    tasks.start();
    tasks.add("c");
    expect(begun).toEqual(["a"]);
  });

  test("is idle when the last task has ended, also one that was added meanwhile", async () => {
    const { tasks, end } = openList(1);
    tasks.start();
    tasks.add("a");
    let isIdle = false;
    const idle = tasks.idle().then(() => (isIdle = true));
    tasks.add("b");
    await end("a");
    expect(isIdle).toBe(false);
    await end("b");
    await idle;
  });
});
