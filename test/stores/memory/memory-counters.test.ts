/** Counters of one process, with a clock that the test sets. */
import { beforeEach, expect, test } from "vitest";
import { createMemoryCounters } from "../../../app/stores/memory-counters.ts";

let now: number;
beforeEach(() => {
  now = 1_000;
});
const open = (countersMax = 10) => createMemoryCounters({ nowMs: () => now, countersMax });

test("a window begins with its first request, and the next one after its end", async () => {
  const { count } = open();
  expect(await count(["a"], 500)).toEqual([{ count: 1, endsInMs: 500 }]);
  now += 499;
  expect(await count(["a"], 500)).toEqual([{ count: 2, endsInMs: 1 }]);
  now += 1;
  expect(await count(["a"], 500)).toEqual([{ count: 1, endsInMs: 500 }]);
});

test("names are counted apart, several at a time", async () => {
  const { count } = open();
  await count(["a"], 500);
  expect(await count(["a", "b"], 500)).toEqual([
    { count: 2, endsInMs: 500 },
    { count: 1, endsInMs: 500 },
  ]);
});

test("when there are too many, the oldest begins again", async () => {
  const { count } = open(3);
  for (const name of ["a", "b", "c", "d"]) await count([name], 500);
  expect(await count(["d", "c", "b", "a"], 500)).toMatchObject([
    { count: 2 },
    { count: 2 },
    { count: 2 },
    { count: 1 },
  ]);
});
