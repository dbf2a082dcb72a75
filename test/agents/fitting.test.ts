/** What agents read stays within 100 records and 100 kB. */
import { describe, expect, test } from "vitest";
import {
  bytesOf,
  cut,
  fitsAnswer,
  fittingCount,
  shortWrite,
  recordTooLarge,
} from "../../core/agents/fitting.ts";
import { agentLimits } from "../../core/values/agent-limits.ts";
import { ExactNumber } from "../../core/values/json.ts";

const record = (bytes: number) => ({ note: "x".repeat(bytes) });

test.for<[string, unknown, number]>([
  ["plain text", { a: "b" }, 9 + 15],
  ["text of several bytes", { a: "ü€" }, 13 + 19],
  ["quotes, which are doubled in the text", { a: '"' }, 10 + 18],
  ["exact numbers", { a: new ExactNumber("9007199254740993") }, 22 + 26],
])("%s is counted twice: as data and as text", ([, content, bytes]) => {
  expect(bytesOf(content)).toBe(bytes);
});

describe("as many records fit as", () => {
  test.for([1, 3, 17, 99])("%i", (count) => {
    const room = (agentLimits.answerBytesMax - agentLimits.frameBytes) / 2 / count;
    const records = Array.from({ length: count + 1 }, () =>
      record(Math.floor(room - 17 - 40 / count)),
    );
    const fitting = fittingCount({ data: records }, records);
    expect(fitting).toBe(count);
    expect(fitsAnswer({ data: records.slice(0, fitting) })).toBe(true);
    expect(fitsAnswer({ data: records })).toBe(false);
  });

  test("none, if the first is too large", () => {
    const records = [record(60_000), record(1)];
    expect(fittingCount({ data: records }, records)).toBe(0);
    expect(recordTooLarge(records[0]).message).toMatch(/note \(\d+ kB\)/);
  });
});

test("lists of a write are cut at 100 records", () => {
  const list = Array.from({ length: 101 }, (_, at) => ({ at }));
  const deleted = cut({ data: { deleted_count: 101, deleted_items: list } });
  expect(deleted).toMatchObject({
    data: { deleted_count: 101 },
    hint: expect.stringContaining("100"),
  });
  expect((deleted["data"] as { deleted_items: unknown[] }).deleted_items).toHaveLength(100);
  expect((cut({ results: list })["results"] as unknown[]).length).toBe(100);
  expect(cut({ data: list.slice(1) })).toEqual({ data: list.slice(1) });
});

test("a write whose answer is too large says that it was done", () => {
  const short = shortWrite({ message: "orders data successfully updated", data: record(60_000) });
  expect(short).toEqual({
    message: "orders data successfully updated",
    hint: expect.stringContaining("The write was done"),
  });
});
