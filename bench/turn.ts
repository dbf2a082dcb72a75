/** Programs that take turns, each turn a process of its own that prints what it took as JSON, and the table of a contest between them. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

export interface Turn {
  readonly rows: number;
  readonly ms: number;
  readonly peakMiB: number;
}

/** How a contest goes. */
export interface ContestOptions {
  /** That each turn must have done. */
  readonly rows: number;
  readonly turns: number;
  /** The size of the file, asked after each turn. */
  bytesOf(name: string): Promise<number>;
}

/**
 * Prints a line for each side: the median of its time, the most memory, the size of the file, and how many times the time of the first side it
 * took, turn by turn, as a noisy machine is noisy for all of them.
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

/** How many times as long as the others, turn by turn: the median and the spread. */
export function ratiosOf(turns: readonly Turn[], others: readonly Turn[]): string {
  const ratios = turns.map(({ ms }, turn) => ms / others[turn]!.ms);
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return `${median(ratios).toFixed(2)} (${least.toFixed(2)} – ${most.toFixed(2)})`;
}

/** The middle one; 0 of none. */
export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

/** Starts the program and resolves with what it printed. */
export async function turnOf(command: string, args: readonly string[]): Promise<Turn> {
  const { stdout } = await promisify(execFile)(command, args);
  return JSON.parse(stdout) as Turn;
}

/**
 * The most memory that a process held at once; without its id, this one. What getrusage says on Linux begins with the memory of
 * the process that started it, so it is the second choice.
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
