/** From what requests and rows cost to processes, connections and workers. `sizing.ts` measures the costs. */

/** Of one request, without waiting. */
export interface RequestCost {
  /** Processor time of the service. */
  readonly cpuMs: number;
  /** How long it holds a connection to the database. */
  readonly connectionMs: number;
}

/** Processor time of a worker for each row, in microseconds. */
export interface RowCosts {
  readonly export: number;
  readonly import: number;
}

export interface Size {
  readonly processes: number;
  /** `database.pool` of each of them. */
  readonly pool: number;
  readonly workers: number;
}

/**
 * How busy a process, a connection or a worker may be on average. Requests come by chance, not in turn: at 60 % one waits
 * one and a half times as long as it takes (M/M/1: ρ / (1 − ρ)), at 90 % nine times.
 */
const busyShare = 0.6;

/** Of each process, so that a slow statement does not hold up all others. */
const poolMin = 2;

/** Of what is busy so many seconds each second. The sum of a load that fits exactly may be a little more than it. */
const needed = (busySeconds: number): number =>
  Math.max(0, Math.ceil(busySeconds / busyShare - 1e-9));

/** `first=200` and the like; words that name an engine are left alone. Throws for other words. */
export function ratesIn(words: readonly string[], known: readonly string[]): Map<string, number> {
  const rates = new Map<string, number>();
  for (const word of words.filter((one) => one.includes("="))) {
    const [name = "", value = ""] = word.split("=");
    const rate = Number(value);
    if (!known.includes(name) || value === "" || !(rate >= 0))
      throw new Error(`${word} is no rate; known are ${known.map((one) => `${one}=…`).join(", ")}`);
    rates.set(name, rate);
  }
  return rates;
}

/** `rates`: requests per second by name, rows per hour as `export` and `import`. */
export function sizeFor(
  rates: ReadonlyMap<string, number>,
  { requests, rows }: { requests: ReadonlyMap<string, RequestCost>; rows: RowCosts },
): Size {
  const busy = (cost: (one: RequestCost) => number): number =>
    [...requests].reduce(
      (sum, [name, one]) => sum + (rates.get(name) ?? 0) * (cost(one) / 1000),
      0,
    );
  const processes = Math.max(1, needed(busy(({ cpuMs }) => cpuMs)));
  const connections = needed(busy(({ connectionMs }) => connectionMs));
  const jobs = Object.entries(rows).reduce(
    (sum, [name, us]) => sum + ((rates.get(name) ?? 0) / 3600) * (us / 1e6),
    0,
  );
  return {
    processes,
    pool: Math.max(poolMin, Math.ceil(connections / processes)),
    workers: needed(jobs),
  };
}
