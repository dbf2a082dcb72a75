/** When a project is recompiled because statements fail as after a schema change, in a process and per request. */
import { describe, expect, test } from "vitest";
import { createDoubts } from "../../app/start/edge/doubts.ts";
import { createSchemaWatch, type Sight } from "../../app/start/reloading/schema-watch.ts";

const gone = 'column "note" does not exist';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

/** A watch that finds what the test sets, on a clock that the test moves. */
function watched(...sights: readonly Sight[]) {
  let nowMs = 0;
  let looks = 0;
  let tookMs = 10;
  let pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const watch = createSchemaWatch({
    nowMs: () => nowMs,
    pause: (ms) => new Promise((end) => void pauses.push({ ms, end })),
    async lookAgain() {
      nowMs += tookMs;
      return sights[looks++] ?? sights.at(-1)!;
    },
  });
  return {
    watch,
    looks: () => looks,
    lookTakes: (ms: number) => void (tookMs = ms),
    /** A statement fails after this time, and what looks at the tables then is done. */
    async fails(afterMs: number, failure?: string) {
      nowMs += afterMs;
      watch.doubt(failure);
      await turns();
    },
    /** The pauses that it waits for are over; how long they are. */
    async waits() {
      const ended = pauses;
      pauses = [];
      for (const { ms, end } of ended) {
        nowMs += ms;
        end();
      }
      await turns();
      return ended.map(({ ms }) => ms);
    },
  };
}

describe("a schema watch", () => {
  test("looks at once when a statement fails, and while it looks the failure may pass", async () => {
    const { watch, looks } = watched("changed");
    watch.doubt(gone);
    expect(looks()).toBe(1);
    expect(watch.mayPass(gone)).toBe(true);
  });

  test("looks once for all failures of a second, and again after it", async () => {
    const { fails, looks } = watched("changed");
    await fails(0, gone);
    await fails(500, "another");
    await fails(400);
    expect(looks()).toBe(1);
    await fails(200, gone);
    expect(looks()).toBe(2);
  });

  test("looks once after the pause for what failed in it, and for what failed while it looked", async () => {
    const { watch, fails, waits, looks } = watched("changed");
    await fails(0, gone);
    await fails(400, "another");
    await fails(100, "a third");
    expect(await waits()).toEqual([600]);
    expect(looks()).toBe(2);
    expect(await waits()).toEqual([]);
    await fails(2_000, gone);
    expect(looks()).toBe(3);
    await fails(2_000);
    watch.doubt(gone);
    await turns();
    expect(await waits()).toEqual([1_000]);
    expect(looks()).toBe(5);
  });

  test.each<[string, string | undefined, number]>([
    ["three times what a look took for a new failure", gone, 3_000],
    ["ten times what a look took for an endpoint that is left out", undefined, 10_000],
  ])("waits %s", async (_, failure, pauseMs) => {
    const { fails, looks, lookTakes } = watched("changed");
    lookTakes(1_000);
    await fails(0, failure);
    await fails(pauseMs - 100, failure);
    expect(looks()).toBe(1);
    await fails(200, failure);
    expect(looks()).toBe(2);
  });

  test("calls a failure lasting after three looks that found nothing new", async () => {
    const { watch, fails } = watched("same");
    const may: boolean[] = [];
    for (let look = 0; look < 3; look++) {
      await fails(1_100, gone);
      may.push(watch.mayPass(gone));
    }
    expect(may).toEqual([true, true, false]);
  });

  test("does not blame other statements for one that always fails", async () => {
    const { watch, fails, looks } = watched("same", "same", "same", "same", "same", "changed");
    for (let look = 0; look < 5; look++) await fails(10_000, "trigger");
    expect(watch.mayPass("trigger")).toBe(false);
    expect(watch.mayPass(gone)).toBe(true);
    // And it looks for them, although the pause has grown.
    await fails(1_100, gone);
    expect(looks()).toBe(6);
    expect(watch.mayPass(gone)).toBe(true);
  });

  test("looks rarely for endpoints that stay left out, and for failures that last", async () => {
    const { fails, looks } = watched("same");
    for (let second = 0; second < 60; second++) {
      await fails(1_000);
      await fails(0, "trigger");
    }
    expect(looks()).toBeGreaterThan(5);
    expect(looks()).toBeLessThan(15);
  });

  test.each<[string, Sight]>([
    ["a change", "changed"],
    ["a database that does not answer", "unreachable"],
  ])("does not call a failure lasting because of %s", async (_, sight) => {
    const { watch, fails } = watched("same", "same", sight, "same", "same");
    for (let look = 0; look < (sight === "changed" ? 5 : 4); look++) await fails(10_000, gone);
    expect(watch.mayPass(gone)).toBe(sight === "changed");
  });

  test("does not call a failure lasting for looks before which it did not happen", async () => {
    const { watch, fails } = watched("same");
    for (let look = 0; look < 6; look++) await fails(10_000, look < 2 ? gone : "another");
    expect(watch.mayPass(gone)).toBe(true);
    await fails(10_000, gone);
    expect(watch.mayPass(gone)).toBe(false);
  });

  test("forgets what lasted when the tables have changed", async () => {
    const { watch, fails } = watched("same", "same", "same", "changed");
    for (let look = 0; look < 3; look++) await fails(10_000, gone);
    expect(watch.mayPass(gone)).toBe(false);
    await fails(10_000, gone);
    expect(watch.mayPass(gone)).toBe(true);
  });
});

describe("doubts of a runtime that lives from request to request", () => {
  /** Each drop of the routes is followed by a request that compiles them. */
  function doubted() {
    const doubts = createDoubts();
    let shape = "one";
    let drops = 0;
    const watch = doubts.watchOf("shop", () => {
      drops++;
      doubts.saw("shop", shape);
    });
    doubts.saw("shop", shape);
    return { watch, drops: () => drops, change: () => void (shape += "+") };
  }

  test("drop the routes once for all failures of a moment", () => {
    const { watch, drops } = doubted();
    watch.doubt(gone);
    watch.doubt("another");
    watch.doubt();
    expect(drops()).toBe(1);
    expect(watch.mayPass(gone)).toBe(true);
  });

  test("know a failure that lasts, and forget it after a change", ({ onTestFinished }) => {
    const clock = performance.now.bind(performance);
    let laterMs = 0;
    performance.now = () => clock() + laterMs;
    onTestFinished(() => void (performance.now = clock));
    const { watch, change } = doubted();
    for (let look = 0; look < 3; look++) {
      expect(watch.mayPass(gone)).toBe(true);
      watch.doubt(gone);
      laterMs += 10_000;
    }
    expect(watch.mayPass(gone)).toBe(false);
    expect(watch.mayPass("another")).toBe(true);
    change();
    watch.doubt(gone);
    expect(watch.mayPass(gone)).toBe(true);
  });
});
