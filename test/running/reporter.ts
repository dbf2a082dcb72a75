/**
 * Counts the cases per Vitest project, which is per engine, for the end of `test/run.ts`.
 * A file that fails outside its cases and an error that no case caught count as failures of their own,
 * so the count and the exit code never disagree.
 */
import type { Reporter, TestModule } from "vitest/node";

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

export class Tally implements Reporter {
  readonly #counts = new Map<string, Count>();

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    for (const module of modules) this.#add(module);
    for (const _ of unhandledErrors) this.addFault();
  }

  /** Something failed that belongs to no project. */
  addFault(): void {
    this.#of("(the run)").failed += 1;
  }

  /** True when something ran and nothing failed. */
  isGood(): boolean {
    const { passed, failed } = this.#total();
    return passed > 0 && failed === 0;
  }

  /** A table with a row per project, and as its last line `N passed, N failed` (`, N skipped` when some were). */
  text(): string {
    const rows = [...this.#counts].sort(([a], [b]) => a.localeCompare(b));
    const table = [
      ["project", "passed", "failed", "skipped"],
      ...rows.map(([name, { passed, failed, skipped }]) => [name, passed, failed, skipped]),
    ].map(([name, ...numbers]) =>
      [String(name).padEnd(18), ...numbers.map((cell) => String(cell).padStart(8))].join(""),
    );
    const { passed, failed, skipped } = this.#total();
    const sum = `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    return ["", ...table, "", sum].join("\n");
  }

  #add(module: TestModule): void {
    const count = this.#of(module.project.name);
    const failedBefore = count.failed;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed" || state === "failed") count[state] += 1;
      else count.skipped += 1;
    }
    if (module.state() === "failed" && count.failed === failedBefore) count.failed += 1;
  }

  #of(project: string): Count {
    const count = this.#counts.get(project) ?? { passed: 0, failed: 0, skipped: 0 };
    this.#counts.set(project, count);
    return count;
  }

  #total(): Count {
    const total = { passed: 0, failed: 0, skipped: 0 };
    for (const count of this.#counts.values()) {
      total.passed += count.passed;
      total.failed += count.failed;
      total.skipped += count.skipped;
    }
    return total;
  }
}
