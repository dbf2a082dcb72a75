/** Which failure of a transaction counts, where several of its statements fail. */
import { describe, expect, test } from "vitest";
import { Conflict } from "../../../db/connections/conflict.ts";
import { createTransact, type TransactionParts } from "../../../db/connections/transaction.ts";
import { createDeadlines } from "../../../core/values/deadlines.ts";
import type { Statement } from "../../../core/query/statement.ts";

/** A statement: the error with which it fails, and after how long. */
interface Failing {
  readonly error: Error;
  readonly afterMs: number;
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function openTransact() {
  const connection = { alive: true };
  const parts = {
    engine: { pipelines: "all", savepoint: {}, commit: "commit", dialect: {} },
    compile: () => ({}),
    executor: {
      execute: async (_: unknown, { statement }: { statement: Failing }) => {
        await pause(statement.afterMs);
        throw statement.error;
      },
      control: async () => undefined,
      rollback: async () => undefined,
      reset: async () => undefined,
    },
    deadlines: createDeadlines(),
    room: { sufficed: () => undefined },
  } as unknown as TransactionParts;
  const pool = { tryAcquire: () => connection, acquire: async () => connection, release() {} };
  const sending = { pool, begin: ["begin"], local: null, caller: null };
  return (failing: readonly [Failing, Failing]) =>
    createTransact(parts)(
      (execute, { both }) => {
        const [first, second] = failing as unknown as [Statement, Statement];
        return both(
          () => execute(first),
          () => execute(second),
        );
      },
      { ...sending, deadlineAtMs: performance.now() + 5_000 } as never,
    );
}

describe("of statements that are sent together", () => {
  const transact = openTransact();
  const aborted = new Error("current transaction is aborted");
  test.each([
    ["a failure", new Error("canceled")],
    ["a conflict", new Conflict("", { cause: new Error("deadlock") })],
  ])("the first to fail is the cause, even if it is learned of later: %s", async (_, error) => {
    for (const [firstMs, secondMs] of [
      [0, 20],
      [20, 0],
    ] as const) {
      const failing = transact([
        { error, afterMs: firstMs },
        { error: aborted, afterMs: secondMs },
      ]);
      await expect(failing).rejects.toBe(error);
    }
  });
});
