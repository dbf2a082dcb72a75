import { describe, expect, test } from "vitest";
import type { TestModule } from "vitest/node";
import { Tally } from "./reporter.ts";

type State = "passed" | "failed" | "skipped" | "pending";

/** As much of a test file as the tally looks at. `state` is that of the file as a whole, `duration` in ms. */
function module(
  project: string,
  state: State,
  cases: readonly State[],
  relativeModuleId = `${state}-${cases.length}.test.ts`,
  duration = 0,
): TestModule {
  const allTests = () => cases.map((one) => ({ result: () => ({ state: one }) }));
  return {
    project: { name: project },
    relativeModuleId,
    state: () => state,
    diagnostic: () => ({ duration }),
    children: { allTests },
  } as never;
}

const lastLine = (tally: Tally): string | undefined => tally.text().split("\n").at(-1);

const runs: {
  name: string;
  modules: TestModule[];
  errors?: unknown[];
  line: string;
  isGood: boolean;
}[] = [
  {
    name: "cases that passed on two projects",
    modules: [
      module("sqlite", "passed", ["passed", "passed"]),
      module("mysql", "passed", ["passed"]),
    ],
    line: "3 passed, 0 failed",
    isGood: true,
  },
  {
    name: "a failed case, once",
    modules: [module("sqlite", "failed", ["passed", "failed"])],
    line: "1 passed, 1 failed",
    isGood: false,
  },
  {
    name: "a skipped case and one that never ran",
    modules: [module("sqlite", "passed", ["passed", "skipped", "pending"])],
    line: "1 passed, 0 failed, 2 skipped",
    isGood: true,
  },
  {
    name: "a file that failed outside its cases",
    modules: [module("sqlite", "failed", []), module("sqlite", "passed", ["passed"])],
    line: "1 passed, 1 failed",
    isGood: false,
  },
  {
    name: "an error that no case caught",
    modules: [module("sqlite", "passed", ["passed"])],
    errors: [new Error("unhandled")],
    line: "1 passed, 1 failed",
    isGood: false,
  },
  {
    name: "a run without cases, as not good",
    modules: [],
    line: "0 passed, 0 failed",
    isGood: false,
  },
  {
    name: "a run of skipped cases alone, as not good",
    modules: [module("sqlite", "skipped", ["skipped"])],
    line: "0 passed, 0 failed, 1 skipped",
    isGood: false,
  },
];

describe("the tally counts", () => {
  test.each(runs)("$name", ({ modules, errors = [], line, isGood }) => {
    const tally = new Tally();
    tally.onTestRunEnd(modules, errors);
    expect({ line: lastLine(tally), isGood: tally.isGood() }).toEqual({ line, isGood });
  });

  test("each project in a row of its own", () => {
    const tally = new Tally();
    tally.onTestRunEnd(
      [module("sqlite", "passed", ["passed", "passed"]), module("mysql", "failed", ["failed"])],
      [],
    );
    expect(
      tally
        .text()
        .split("\n")
        .map((row) => row.split(/\s+/)),
    ).toEqual(
      expect.arrayContaining([
        ["sqlite", "2", "0", "0", "0"],
        ["mysql", "0", "1", "0", "0"],
      ]),
    );
  });

  test("the seconds of each project, and names the slowest files first", () => {
    const tally = new Tally();
    tally.onTestRunEnd(
      [
        module("sqlite", "passed", ["passed"], "quick.test.ts", 400),
        module("sqlite", "passed", ["passed"], "slow.test.ts", 2_400),
      ],
      [],
    );
    const lines = tally.text().split("\n");
    expect(lines.map((line) => line.trim())).toEqual(
      expect.arrayContaining(["2 s slow.test.ts (sqlite)", "0 s quick.test.ts (sqlite)"]),
    );
    expect(lines.find((line) => line.startsWith("sqlite"))).toMatch(/ 3$/);
    expect(lines.findIndex((line) => line.includes("slow"))).toBeLessThan(
      lines.findIndex((line) => line.includes("quick")),
    );
  });

  test.each([
    { second: "passed", line: "2 passed, 0 failed", isNamed: true },
    { second: "failed", line: "1 passed, 1 failed", isNamed: false },
  ] as const)("a file that failed and then $second, once", ({ second, line, isNamed }) => {
    const tally = new Tally();
    tally.onTestRunEnd([module("sqlite", "failed", ["passed", "failed"], "a.test.ts")], []);
    tally.onTestRunEnd([module("sqlite", second, ["passed", second], "a.test.ts")], []);
    expect({
      line: lastLine(tally),
      isNamed: tally.text().includes("Passed only when it ran again: a.test.ts (sqlite)"),
      isGood: tally.isGood(),
    }).toEqual({ line, isNamed, isGood: isNamed });
  });

  test("what failed outside of every project", () => {
    const tally = new Tally();
    tally.addFault();
    expect({ line: lastLine(tally), isGood: tally.isGood() }).toEqual({
      line: "0 passed, 1 failed",
      isGood: false,
    });
  });
});
