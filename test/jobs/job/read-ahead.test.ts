/** Batches requested one ahead: in order, none lost, and the source ends when no more are requested. */
import { expect, test } from "vitest";
import { readAhead } from "../../../jobs/job/read-ahead.ts";

async function* counting(seen: (number | "ended")[], failAt = Infinity): AsyncGenerator<number> {
  try {
    for (let n = 1; n <= 4; n++) {
      if (n === failAt) throw new Error("The source broke");
      seen.push(n);
      yield n;
    }
  } finally {
    seen.push("ended");
  }
}

test("gives every batch once and in order", async () => {
  expect(await Array.fromAsync(readAhead(counting([])))).toEqual([1, 2, 3, 4]);
  expect(await Array.fromAsync(readAhead((async function* () {})()))).toEqual([]);
});

test("asks for the second batch, and for no third, while the first is worked on", async () => {
  const seen: (number | "ended")[] = [];
  const batches = readAhead(counting(seen));
  await batches.next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual([1, 2]);
  await batches.return(undefined);
});

test("ends the source when the reader leaves early", async () => {
  const seen: (number | "ended")[] = [];
  for await (const batch of readAhead(counting(seen))) if (batch === 2) break;
  expect(seen.at(-1)).toBe("ended");
});

test("hands on the error of the source behind the batches that came before it", async () => {
  const given: number[] = [];
  const reading = (async () => {
    for await (const batch of readAhead(counting([], 3))) given.push(batch);
  })();
  await expect(reading).rejects.toThrow("The source broke");
  expect(given).toEqual([1, 2]);
});
