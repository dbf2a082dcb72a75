/**
 * Quick transactions that arrive together, as one: its end costs several times as much as what most of them do. Each is
 * a part of it, so that one which fails is undone by itself.
 */
import { endOfTurn } from "../../core/values/end-of-turn.ts";
import { unavailable } from "../../core/values/errors.ts";
import { limits } from "../../core/values/limits.ts";
import type { Connection } from "../engines/engine.ts";
import { Conflict } from "./conflict.ts";
import { overdueMessage } from "./executor.ts";
import type { RunTransaction, Transacting, Work } from "./execute.ts";

/** A transaction that waits for those that arrive together with it. */
interface Piece {
  readonly work: Work<unknown>;
  readonly transacting: Transacting;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Like `run`, for a connection that several callers have at once. */
export function createSharedTransactions(run: RunTransaction): RunTransaction {
  const waiting = new Map<Connection, Piece[]>();

  async function runAll(connection: Connection, quick: Piece[]): Promise<void> {
    await endOfTurn().statements;
    while (quick.length > 0) {
      const nowMs = performance.now();
      const overdue = quick.findIndex(({ transacting }) => transacting.deadlineAtMs <= nowMs);
      if (overdue < 0 && quick.length > 1) await runTogether(connection, quick);
      else await runAlone(connection, quick.splice(Math.max(0, overdue), 1)[0]!);
      // Other requests can go on, and those that were answered may come again.
      await new Promise((resolve) => setImmediate(resolve));
    }
    waiting.delete(connection);
  }

  async function runAlone(connection: Connection, one: Piece): Promise<void> {
    const { work, transacting, resolve, reject } = one;
    // Another one reached its deadline and ended the connection.
    if (!connection.alive) return reject(new Conflict("", { cause: unavailable(overdueMessage) }));
    await run(connection, work, transacting).then((result) => resolve(result as never), reject);
  }

  /** Takes those away that begin within a moment. */
  async function runTogether(connection: Connection, quick: Piece[]): Promise<void> {
    const endMs = performance.now() + limits.quickStatementMs;
    const deadlineAtMs = Math.min(...quick.map(({ transacting }) => transacting.deadlineAtMs));
    const begun: Piece[] = [];
    const ends: (() => void)[] = [];
    const all: Work<void> = async (execute, parts) => {
      do {
        const one = quick.shift()!;
        begun.push(one);
        try {
          const result = await parts.part(() => one.work(execute, parts));
          ends.push(() => one.resolve(result as never));
        } catch (error) {
          // It may have time left that another one has not.
          if (performance.now() >= deadlineAtMs) throw error;
          ends.push(() => one.reject(error));
        }
      } while (quick.length > 0 && performance.now() < endMs);
    };
    try {
      await run(connection, all, { ...quick[0]!.transacting, deadlineAtMs });
      for (const end of ends) end();
    } catch {
      // Nothing is left of them, such as because of a deferred foreign key, of a trigger that undoes more than its
      // statement, or of a deadline.
      const undone = begun.length > 0 ? begun : quick.splice(0);
      for (const one of undone) await runAlone(connection, one);
    }
  }

  return (connection, work, transacting) =>
    new Promise((resolve, reject) => {
      const one: Piece = { work, transacting, resolve, reject };
      const quick = waiting.get(connection);
      if (quick !== undefined) return void quick.push(one);
      const first = [one];
      waiting.set(connection, first);
      void runAll(connection, first);
    });
}
