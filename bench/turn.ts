/** Runs programs in turns, each as a process that prints its result as JSON, and prints a table that compares them. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

export interface Turn {
  readonly rows: number;
  readonly ms: number;
  readonly peakMiB: number;
}

/** How a contest is run. */
export interface ContestOptions {
  /** How many rows each turn must have processed. */
  readonly rows: number;
  readonly turns: number;
  /** The size of the file, read after each turn. */
  bytesOf(name: string): Promise<number>;
}

/**
 * Prints a line for each side: median time, peak memory, file size, and the ratio of its time to the first side's. The
 * ratio is taken turn by turn, so that noise of the machine affects all sides.
 */
export async function printContest(
  title: string,
  sides: ReadonlyMap<string, () => Promise<Turn>>,
  { rows, turns, bytesOf }: ContestOptions,
): Promise<void> {
  const done = new Map([...sides.keys()].map((name) => [name, [] as Turn[]]));
  const sizes = new Map<string, number>();
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, side] of sides) {
      const one = await side();
      if (one.rows !== rows) throw new Error(`${name}: ${one.rows} rows of ${rows}`);
      done.get(name)!.push(one);
      sizes.set(name, await bytesOf(name));
    }
  }
  const first = [...done.values()][0]!;
  for (const [name, each] of done) {
    const cells = [
      `${title}, ${name}`,
      secondsOf(each),
      peakOf(each),
      `${(sizes.get(name)! / 1024 ** 2).toFixed(1)} MiB`,
      ratiosOf(each, first),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

export const secondsOf = (turns: readonly Turn[]): string =>
  (median(turns.map(({ ms }) => ms)) / 1000).toFixed(2);

/** Empty where no turn knows. */
export function peakOf(turns: readonly Turn[]): string {
  const peak = Math.round(Math.max(...turns.map((turn) => turn.peakMiB)));
  return Number.isNaN(peak) ? "" : `${peak} MiB`;
}

/** The ratio of times, turn by turn: the median and the range. */
export function ratiosOf(turns: readonly Turn[], others: readonly Turn[]): string {
  const ratios = turns.map(({ ms }, turn) => ms / others[turn]!.ms);
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return `${median(ratios).toFixed(2)} (${least.toFixed(2)} – ${most.toFixed(2)})`;
}

/** The middle value; 0 for an empty list. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** Starts the program and resolves with what it printed. */
export async function turnOf(command: string, args: readonly string[]): Promise<Turn> {
  const { stdout } = await promisify(execFile)(command, args);
  return JSON.parse(stdout) as Turn;
}

/**
 * Peak memory of a process in MiB; without an id, of this one. On Linux getrusage includes the memory of the parent
 * process at the start, so it is the second choice.
 */
export function peakMiB(pid: number | "self" = "self"): number {
  const path = `/proc/${pid}/status`;
  const status = existsSync(path) ? readFileSync(path, "utf8") : "";
  const peakKiB = /VmHWM:\s*(\d+)/.exec(status)?.[1];
  if (peakKiB === undefined && pid !== "self") return NaN;
  return Number(peakKiB ?? process.resourceUsage().maxRSS) / 1024;
}

/** The first python3 that has these modules; null without any. `BENCH_PYTHON` names another. */
export async function findPython(...modules: readonly string[]): Promise<string | null> {
  const named = process.env["BENCH_PYTHON"];
  for (const python of named ? [named] : ["python3", "/usr/bin/python3"]) {
    const tried = promisify(execFile)(python, ["-c", `import ${modules.join(", ")}`]);
    if (
      await tried.then(
        () => true,
        () => false,
      )
    )
      return python;
  }
  return null;
}
