/** `Bag`: what it holds, and that what was removed does not stay among V8's old objects. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Bag, type Placed } from "../../core/values/bag.ts";
import { runAside } from "../running/run-aside.ts";

interface Named extends Placed {
  readonly name: string;
}

const named = (name: string): Named => ({ name, place: -1 });
const namesIn = (bag: Bag<Named>): string[] => {
  const names: string[] = [];
  bag.forEach(({ name }) => names.push(name));
  return names.toSorted();
};

describe("a bag", () => {
  const filled = () => {
    const bag = new Bag<Named>();
    const members = ["a", "b", "c", "d"].map(named);
    for (const member of members) bag.add(member);
    return { bag, members };
  };

  test.each([
    { removed: [], left: ["a", "b", "c", "d"] },
    { removed: [0], left: ["b", "c", "d"] },
    { removed: [3], left: ["a", "b", "c"] },
    { removed: [1, 3, 2], left: ["a"] },
    { removed: [1, 1, 1], left: ["a", "c", "d"] },
    { removed: [3, 2, 1, 0], left: [] },
  ])("without $removed has $left", ({ removed, left }) => {
    const { bag, members } = filled();
    for (const at of removed) bag.delete(members[at]!);
    expect(namesIn(bag)).toEqual(left);
    expect(bag.size).toBe(left.length);
  });

  test("does not touch others when a member is removed that another bag holds no more", () => {
    const { bag } = filled();
    const stranger = named("e");
    bag.delete(stranger);
    expect(bag.size).toBe(4);
  });

  test("takes a member again that was removed", () => {
    const { bag, members } = filled();
    bag.delete(members[0]!);
    bag.add(members[0]!);
    expect(namesIn(bag)).toEqual(["a", "b", "c", "d"]);
  });

  test.each([
    { removes: "itself", of: (at: number) => [at] },
    { removes: "all", of: () => [0, 1, 2, 3] },
    { removes: "the first", of: () => [0] },
    { removes: "the last", of: () => [3] },
  ])("is visited once for each member that is left when a visit removes $removes", ({ of }) => {
    const { bag, members } = filled();
    const gone = new Set<Named>();
    const visited: Named[] = [];
    bag.forEach((member) => {
      expect(gone.has(member)).toBe(false);
      visited.push(member);
      for (const at of of(members.indexOf(member))) {
        bag.delete(members[at]!);
        gone.add(members[at]!);
      }
    });
    for (const member of members) expect(visited.includes(member) || gone.has(member)).toBe(true);
  });
});

test.each(["deadlines", "pool"])(
  "what the %s of ended requests held is no old object",
  async (part) => {
    const program = join(import.meta.dirname, "promoted.ts");
    const { stdout, stderr } = await runAside(process.execPath, ["--expose-gc", program, part]);
    expect(stderr).toBe("");
    // With a Set it is 20 and more.
    expect(Number(stdout)).toBeLessThan(10);
  },
);
