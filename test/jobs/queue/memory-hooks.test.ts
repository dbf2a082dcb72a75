/** Non-blocking hook calls: made soon, retried on failure, a few at a time, and given up when the service ends. */
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createMemoryHooks } from "../../../jobs/queue/local/memory-hooks.ts";
import { attempt } from "../../../app/outbound/attempt.ts";
import { limits } from "../../../core/values/limits.ts";
import type { HookCall } from "../../../core/plans/hook-call.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import type { Outbound, OutboundRequest } from "../../../core/plans/outbound-port.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const callTo = (url: string): HookCall => ({
  id: url,
  place: { project: "test", endpoint: "orders", status: "sent", hook: "onAfter:tell", index: 0 },
  label: `orders onAfter:${url}`,
  requestId: "r1",
  request: { method: "POST", url, headers: { "Idempotency-Key": url }, body: null, timeoutMs: 1 },
});

/** An Outbound that answers in turn, the last answer again and again. */
function answering(...statuses: (number | "breaks" | "hangs")[]) {
  const sent: OutboundRequest[] = [];
  const outbound: Outbound = {
    async send(request, signal) {
      const answer = statuses[Math.min(sent.length, statuses.length - 1)] ?? 200;
      sent.push(request);
      if (answer === "breaks") throw new Error("broke");
      if (answer !== "hangs") return { status: answer, text: "" };
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("ended")));
      });
    },
  };
  return { sent, outbound };
}

function lines() {
  const written: string[] = [];
  const line = (_: object, message: string) => void written.push(message);
  const log: Log = { debug: line, info: line, warn: line, error: line };
  return { written, log };
}

const openHooks = (outbound: Outbound, log: Log) =>
  createMemoryHooks({ log, makeCall: (call, signal) => attempt(outbound, call.request, signal) });

const dayMs = 86_400_000;

describe("a call", () => {
  test("that succeeds is made once", async () => {
    const { sent, outbound } = answering(204);
    openHooks(outbound, lines().log).add([callTo("a")]);
    await vi.advanceTimersByTimeAsync(dayMs);
    expect(sent).toHaveLength(1);
  });

  test.each([["breaks"], [500], [503], [408], [429]] as const)(
    "that ends with %s is made again, with the same key, until it succeeds",
    async (first) => {
      const { sent, outbound } = answering(first, 200);
      openHooks(outbound, lines().log).add([callTo("a")]);
      await vi.advanceTimersByTimeAsync(limits.hookRetryFirstMs - 1);
      expect(sent).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(sent).toHaveLength(2);
      expect(sent[1]).toEqual(sent[0]);
    },
  );

  test.each([[302], [400], [404], [422]])("that ends with %i is not made again", async (status) => {
    const { sent, outbound } = answering(status);
    const { written, log } = lines();
    openHooks(outbound, log).add([callTo("a")]);
    await vi.advanceTimersByTimeAsync(dayMs);
    expect(sent).toHaveLength(1);
    expect(written).toEqual(["A hook failed for the last time; it is not tried again"]);
  });

  test("that always fails is given up after its last try", async () => {
    const { sent, outbound } = answering("breaks");
    const { written, log } = lines();
    openHooks(outbound, log).add([callTo("a")]);
    await vi.advanceTimersByTimeAsync(dayMs);
    expect(sent).toHaveLength(limits.hookOwnTriesMax);
    expect(written.at(-1)).toBe("A hook failed for the last time; it is not tried again");
  });
});

describe("many calls", () => {
  test("are made a few at a time, and all of them", async () => {
    let running = 0;
    let most = 0;
    let made = 0;
    const outbound: Outbound = {
      async send() {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 10));
        running--;
        made++;
        return { status: 200, text: "" };
      },
    };
    const background = openHooks(outbound, lines().log);
    for (let at = 0; at < 100; at++) background.add([callTo(String(at))]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect({ most, made }).toEqual({ most: limits.hookCallsAtOnceMax, made: 100 });
  });

  test("that wait are refused beyond a number", async () => {
    const { outbound } = answering("hangs");
    const { written, log } = lines();
    const background = openHooks(outbound, log);
    const taken = limits.hookCallsAtOnceMax + limits.hookCallsWaitingMax;
    for (let at = 0; at < taken + 1; at++) background.add([callTo(String(at))]);
    expect(written).toEqual(["A hook is not called, because too many calls are waiting"]);
    const drained = background.drain(0);
    await vi.advanceTimersByTimeAsync(1);
    await drained;
  });
});

describe("the end of the service", () => {
  test("waits for the calls that are running", async () => {
    let isMade = false;
    const outbound: Outbound = {
      async send() {
        await new Promise((resolve) => setTimeout(resolve, 500));
        isMade = true;
        return { status: 200, text: "" };
      },
    };
    const background = openHooks(outbound, lines().log);
    background.add([callTo("a")]);
    const drained = background.drain(performance.now() + 1_000);
    await vi.advanceTimersByTimeAsync(600);
    await drained;
    expect(isMade).toBe(true);
  });

  test("waits no longer than it may, and says what is lost", async () => {
    const { outbound } = answering("hangs");
    const { written, log } = lines();
    const background = openHooks(outbound, log);
    for (let at = 0; at < limits.hookCallsAtOnceMax + 3; at++) background.add([callTo(String(at))]);
    const drained = background.drain(performance.now() + 1_000);
    await vi.advanceTimersByTimeAsync(1_000);
    await drained;
    expect(written).toContain("Hook calls are lost, because the service is stopping");
    expect(written).toContain("A hook failed for the last time; it is not tried again");
  });

  test("takes no further calls", async () => {
    const { sent, outbound } = answering(200);
    const background = openHooks(outbound, lines().log);
    await background.drain(0);
    background.add([callTo("a")]);
    await vi.advanceTimersByTimeAsync(dayMs);
    expect(sent).toHaveLength(0);
  });

  test("cuts the pause before another try short", async () => {
    const { sent, outbound } = answering("breaks");
    const background = openHooks(outbound, lines().log);
    background.add([callTo("a")]);
    await vi.advanceTimersByTimeAsync(1);
    const drained = background.drain(performance.now() + 100);
    await vi.advanceTimersByTimeAsync(100);
    await drained;
    expect(sent).toHaveLength(1);
  });
});
