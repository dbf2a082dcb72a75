/**
 * Calls between two processes, or a process and its thread, that send each other messages: each offers objects with
 * functions, which the other calls by their names. Arguments and results are values that can be cloned.
 */
import { errorOfSent, type SentError, sentErrorOf } from "../../core/values/sent-error.ts";

type Message =
  | {
      readonly call: number;
      readonly object: string;
      readonly name: string;
      readonly args: readonly unknown[];
    }
  | { readonly answer: number; readonly result?: unknown; readonly error?: SentError };

/** Functions of this process that the other may call, by the names of objects and functions. */
export type Offers = Readonly<
  Record<string, Readonly<Record<string, (...args: never[]) => unknown>>>
>;

export interface ProcessCalls {
  /** Rejects as the function does, or when the other process has ended. */
  call<Result>(object: string, name: string, ...args: readonly unknown[]): Promise<Result>;
  /** To be called with each message that arrives. */
  hear(message: unknown): void;
  /** Further objects that this process offers. */
  offer(offers: Offers): void;
  /** The other process has ended: everything that waits for it rejects. */
  end(): void;
}

/** `send`: sends a message to the other process; must not throw. */
export function createProcessCalls(send: (message: unknown) => void): ProcessCalls {
  const offered = new Map<string, Offers[string]>();
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let calls = 0;
  let hasEnded = false;

  async function answer({ call, object, name, args }: Extract<Message, { call: number }>) {
    try {
      const functions = offered.get(object) ?? {};
      const asked = Object.hasOwn(functions, name) ? functions[name] : undefined;
      if (!asked) throw new Error(`The process offers no ${object}.${name}`);
      send({ answer: call, result: await asked(...(args as never[])) } satisfies Message);
    } catch (error) {
      send({ answer: call, error: sentErrorOf(error) } satisfies Message);
    }
  }

  return {
    call<Result>(object: string, name: string, ...args: readonly unknown[]) {
      if (hasEnded) return Promise.reject(endedError());
      const call = ++calls;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.set(call, { resolve, reject });
      send({ call, object, name, args } satisfies Message);
      return promise as Promise<Result>;
    },
    hear(heard) {
      const message = heard as Message;
      if ("call" in message) return void answer(message);
      const one = waiting.get(message.answer);
      waiting.delete(message.answer);
      if (message.error) one?.reject(errorOfSent(message.error));
      else one?.resolve(message.result);
    },
    offer(offers) {
      for (const [object, functions] of Object.entries(offers)) offered.set(object, functions);
    },
    end() {
      hasEnded = true;
      for (const { reject } of waiting.values()) reject(endedError());
      waiting.clear();
    },
  };
}

const endedError = (): Error => new Error("The other process has ended");

/** These functions of an object that the other process offers; `first`: their first arguments. */
export const calling = <Port extends object>(
  calls: Pick<ProcessCalls, "call">,
  { object, first = [] }: { readonly object: string; readonly first?: readonly unknown[] },
  names: readonly (keyof Port & string)[],
): Port =>
  Object.fromEntries(
    names.map((name) => [
      name,
      (...args: readonly unknown[]) => calls.call(object, name, ...first, ...args),
    ]),
  ) as Port;
