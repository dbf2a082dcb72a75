/**
 * Counts the cases per Vitest project, which is per engine, for the end of `test/run.ts`.
 * A file that fails outside its cases and an error that no case caught count as failures of their own,
 * so the count and the exit code never disagree. Of a file that ran twice, the second result counts, and the text names
 * it.
 */
import type { Reporter, TestModule } from "vitest/node";

interface Count {
  passed: number;
  failed: number;
  skipped: number;
  /** Of the cases, one after the other. Files run side by side, so a run takes less. */
  seconds: number;
}

/** Where time is to be had when a run takes too long. */
const slowestShown = 12;

export class Tally implements Reporter {
  /** The last result of each file, by project and path. */
  readonly #files = new Map<string, { readonly project: string; readonly count: Count }>();
  readonly #passedAgain = new Set<string>();
  #faults = 0;

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    for (const module of modules) this.#add(module);
    this.#faults += unhandledErrors.length;
  }

  /** Something failed that belongs to no project. */
  addFault(): void {
    this.#faults += 1;
  }

  /** True when something ran and nothing failed. */
  isGood(): boolean {
    const { passed, failed } = sumOf(this.#counts().values());
    return passed > 0 && failed === 0;
  }

  /**
   * A table with a row per project, the files that took the longest, those that passed only when they ran again, and
   * as its last line `N passed, N failed` (`, N skipped` when some were).
   */
  text(): string {
    const counts = this.#counts();
    const rows = [...counts].sort(([a], [b]) => a.localeCompare(b));
    const table = [
      ["project", "passed", "failed", "skipped", "seconds"],
      ...rows.map(([name, { passed, failed, skipped, seconds }]) => [
        name,
        passed,
        failed,
        skipped,
        Math.round(seconds),
      ]),
    ].map(([name, ...numbers]) =>
      [String(name).padEnd(18), ...numbers.map((cell) => String(cell).padStart(8))].join(""),
    );
    const again = [...this.#passedAgain].map((file) => `Passed only when it ran again: ${file}`);
    const slowest = [...this.#files]
      .sort(([, one], [, other]) => other.count.seconds - one.count.seconds)
      .slice(0, slowestShown)
      .map(([file, { count }]) => `${String(Math.round(count.seconds)).padStart(5)} s ${file}`);
    const { passed, failed, skipped } = sumOf(counts.values());
    const sum = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    return ["", ...table, "", ...slowest, "", ...again, sum].join("\n");
  }

  #add(module: TestModule): void {
    const count = {
      passed: 0,
      failed: 0,
      skipped: 0,
      seconds: module.diagnostic().duration / 1000,
    };
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed" || state === "failed") count[state] += 1;
      else count.skipped += 1;
    }
    if (module.state() === "failed" && count.failed === 0) count.failed += 1;

    const project = module.project.name;
    const file = `${module.relativeModuleId} (${project})`;
    const hadFailed = (this.#files.get(file)?.count.failed ?? 0) > 0;
    if (hadFailed && count.failed === 0) this.#passedAgain.add(file);
    this.#files.set(file, { project, count });
  }

  /** By project. */
  #counts(): Map<string, Count> {
    const counts = new Map<string, Count>();
    for (const { project, count } of this.#files.values())
      counts.set(project, sumOf([counts.get(project) ?? sumOf([]), count]));
    if (this.#faults > 0) counts.set("(the run)", { ...sumOf([]), failed: this.#faults });
    return counts;
  }
}

function sumOf(counts: Iterable<Count>): Count {
  const sum = { passed: 0, failed: 0, skipped: 0, seconds: 0 };
  for (const count of counts) {
    sum.passed += count.passed;
    sum.failed += count.failed;
    sum.skipped += count.skipped;
    sum.seconds += count.seconds;
  }
  return sum;
}
