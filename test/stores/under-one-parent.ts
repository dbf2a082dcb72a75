/** The stores of two processes under one parent, all in this process: messages are cloned as between processes. */
import { setImmediate as turn } from "node:timers/promises";
import type { MemoryLockSizes } from "../../app/stores/memory-locks.ts";
import { createParentState, openParentStores } from "../../app/stores/parent-stores.ts";
import { createProcessCalls, type ProcessCalls } from "../../app/stores/process-calls.ts";
import type { Stores } from "../../app/stores/stores.ts";

export interface UnderParent extends Stores {
  /** The process ends. */
  end(): void;
}

/** Two ends of a channel that delivers each message in a later turn. */
export function connected(): readonly [ProcessCalls, ProcessCalls] {
  const ends: ProcessCalls[] = [];
  const to = (at: number) => (message: unknown) => {
    const copy: unknown = structuredClone(message);
    void turn().then(() => ends[at]!.hear(copy));
  };
  ends.push(createProcessCalls(to(1)), createProcessCalls(to(0)));
  return [ends[0]!, ends[1]!];
}

/** `sizes`: of the locks. */
export function underOneParent(sizes?: MemoryLockSizes): [UnderParent, UnderParent] {
  const state = createParentState(sizes);
  const parentEnds: ProcessCalls[] = [];
  const open = (): UnderParent => {
    const [inParent, inProcess] = connected();
    parentEnds.push(inParent);
    inParent.offer(
      state.offersTo(inParent, () => parentEnds.filter((other) => other !== inParent)),
    );
    return { ...openParentStores(inProcess), end: () => state.left(inParent) };
  };
  return [open(), open()];
}
