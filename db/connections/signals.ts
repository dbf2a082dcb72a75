/**
 * Tells other processes over the database itself that changes were committed, where it has messages between sessions.
 * One connection beside the pools listens, only while somebody wants to hear; a lost one is opened again. Nothing
 * depends on a message: what is lost costs the time until the listeners look by themselves.
 */
import type { Nudge } from "../../core/plans/nudge.ts";
import { oneAtATime } from "../../core/values/one-at-a-time.ts";
import type { Command, Connection, Engine } from "../engines/engine.ts";

/** From a commit to the message of it; further commits in between need none. */
const soonMs = 20;

/** From the loss of the connection that listens to the next one. */
const retryMs = 1_000;

export interface DbNudge extends Nudge {
  close(): void;
}

/** Null where the engine has no messages. `send`: on a connection of the pool. */
export function createNudge(
  { signals, connect }: Pick<Engine, "signals" | "connect">,
  send: (command: Command) => Promise<unknown>,
): DbNudge | null {
  if (signals === null) return null;
  const self = crypto.randomUUID();
  const hearers = new Set<() => void>();
  let connection: Connection | null = null;
  let isOpening = false;

  const hearAll = (): void => hearers.forEach((hear) => hear());

  async function open(): Promise<void> {
    if (isOpening || connection !== null) return;
    isOpening = true;
    while (hearers.size > 0 && !(await openOnce())) await pause(retryMs);
    isOpening = false;
    if (hearers.size === 0) close();
  }

  async function openOnce(): Promise<boolean> {
    let opened: Connection | null = null;
    const onEnd = (): void => {
      if (connection !== opened) return;
      connection = null;
      if (hearers.size > 0) setTimeout(() => void open(), retryMs).unref?.();
    };
    try {
      opened = await connect("read");
      await signals!.listen(opened, { hear: (text) => text !== self && hearAll(), onEnd });
      connection = opened;
      if (!opened.alive) return false;
      // Something may have been told before.
      hearAll();
      return true;
    } catch {
      // The pools tell that the database is away.
      opened?.destroy();
      connection = null;
      return false;
    }
  }

  function close(): void {
    const open = connection;
    connection = null;
    open?.destroy();
  }

  // One message serves all commits of a moment.
  const tell = oneAtATime(async () => {
    await pause(soonMs);
    await send(signals.tell(self)).catch(() => undefined);
  });

  return {
    tell,
    listen(hear) {
      hearers.add(hear);
      void open();
      return () => {
        hearers.delete(hear);
        if (hearers.size === 0) close();
      };
    },
    close() {
      hearers.clear();
      close();
    },
  };
}

/** Keeps no process running. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref?.());
