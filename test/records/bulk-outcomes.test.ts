/** Of many records, those that the database refuses are found with few parts of a transaction. */
import { expect, test } from "vitest";
import { Outcomes, storeParts } from "../../core/records/bulk-outcomes.ts";
import type { Transaction } from "../../core/query/session.ts";
import { AppError } from "../../core/values/errors.ts";

const count = 1_000;
const tx = { part: (work: () => Promise<unknown>) => work() } as unknown as Transaction;

test.each<[name: string, isBad: (index: number) => boolean, partsMax: number]>([
  ["none", () => false, 1],
  ["the first one", (index) => index === 0, 25],
  ["one in the middle", (index) => index === 700, 22],
  ["the last one", (index) => index === count - 1, 12],
  ["those of one half", (index) => index >= count / 2, 550],
  ["each tenth one", (index) => index % 10 === 0, 720],
  ["each second one", (index) => index % 2 === 0, 1_550],
  ["all", () => true, 1_020],
])("refuses %s", async (_, isBad, partsMax) => {
  const items = Array.from({ length: count }, (_each, index) => ({ index }));
  const outcomes = new Outcomes({ mode: "each", count, isKnown: () => true });
  let parts = 0;
  await storeParts(tx, items, {
    outcomes,
    isOneByOne: false,
    async store(some) {
      parts += 1;
      if (some.some(({ index }) => isBad(index))) throw new AppError("duplicateEntry", "taken");
      return some.map(({ index }) => ({ record: { index }, etag: null, subject: null }));
    },
  });
  const refused = items.filter(({ index }) => outcomes.isRefused(index));
  expect(refused).toEqual(items.filter(({ index }) => isBad(index)));
  expect(parts).toBeLessThanOrEqual(partsMax);
});
