/** The operator's handlers around the composites: input, permitted changes, and full rollback after a refusal. */
import { describe, expect, test } from "vitest";
import { check, record } from "./cases.ts";
import { openWorkshop } from "./workshop.ts";

const { workshop, on } = openWorkshop();

let made = 0;
const create = (notes: unknown = [{ text: "one" }, { text: "two" }], part_id = `h${++made}`) =>
  workshop.post("documents", "create-composite", { parts: { part_id, code: part_id, notes } });
const update = (part_id: unknown, more: object) =>
  workshop.post("documents", "update-composite", { parts: { part_id, ...more } });
async function read(part_id: unknown) {
  const where = [{ key: "part_id", value: part_id }];
  return (await workshop.post("documents", "read-composite", { where })).body.data;
}
const texts = (data: { notes: { text: string }[] }) => data.notes.map(({ text }) => text);

describe("create-composite", () => {
  test("create-composite shows its handlers the header with its details, before and as stored", async () => {
    const seen: unknown[] = [];
    on.onBeforeInsert = ({ data, record: stored }) => void seen.push([data["notes"], stored]);
    on.onAfterInsert = ({ record: stored }) => void seen.push([stored!["notes"], stored!["stock"]]);
    const answer = await create();
    check(answer, { status: 201 });
    expect(seen).toEqual([
      [[{ text: "one" }, { text: "two" }], null],
      [answer.body.data.notes, 2],
    ]);
  });

  test("create-composite checks and stores what a before handler makes of the body", async () => {
    on.onBeforeInsert = ({ data }) => ({
      ...data,
      name: "by hand",
      notes: [...(data["notes"] as object[]), { text: "three" }],
    });
    const answer = await create();
    check(answer, { status: 201, data: { name: "by hand", stock: 3 } });
    expect(texts(answer.body.data)).toEqual(["one", "two", "three"]);
  });

  test.each([[[]], [null]])(
    "create-composite refuses missing details before a handler sees them: %j",
    async (notes) => {
      let calls = 0;
      on.onBeforeInsert = ({ data }) => {
        calls++;
        return { ...data, notes: [{ text: "put right" }] };
      };
      const message = "notes must not be empty";
      check(await create(notes), { status: 400, error: "Invalid payload", message });
      expect(calls).toBe(0);
    },
  );

  test("create-composite takes details that only a handler puts right, and refuses those that it spoils", async () => {
    on.onBeforeInsert = ({ data }) => ({ ...data, notes: [{ text: "put right" }] });
    check(await create([{}]), { status: 201, data: { stock: 1 } });
    on.onBeforeInsert = ({ data }) => ({ ...data, notes: [] });
    check(await create(), { status: 400, error: "Invalid payload" });
    on.onBeforeInsert = ({ data }) => ({ ...data, notes: [{}] });
    check(await create(), { status: 400, error: "Validation failed", errors: ["notes[0].text"] });
    on.onBeforeInsert = ({ data }) => ({ ...data, notes: {} });
    check(await create(), { status: 400, error: "Invalid payload" });
  });

  test.each(["onBeforeInsert", "onAfterInsert"] as const)(
    "create-composite stores nothing when %s refuses",
    async (event) => {
      on[event] = ({ reject }) => reject("no", { "notes[0].text": ["not this one"] });
      const answer = await create(undefined, `refused-${event}`);
      check(answer, {
        status: 422,
        error: "Rejected by hook",
        message: "no",
        errors: ["notes[0].text"],
      });
      expect(await read(`refused-${event}`)).toBeNull();
    },
  );

  test("create-composite runs its handlers in the transaction of the details", async () => {
    on.onAfterInsert = async ({ query, record: stored }) => {
      const rows = await query("select count(*) as n from notes where part_id = ?", [
        stored!["part_id"] as string,
      ]);
      if (Number(rows[0]!["n"]) !== 2) throw new Error("The details are not there");
    };
    check(await create(), { status: 201 });
  });
});

describe("update-composite", () => {
  test("update-composite shows its handlers the body, the old header and the new one", async () => {
    const { part_id } = record(await create());
    const seen: unknown[] = [];
    on.onBeforeUpdate = ({ data, oldRecord }) =>
      void seen.push([data["notes"], oldRecord!["stock"]]);
    on.onAfterUpdate = ({ oldRecord, record: now }) =>
      void seen.push([oldRecord!["stock"], now!["stock"]]);
    check(await update(part_id, { notes: { insert: [{ text: "three" }] } }), { status: 200 });
    expect(seen).toEqual([
      [{ insert: [{ text: "three" }] }, 2],
      [2, 3],
    ]);
  });

  test("update-composite carries out what a before handler makes of the body", async () => {
    const { part_id } = record(await create());
    on.onBeforeUpdate = ({ data }) => ({ ...data, notes: { insert: [{ text: "its own" }] } });
    const answer = await update(part_id, {});
    check(answer, { status: 200, data: { _operations: { deleted: 0, updated: 0, inserted: 1 } } });
    expect(texts(await read(part_id))).toEqual(["one", "two", "its own"]);
  });

  test.each(["onBeforeUpdate", "onAfterUpdate"] as const)(
    "update-composite changes nothing when %s refuses",
    async (event) => {
      const { part_id } = record(await create());
      const before = await read(part_id);
      on[event] = ({ reject }) => reject("no");
      const answer = await update(part_id, {
        name: "never",
        notes: { insert: [{ text: "never" }] },
      });
      check(answer, { status: 422, error: "Rejected by hook", message: "no" });
      expect(await read(part_id)).toEqual(before);
    },
  );

  test("update-composite runs no handler for a header that is not there", async () => {
    let ran = false;
    on.onBeforeUpdate = () => {
      ran = true;
    };
    check(await update("none", { name: "x" }), { status: 404, error: "Not found" });
    expect(ran).toBe(false);
  });
});
