/**
 * Concurrent requests with an Idempotency-Key: a repeat during the first one, many at once, in two processes, and after
 * a process died at the worst moment. The write always happens exactly once.
 */
import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { check } from "./cases.ts";
import type { Answer } from "./harness.ts";
import { gate, isReplayed, isSqlite, openKeyed, setClockAheadBy } from "./keyed.ts";

const { on, send, post, sql, openOther } = openKeyed();

let made = 0;
let name = "";
let key = "";
beforeEach(() => {
  name = `part ${++made}`;
  key = `key-${made}`;
});

/** Nothing in it is unique: a second run would leave a second row. */
const body = () => ({ name });
const rows = async () =>
  Number((await sql(`select count(*) as n from parts where name = '${name}'`))[0]!["n"]);
const inProgress = { status: 409, error: "Request in progress" };

/** Repeats it as a client does, while the answer reports that the first one still runs. */
async function untilAnswered(ask: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await ask();
    if (answer.status !== 409) return answer;
    await pause(10);
  }
  throw new Error("It runs for ever");
}

describe("while the first request runs, a repeat", () => {
  test.each([
    ["in the same process", async () => send],
    ["in another process", async () => openOther()],
  ])("%s is told so at once, and gets the answer afterwards", async (_, opening) => {
    const again = await opening();
    const { handler, reached, open } = gate();
    on.onBeforeInsert = handler;
    const first = send("parts/create", body(), key);
    await reached;
    const early = await again("parts/create", body(), key);
    check(early, inProgress);
    expect(early.headers.get("Retry-After")).toBe("2");
    open();
    check(await first, { status: 201 });
    const late = await again("parts/create", body(), key);
    check(late, { status: 201 });
    expect(isReplayed(late)).toBe(true);
    expect(late.body).toEqual((await first).body);
    expect(await rows()).toBe(1);
  });

  test("with another body is refused for that", async () => {
    const { handler, reached, open } = gate();
    on.onBeforeInsert = handler;
    const first = send("parts/create", body(), key);
    await reached;
    const other = await send("parts/create", { name: "another" }, key);
    check(other, { status: 422, error: "Idempotency key reuse" });
    open();
    check(await first, { status: 201 });
  });

  test("is done when the first one fails after all", async () => {
    const { handler, reached, open } = gate();
    on.onBeforeInsert = async ({ reject }) => {
      await handler();
      reject("no");
    };
    const first = send("parts/create", body(), key);
    await reached;
    check(await send("parts/create", body(), key), inProgress);
    open();
    check(await first, { status: 422, error: "Rejected by hook" });
    delete on.onBeforeInsert;
    check(await send("parts/create", body(), key), { status: 201 });
    expect(await rows()).toBe(1);
  });
});

test("32 clients with one key store one record, whose answer all of them get", async () => {
  const other = await openOther();
  const asked = Array.from({ length: 32 }, (_, at) => {
    const ask = at % 2 === 0 ? send : other;
    return untilAnswered(() => ask("plain/create", body(), key));
  });
  const answers = await Promise.all(asked);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
  expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1);
  expect(await rows()).toBe(1);
});

test("64 adjusts that are sent twice each count once each", async () => {
  check(await post("plain/create", { ...body(), part_id: name, stock: 0 }), { status: 201 });
  const other = await openOther();
  const asked = Array.from({ length: 128 }, (_, at) => {
    const adjustments = [{ field: "stock", value: 1 + (at % 64) }];
    const ask = at < 64 ? send : other;
    const path = "plain/adjust";
    return untilAnswered(() => ask(path, { part_id: name, adjustments }, `${key}-${at % 64}`));
  });
  for (const answer of await Promise.all(asked)) check(answer, { status: 200 });
  const [row] = await sql(`select stock from parts where part_id = '${name}'`);
  expect(Number(row!["stock"])).toBe((64 * 65) / 2);
});

describe("after a process died", () => {
  /** The state in which only the claim is stored. */
  async function died(): Promise<void> {
    check(await send("plain/create", body(), key), { status: 201 });
    await sql(`delete from parts where name = '${name}'`);
    await sql("update rowgate_requests set answer = null");
  }

  test("the key is taken for 20 seconds, then the request is done", async () => {
    await died();
    check(await send("plain/create", body(), key), inProgress);
    setClockAheadBy(15_000);
    check(await send("plain/create", body(), key), inProgress);
    setClockAheadBy(21_000);
    const again = await send("plain/create", body(), key);
    check(again, { status: 201 });
    expect(isReplayed(again)).toBe(false);
    expect(isReplayed(await send("plain/create", body(), key))).toBe(true);
    expect(await rows()).toBe(1);
  });

  test("one of many repeats at once does it", async () => {
    await died();
    setClockAheadBy(21_000);
    const asked = Array.from({ length: 16 }, () =>
      untilAnswered(() => send("plain/create", body(), key)),
    );
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(await rows()).toBe(1);
  });
});

test("a request that was taken for dead cannot finish beside its repeat", async () => {
  const other = await openOther();
  const { handler, reached, open } = gate();
  on.onBeforeInsert = handler;
  const first = send("parts/create", body(), key);
  await reached;
  delete on.onBeforeInsert;
  setClockAheadBy(21_000);
  const second = other("parts/create", body(), key);
  // SQLite has one writer: there the repeat waits for the first one, and finds its answer.
  if (!isSqlite()) check(await second, { status: 201 });
  await pause(50);
  open();
  const answers = [await first, await second];
  const done = answers.filter((answer) => answer.status === 201 && !isReplayed(answer));
  expect(done).toHaveLength(1);
  if (!isSqlite()) check(answers[0]!, inProgress);
  expect(await rows()).toBe(1);
});

test("a request whose claim is gone at its end leaves nothing behind", async () => {
  on.onAfterInsert = async ({ query }) => {
    await query("update rowgate_requests set claim = 'somebody else'");
  };
  check(await send("parts/create", body(), key), inProgress);
  expect(await rows()).toBe(0);
});
