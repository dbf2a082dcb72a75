/**
 * The order of `changes`: many writers commit in another order than they began, while readers stop and go on at any
 * place. What is read is what was committed, each change once, and those of one record in their order.
 */
import { randomInt, randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";

const writers = 16;
const writesOfEach = 12;
const pause = (msMax: number) =>
  new Promise((resolve) => setTimeout(resolve, randomInt(msMax + 1)));

const fixture = openForTests(openFixture, {
  tables: [{ name: "items", columns: { item_id: "key", number: "integer" } }],
  endpoints: {
    items: {
      tableName: "items",
      action: { create: true, read: true, update: true, delete: true },
      live: true,
      components: { onAfterInsert: ["components/code.ts#wait"] },
    },
  },
  components: {
    "components/code.ts": {
      async wait({ data }: { data: { number: number } }) {
        await pause(fixture.engine === "sqlite" ? 2 : 20);
        if (data.number % 5 === 4) throw new Error("undone");
      },
    },
  },
});

interface Told {
  keys: { item_id: string }[];
}

test("no committed write is passed over, and no undone one is told", async () => {
  const endpoints = ["items"];
  const begin = (await fixture.post("changes", { endpoints })).body.since as string;
  const committed: string[] = [];
  let isWriting = true;

  async function write(): Promise<void> {
    for (let number = 0; number < writesOfEach; number++) {
      const item_id = randomUUID();
      const { status } = await fixture.post("items/create", { item_id, number });
      expect([201, 422, 500]).toContain(status);
      if (status === 201) committed.push(item_id);
    }
  }

  async function read(): Promise<string[]> {
    const found: string[] = [];
    let since = begin;
    for (;;) {
      const isLast = !isWriting;
      const limit = randomInt(1, 40);
      const { body } = await fixture.post("changes", { endpoints, since, limit });
      for (const { keys } of body.data as Told[]) found.push(...keys.map(({ item_id }) => item_id));
      since = body.since as string;
      expect(body.reset).toBeUndefined();
      if (isLast && body.data.length === 0) return found;
      await pause(10);
    }
  }

  const readers = [1, 2, 3].map(read);
  await Promise.all(Array.from({ length: writers }, write));
  isWriting = false;
  for (const found of await Promise.all(readers)) {
    expect(found.toSorted()).toEqual(committed.toSorted());
  }
  expect(committed.length).toBeGreaterThan(writers);
});
