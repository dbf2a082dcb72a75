/** Expressions that depend on how far the clocks of a time zone are ahead of UTC at a row's instant. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Offset } from "../../core/values/time-zones.ts";

/** `isBefore`: whether the row's instant is before this one. Nested, so that a row is compared with few changes. */
export function byOffset(
  offsets: readonly Offset[],
  isBefore: (instant: number) => SQL,
  print: (offset: Offset) => SQL,
): SQL {
  if (offsets.length === 1) return print(offsets[0]!);
  const half = Math.ceil(offsets.length / 2);
  const [earlier, later] = [offsets.slice(0, half), offsets.slice(half)];
  const [before, after] = [earlier, later].map((some) => byOffset(some, isBefore, print));
  return sql`case when ${isBefore(later[0]!.from!)} then ${before} else ${after} end`;
}

/**
 * The offsets as far as they matter for full hours, less than an hour behind UTC: so the last hour of the year 9999
 * stays in it. Empty = these are the full hours of UTC.
 */
export function hourOffsets(offsets: readonly Offset[]): readonly Offset[] {
  const kept: Offset[] = [];
  for (const offset of offsets) {
    const last = kept.at(-1);
    const seconds = offset.seconds - Math.ceil(offset.seconds / 3_600) * 3_600;
    if (seconds !== last?.seconds || offset.hourFrom !== null || last.hourFrom !== null)
      kept.push({ ...offset, seconds });
  }
  const [only] = kept;
  return kept.length === 1 && only!.seconds === 0 && only!.hourFrom === null ? [] : kept;
}

/** `2026-03-29 01:00:00`, in UTC. */
export const textOfInstant = (instant: number): string =>
  new Date(instant * 1_000).toISOString().slice(0, 19).replace("T", " ");
