import { describe, expect, test } from "vitest";
import { choose, labels, type Machine, type ServerName, serverNames } from "./choose.ts";

const url = "somewhere://127.0.0.1";

/** A machine without any server, plus what the case adds. It records the questions it gets. */
function machine(has: Partial<Record<keyof Machine, true>>): Machine & { asked: string[] } {
  const asked: string[] = [];
  const answer = (question: keyof Machine): boolean => {
    asked.push(question);
    return has[question] ?? false;
  };
  return {
    asked,
    given: () => (answer("given") ? url : undefined),
    listening: async () => (answer("listening") ? url : null),
    hasPrograms: () => answer("hasPrograms"),
    dockerRuns: () => answer("dockerRuns"),
    mayInstall: () => answer("mayInstall"),
  };
}

const order: { has: keyof Machine; expected: object }[] = [
  { has: "given", expected: { from: "environment", url } },
  { has: "listening", expected: { from: "default port", url } },
  { has: "hasPrograms", expected: { from: "programs" } },
  { has: "dockerRuns", expected: { from: "docker" } },
  { has: "mayInstall", expected: { from: "install" } },
];

describe.each(serverNames)("the choice of a %s server", (name: ServerName) => {
  test.each(order)("takes $has where it is the first that is open", async ({ has, expected }) => {
    expect(await choose(name, machine({ [has]: true }))).toEqual(expected);
  });

  test.each(order)(
    "prefers $has to all that come later, and does not ask for them",
    async (row) => {
      const place = order.indexOf(row);
      const all = machine(Object.fromEntries(order.slice(place).map(({ has }) => [has, true])));
      expect(await choose(name, all)).toEqual(row.expected);
      expect(all.asked).toEqual(order.slice(0, place + 1).map(({ has }) => has));
    },
  );

  test("says what to do on a machine with nothing", async () => {
    const choice = await choose(name, machine({}));
    if (choice.from !== "nowhere") throw new Error(`Expected no way, got ${choice.from}`);
    for (const word of Object.values(labels[name])) expect(choice.advice).toContain(word);
  });
});
