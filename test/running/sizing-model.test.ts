/** The model behind docs/sizing.md. */
import { describe, expect, test } from "vitest";
import { ratesIn, sizeFor } from "../../bench/sizing-model.ts";

const requests = new Map([
  ["first", { cpuMs: 0.3, connectionMs: 0.6 }],
  ["create", { cpuMs: 0.6, connectionMs: 3 }],
]);
const rows = { export: 10, import: 60 };

describe("a load needs", () => {
  test.for<[Record<string, number>, [processes: number, pool: number, workers: number]]>([
    [{}, [1, 2, 0]],
    [{ first: 1 }, [1, 2, 0]],
    // 2,000 × 0.3 ms keep one process at 60 %; one more request a second is one too many.
    [{ first: 2_000 }, [1, 2, 0]],
    [{ first: 2_001 }, [2, 2, 0]],
    // 400 × 3 ms keep 1.2 connections busy all the time, so two of them at 60 %.
    [{ create: 400 }, [1, 2, 0]],
    [{ create: 1_000 }, [1, 5, 0]],
    [{ first: 4_000, create: 1_000 }, [3, 3, 0]],
    // 216,000,000 rows an hour are 60,000 a second, which take 0.6 s of a processor.
    [{ export: 216_000_000 }, [1, 2, 1]],
    [{ export: 216_000_000, import: 1 }, [1, 2, 2]],
  ])("%j: %j", ([rates, [processes, pool, workers]]) => {
    const size = sizeFor(new Map(Object.entries(rates)), { requests, rows });
    expect(size).toEqual({ processes, pool, workers });
  });
});

test("rates are read from the words of a command", () => {
  const rates = ratesIn(["postgres", "first=200", "export=1000000"], ["first", "export"]);
  expect([...rates]).toEqual([
    ["first", 200],
    ["export", 1_000_000],
  ]);
});

test.each(["frist=200", "first=", "first=many", "first=-1", "=5"])("%s is refused", (word) => {
  expect(() => ratesIn([word], ["first", "export"])).toThrow("known are first=…, export=…");
});
