/** Threads that answer questions for clients who wait: which ones are used again, and what an answerless one leaves. */
import { describe, expect, test } from "vitest";
import {
  type AskOptions,
  createAnsweringThreads,
  createLentThreads,
} from "../../../jobs/thread/start-thread.ts";
import { withTimeout } from "../../../core/values/with-timeout.ts";
import type { Question } from "./answering-program.ts";

const newThreads = () => {
  const ask = createAnsweringThreads(new URL("./answering-program.ts", import.meta.url));
  const options = (timeoutMs: number): AskOptions<number> => ({
    within: (answer) =>
      withTimeout(answer, {
        timeoutMs,
        onTimeout: () => {
          throw new Error("too late");
        },
      }),
    tooLarge: new Error("too large"),
  });
  return (question: Question, timeoutMs = 20_000): Promise<number> =>
    ask<number>(question, options(timeoutMs));
};

test("the next question goes to the same thread", async () => {
  const ask = newThreads();
  const first = await ask("number");
  expect([await ask("number"), await ask("number, later")]).toEqual([first, first]);
});

test("questions at the same time go to threads of their own, which stay", async () => {
  const ask = newThreads();
  const both = await Promise.all([ask("number, later"), ask("number, later")]);
  expect(new Set(both).size).toBe(2);
  expect(new Set(await Promise.all([ask("number"), ask("number")]))).toEqual(new Set(both));
});

describe("a thread that is lent", () => {
  const lent = () =>
    createLentThreads(new URL("./answering-program.ts", import.meta.url), { heapMb: 64 });

  test("answers some questions, and then those of the next user", async () => {
    const lend = lent();
    const first = lend();
    const number = await first.ask("number");
    expect(await first.ask("number")).toBe(number);
    first.giveBack();
    expect(await lend().ask("number")).toBe(number);
  });

  test("can neither be asked nor ended by who gave it back", async () => {
    const lend = lent();
    const first = lend();
    const number = await first.ask("number");
    first.giveBack();
    const second = lend();
    await expect(first.ask("number")).rejects.toThrow("has stopped");
    first.end();
    first.giveBack();
    expect(await second.ask("number, later")).toBe(number);
    expect(await lend().ask("number")).not.toBe(number);
  });

  test.each<Question>(["exit", "throw"])(
    "answers no more after %s, and is not lent again",
    async (question) => {
      const lend = lent();
      const first = lend();
      const number = await first.ask("number");
      await expect(first.ask(question)).rejects.toThrow();
      await expect(first.ask("number")).rejects.toThrow("has stopped");
      first.end();
      expect(await lend().ask("number")).not.toBe(number);
    },
  );
});

describe("a thread that does not answer", () => {
  test.each<[string, Question, number, string]>([
    ["throws", "throw", 20_000, "thrown in the thread"],
    ["exits", "exit", 20_000, "The thread has stopped"],
    ["takes too long", "nothing", 300, "too late"],
    ["runs out of memory", "fill memory", 20_000, "too large"],
  ])("because it %s is replaced", async (_, question, timeoutMs, message) => {
    const ask = newThreads();
    const first = await ask("number");
    await expect(ask(question, timeoutMs)).rejects.toThrow(message);
    const second = await ask("number");
    expect(second).not.toBe(first);
    expect(await ask("number")).toBe(second);
  });
});
