import { expect, test } from "vitest";
import { type BrowserMachine, chooseChromium } from "./chromium.ts";

const program = "/somewhere/chromium";

/** A machine without any browser, plus what the case adds. It records the questions it gets. */
function machine(has: readonly (keyof BrowserMachine)[]): BrowserMachine & { asked: string[] } {
  const asked: string[] = [];
  const answer = (question: keyof BrowserMachine): boolean => {
    asked.push(question);
    return has.includes(question);
  };
  return {
    asked,
    given: () => (answer("given") ? program : undefined),
    findProgram: () => (answer("findProgram") ? program : null),
    mayInstall: () => answer("mayInstall"),
  };
}

const order: { has: keyof BrowserMachine; expected: object }[] = [
  { has: "given", expected: { from: "environment", program } },
  { has: "findProgram", expected: { from: "programs", program } },
  { has: "mayInstall", expected: { from: "install" } },
];

test.each(order)("the choice of Chromium takes $has where it is the only way", (row) => {
  expect(chooseChromium(machine([row.has]))).toEqual(row.expected);
});

test.each(order)("the choice of Chromium prefers $has to what comes later", (row) => {
  const place = order.indexOf(row);
  const rest = machine(order.slice(place).map(({ has }) => has));
  expect(chooseChromium(rest)).toEqual(row.expected);
  expect(rest.asked).toEqual(order.slice(0, place + 1).map(({ has }) => has));
});

test("the choice of Chromium says what to do on a machine with nothing", () => {
  const choice = chooseChromium(machine([]));
  if (choice.from !== "nowhere") throw new Error(`Expected no way, got ${choice.from}`);
  for (const word of ["Chromium", "TEST_CHROMIUM", "!smoke", "!browser"])
    expect(choice.advice).toContain(word);
});
