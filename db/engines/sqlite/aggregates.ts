/**
 * Exact sums, averages and extremes of integers and decimals, as decimal text. SQLite itself adds decimals as doubles,
 * refuses sums beyond 64 bits, and compares decimals stored as text by their characters.
 */
import type { Database } from "better-sqlite3";
import {
  addDecimals,
  compareDecimals,
  divideDecimal,
  normalDecimal,
} from "../../../core/values/decimal.ts";

/** Values with the column's number of decimals are added as whole units; all others, as text. */
interface Total {
  count: bigint;
  units: bigint;
  /** Units that are not in `units` yet: doubles are added faster than BigInts. */
  pending: number;
  others: string;
  scale: number;
}

/** better-sqlite3's types lack the options and the 64-bit values. */
type Aggregates = { aggregate(name: string, options: object): void };

export function registerAggregates(database: Database): void {
  const target = database as unknown as Aggregates;
  const options = { deterministic: true, safeIntegers: true } as const;
  const start = (): Total => ({ count: 0n, units: 0n, pending: 0, others: "0", scale: 0 });
  target.aggregate("rowgate_sum", {
    ...options,
    start,
    step: (total: Total, value: unknown, scale: bigint) => add(total, value, Number(scale)),
    result: (total: Total) => (total.count === 0n ? null : sumOf(total)),
  });
  /** The sum of two sums. */
  const sumOfBoth = (whole: unknown, rest: unknown): unknown =>
    whole === null ? rest : addDecimals(String(whole), String(rest ?? "0"));
  database.function("rowgate_sum_of", options, sumOfBoth);
  target.aggregate("rowgate_avg", {
    ...options,
    start: () => ({ total: start(), places: 0 }),
    step(state: { total: Total; places: number }, value: unknown, scale: bigint, places: bigint) {
      add(state.total, value, Number(scale));
      state.places = Number(places);
    },
    result: ({ total, places }: { total: Total; places: number }) =>
      total.count === 0n ? null : divideDecimal(sumOf(total), total.count, places),
  });
  for (const [name, sign] of [
    ["rowgate_min", -1],
    ["rowgate_max", 1],
  ] as const) {
    target.aggregate(name, {
      ...options,
      start: () => null,
      step(best: string | null, value: unknown) {
        const number = value === null ? null : decimalOf(value);
        if (number === null) return best;
        return best === null || compareDecimals(number, best) * sign > 0 ? number : best;
      },
      result: (best: string | null) => best,
    });
  }
}

function add(total: Total, value: unknown, scale: number): void {
  if (value === null) return;
  total.count++;
  total.scale = Math.max(scale, 0);
  if (scale >= 0 && typeof value === "bigint") {
    total.units += scale === 0 ? value : value * 10n ** BigInt(scale);
    return;
  }
  const units = scale >= 0 && typeof value === "number" ? Math.round(value * 10 ** scale) : NaN;
  if (!Number.isSafeInteger(units)) {
    total.others = addDecimals(total.others, decimalOf(value) ?? "0");
    return;
  }
  const pending = total.pending + units;
  if (Number.isSafeInteger(pending)) {
    total.pending = pending;
  } else {
    total.units += BigInt(total.pending);
    total.pending = units;
  }
}

const sumOf = ({ units, pending, others, scale }: Total): string =>
  addDecimals(normalDecimal(`${units + BigInt(pending)}e-${scale}`) ?? "0", others);

/** A double counts with its 15 reliable digits. Null: not a number. */
const decimalOf = (value: unknown): string | null =>
  normalDecimal(typeof value === "number" ? value.toPrecision(15) : String(value));
