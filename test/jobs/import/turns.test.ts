/** Whose upload is checked next, where only some are checked at a time. */
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTurns } from "../../../jobs/import/workbooks.ts";

/** Work that begins in its turn and ends when it is told to. */
function start(inTurn: ReturnType<typeof createTurns>, share: string, begun: string[]) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = inTurn(share, async () => {
    begun.push(share);
    await promise;
  });
  return async () => {
    resolve();
    await done;
    await turn();
  };
}

test("one caller leaves a place to others, and they pass those who wait for their own", async () => {
  const inTurn = createTurns(2);
  const begun: string[] = [];
  const ends = ["a", "a", "a", "b", "c"].map((share) => start(inTurn, share, begun));
  await turn();
  expect(begun).toEqual(["a", "b"]);
  await ends[3]!();
  expect(begun).toEqual(["a", "b", "c"]);
  await ends[0]!();
  expect(begun).toEqual(["a", "b", "c", "a"]);
  await ends[4]!();
  expect(begun).toEqual(["a", "b", "c", "a"]);
  await ends[1]!();
  expect(begun).toEqual(["a", "b", "c", "a", "a"]);
  await ends[2]!();
});

test("work that fails gives its place to the next", async () => {
  const inTurn = createTurns(1);
  const failing = inTurn("a", () => Promise.reject(new Error("damaged")));
  const next = inTurn("a", () => Promise.resolve("read"));
  await expect(failing).rejects.toThrow("damaged");
  expect(await next).toBe("read");
});
