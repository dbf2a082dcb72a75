/** `_batch` beside other batches and requests that write the same records, with and without locks on records. */
import { beforeEach, describe, expect, test } from "vitest";
import { openBatched, type Step } from "./batched.ts";
import { check } from "./cases.ts";

const adjust = (account_id: string): Step => ({
  endpoint: "accounts",
  action: "adjust",
  body: { account_id, adjustments: [{ field: "balance", value: 1 }] },
});
const rounds = 15;

describe.each([
  ["without locks", {}],
  ["with locking.enabled", { enabled: true }],
  ["with enforceResourceLocks", { enforceResourceLocks: true }],
])("%s", (_name, locking) => {
  const shop = openBatched({ project: { locking } });
  beforeEach(async () => {
    await shop.empty();
    for (const account_id of ["a", "b"])
      check(await shop.post("accounts/create", { account_id, balance: 0 }), { status: 201 });
  });

  const repeat = async (work: () => Promise<void>): Promise<void> => {
    for (let round = 0; round < rounds; round++) await work();
  };
  const balances = async () => (await shop.rows("accounts")).map(({ balance }) => Number(balance));

  test("two batches in opposite order lose no write and do not fail", async () => {
    const run = (...names: string[]) =>
      repeat(async () => check(await shop.batch(names.map(adjust)), { status: 200 }));
    await Promise.all([run("a", "b"), run("b", "a")]);
    expect(await balances()).toEqual([2 * rounds, 2 * rounds]);
  }, 60_000);

  test("a batch and single requests lose no write and do not fail", async () => {
    const alone = (name: string) =>
      repeat(async () =>
        check(await shop.post("accounts/adjust", adjust(name).body), { status: 200 }),
      );
    const together = repeat(async () =>
      check(await shop.batch([adjust("a"), adjust("b"), adjust("a")]), { status: 200 }),
    );
    await Promise.all([together, alone("a"), alone("b")]);
    expect(await balances()).toEqual([3 * rounds, 2 * rounds]);
  }, 60_000);
});
