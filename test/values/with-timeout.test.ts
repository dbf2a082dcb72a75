import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { withTimeout } from "../../core/values/with-timeout.ts";

const never = new Promise<never>(() => {});
const late = () => "late";
const refuse = () => {
  throw new Error("late");
};

describe("withTimeout", () => {
  test("settles as the work does while there is time", async () => {
    const timeoutMs = 10_000;
    expect(await withTimeout(Promise.resolve(1), { timeoutMs, onTimeout: late })).toBe(1);
    const failing = Promise.reject(new Error("work"));
    await expect(withTimeout(failing, { timeoutMs, onTimeout: late })).rejects.toThrow("work");
  });

  test("gives what onTimeout gives when the time is over, or rejects as it throws", async () => {
    expect(await withTimeout(never, { timeoutMs: 1, onTimeout: late })).toBe("late");
    await expect(withTimeout(never, { timeoutMs: 1, onTimeout: refuse })).rejects.toThrow("late");
  });

  test("drops an error that comes too late", async () => {
    const work = pause(5).then(() => {
      throw new Error("work");
    });
    expect(await withTimeout(work, { timeoutMs: 1, onTimeout: late })).toBe("late");
    await pause(20);
  });

  test("rejects with the reason of its signal, aborted before or meanwhile", async () => {
    const reason = new Error("ended");
    const stop = new AbortController();
    const options = { timeoutMs: 10_000, onTimeout: late, signal: stop.signal };
    const waiting = withTimeout(never, options);
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(withTimeout(never, options)).rejects.toBe(reason);
  });

  test("leaves no timer behind that keeps the process alive", async () => {
    const timers = () =>
      process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    await withTimeout(Promise.resolve(1), { timeoutMs: 60_000, onTimeout: late });
    expect(timers()).toBe(before);
  });
});
