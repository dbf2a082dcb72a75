/**
 * The connections that the parent of several processes has: those that wait in the system's queue, and those that it
 * handed to a process which has not taken them yet. `node:cluster` gives access to neither, so this uses what its
 * `RoundRobinHandle` is made of (`lib/internal/cluster/round_robin_handle.js` of Node).
 */
import type { ChildProcess } from "node:child_process";
import type { Worker } from "node:cluster";
import { subscribe } from "node:diagnostics_channel";
import type { Server } from "node:net";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";

export interface ParentConnections {
  /** Of a process that was just started. */
  follow(worker: Worker): void;
  /**
   * Takes the connections that wait, and accepts no more; closing earlier would reset them. Resolves when the processes
   * have what was accepted, or after a while if one takes none.
   */
  close(): Promise<void>;
}

interface Closable {
  close(): void;
}

/** A listening socket as `node:net` has it. */
interface ListeningHandle extends Closable {
  onconnection(...args: unknown[]): unknown;
}

/** After the end of a process, until its messages are read. */
const untakenMs = 100;
/** Turns of the event loop, in each of which one connection is accepted. */
const turnsMax = 2_000;
/** How long the processes have to take what they were handed, and how often this is checked. */
const takenMs = { longest: 1_000, pause: 5 };

/** Call it once, before the first process is started. */
export function followConnections(): ParentConnections {
  const listening = new Set<ListeningHandle>();
  /** What each process was handed and has not taken. */
  const untaken = new Set<ReadonlyMap<unknown, Closable>>();
  let accepted = 0;

  subscribe("tracing:net.server.listen:asyncStart", (message) => {
    const { server } = message as { server: Server & { _handle: ListeningHandle } };
    server.prependOnceListener("listening", () => {
      const { _handle: handle } = server;
      listening.add(handle);
      // The next listener, of `node:cluster`, sets this function.
      queueMicrotask(() => {
        const hand = handle.onconnection;
        handle.onconnection = (...args) => {
          accepted++;
          return hand.apply(handle, args);
        };
      });
    });
  });

  return {
    follow(worker) {
      const own = untakenBy(worker.process as ChildProcess);
      untaken.add(own);
      worker.process.once("exit", () => {
        untaken.delete(own);
        // What it said last is read first. With an untaken connection, Node emits no `disconnect`. Node also keeps the
        // connections open, so their clients would wait forever.
        setTimeout(() => {
          for (const handle of own.values()) handle.close();
        }, untakenMs);
      });
    },
    async close() {
      // What this turn still has to do may include no connection.
      await turn();
      let before = -1;
      for (let turns = 0; accepted !== before && turns < turnsMax; turns++) {
        before = accepted;
        await turn();
      }
      for (const handle of listening) handle.close();
      const untilMs = performance.now() + takenMs.longest;
      const isTaken = () => [...untaken].every(({ size }) => size === 0);
      while (!isTaken() && performance.now() < untilMs) await pause(takenMs.pause);
    },
  };
}

function untakenBy(
  child: ChildProcess & { send(...args: unknown[]): boolean },
): ReadonlyMap<unknown, Closable> {
  const untaken = new Map<unknown, Closable>();
  const send = child.send.bind(child) as (...args: unknown[]) => boolean;
  child.send = (message: { act?: string; seq?: number }, handle: unknown, ...more: unknown[]) => {
    if (message.act === "newconn") untaken.set(message.seq, handle as Closable);
    return send(message, handle, ...more);
  };
  child.on("internalMessage", ({ ack }: { ack?: number }) => untaken.delete(ack));
  return untaken;
}
