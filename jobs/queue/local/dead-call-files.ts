/**
 * The hook calls that a queue in files gave up: each is a small file until an operator sends it again or it is too
 * old. A call to be sent again is moved to a folder that the service checks, because the operator's command is another
 * process and only the service uses the files of its queue.
 */
import {
  type DeadCall,
  type DeadCalls,
  type HookFailure,
  briefReason,
} from "../../../core/workflow/hook-queue.ts";
import { limits } from "../../../core/values/limits.ts";
import type { Files } from "../../../core/plans/files-port.ts";
import type { HookCall } from "../../../core/plans/hook-call.ts";

/** What the file of a call holds. */
interface StoredDeadCall {
  readonly call: HookCall;
  readonly tries: number;
  readonly failedAtMs: number;
  readonly reason: string;
}

/** The files, as the queue uses them. */
export interface DeadCallFiles {
  /** False: the maximum is reached already. Rejects when the files are unreachable. */
  add(call: HookCall, failure: HookFailure & { readonly tries: number }): Promise<boolean>;
  count(): Promise<number>;
  /** The calls that an operator sends again. */
  retried(): AsyncIterable<HookCall>;
  /** The queue has the call now. */
  taken(id: string): Promise<void>;
}

const deadFolder = "hooks-dead/";
const retryFolder = "hooks-retry/";

const deadKey = (id: string): string => `${deadFolder}${id}.json`;
const retryKey = (id: string): string => `${retryFolder}${id}.json`;

/** The folder is read again after this time. */
const countAgainMs = 60_000;

export function openDeadCallFiles(files: Files): DeadCallFiles {
  let counted = 0;
  let countedAtMs = -Infinity;

  async function count(): Promise<number> {
    if (performance.now() - countedAtMs > countAgainMs) {
      counted = await removeOld(files, Date.now());
      countedAtMs = performance.now();
    }
    return counted;
  }

  return {
    async add(call, { tries, ...failure }) {
      if ((await count()) >= limits.hookDeadKeptMax) return false;
      const stored = { call, tries, failedAtMs: Date.now(), reason: briefReason(failure) };
      await write(files, deadKey(call.id), stored);
      counted += 1;
      return true;
    },
    count,
    async *retried() {
      for await (const { key } of files.list(retryFolder)) {
        const stored = await readDeadCall(files, key);
        if (stored && key === retryKey(stored.call.id)) yield stored.call;
      }
    },
    async taken(id) {
      await files.remove(retryKey(id));
      counted = Math.max(0, counted - 1);
    },
  };
}

/** The same files, as an operator's command uses them. They are closed with it. */
export function createLocalDeadCalls(files: Files): DeadCalls {
  return {
    async list() {
      const found: DeadCall[] = [];
      for await (const { key } of files.list(deadFolder)) {
        const stored = await readDeadCall(files, key);
        if (stored) found.push(shown(stored));
      }
      return found.sort((one, other) => one.failedAtMs - other.failedAtMs);
    },
    async retry(id) {
      const stored = isUuid(id) ? await readDeadCall(files, deadKey(id)) : null;
      if (stored === null) return false;
      await write(files, retryKey(id), stored);
      await files.remove(deadKey(id));
      return true;
    },
    close: () => files.close(),
  };
}

const isUuid = (id: string): boolean => /^[0-9a-f-]{36}$/.test(id);

const shown = ({ call, ...rest }: StoredDeadCall): DeadCall => ({
  id: call.id,
  place: call.place,
  requestId: call.requestId,
  url: call.request.url,
  ...rest,
});

/** Resolves with the number of those that stay. */
async function removeOld(files: Files, nowMs: number): Promise<number> {
  let left = 0;
  for await (const { key, modifiedAtMs } of files.list(deadFolder)) {
    if (nowMs - modifiedAtMs > limits.hookDeadKeptSeconds * 1_000) await files.remove(key);
    else left += 1;
  }
  return left;
}

async function write(files: Files, key: string, stored: StoredDeadCall): Promise<void> {
  await files.write(key, [Buffer.from(JSON.stringify(stored))]);
}

/** Null for a file that is not a call, or was removed in between. */
async function readDeadCall(files: Files, key: string): Promise<StoredDeadCall | null> {
  try {
    const stored = JSON.parse(await new Response(await files.read(key)).text()) as StoredDeadCall;
    return typeof stored.call.request.url === "string" ? stored : null;
  } catch {
    return null;
  }
}
