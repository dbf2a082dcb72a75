/**
 * Documents whose lines have a composite key that contains the header's key; the other columns identify a line within
 * its header. Every header has a line 1, so a change that ignores the header would show in another document.
 */
import { beforeEach, describe, expect, test } from "vitest";
import { check, checkEnvelope, record } from "./cases.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const composites = {
  "create-composite": true,
  "read-composite": true,
  "update-composite": true,
  delete: true,
};
const notes = { detailTable: "sheet_notes", foreignKey: "sheet_id", cascadeDelete: true };

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "sheets",
      columns: { sheet_id: "key", title: "text(20)", total: "decimal(12,2)", items: "integer" },
    },
    {
      name: "sheet_lines",
      columns: {
        sheet_id: { type: "text(36)", references: { table: "sheets", column: "sheet_id" } },
        line_no: "integer",
        qty: { type: "integer", notNull: true },
        price: { type: "decimal(8,2)", default: "1" },
        amount: "decimal(10,2)",
        updated_at: "timestamp",
      },
      primaryKey: ["sheet_id", "line_no"],
    },
    {
      // The foreign key is not the first column of the key, and two others name a note.
      name: "sheet_notes",
      columns: {
        text: "text(40)",
        section: "text(10)",
        sheet_id: { type: "text(36)", references: { table: "sheets", column: "sheet_id" } },
        position: "smallint",
      },
      primaryKey: ["section", "sheet_id", "position"],
    },
  ],
  endpoints: {
    sheets: {
      tableName: "sheets",
      action: composites,
      masterDetail: [
        {
          detailTable: "sheet_lines",
          foreignKey: "sheet_id",
          cascadeDelete: true,
          calculation: {
            detail: { amount: "qty * price" },
            header: { total: "SUM(amount)", items: "COUNT(details)" },
          },
        },
        { ...notes, detailConfig: { primaryKey: ["section", "sheet_id", "position"] } },
      ],
    },
  },
  project: { cache: { enabled: false } },
});

const send = async (action: string, body: object, headers?: Record<string, string>) => {
  const answer = await fixture.post(`sheets/${action}`, body, headers);
  checkEnvelope(answer);
  return answer;
};
const change = (id: string, more: object): Promise<Answer> =>
  send("update-composite", { sheets: { sheet_id: id, ...more } });
const read = async (id: string) =>
  record(await send("read-composite", { where: [{ key: "sheet_id", value: id }] })) as Record<
    string,
    unknown
  > & { readonly sheet_lines: readonly Record<string, unknown>[] };

/** Each test has two documents, alike but for their ids. */
let made = 0;
let id = "";
let other = "";
beforeEach(async () => {
  id = `s${++made}`;
  other = `${id}b`;
  for (const sheet_id of [id, other])
    check(
      await send("create-composite", {
        sheets: {
          sheet_id,
          sheet_lines: [
            { line_no: 2, qty: 20 },
            { line_no: 1, qty: 10 },
          ],
          sheet_notes: [{ section: "a", position: 1, text: "first" }],
        },
      }),
      { status: 201 },
    );
});

const lines = [
  { line_no: 1, qty: 10, amount: 10 },
  { line_no: 2, qty: 20, amount: 20 },
];

describe("create-composite", () => {
  test("answers the lines in the order in which they were sent, and read-composite by their key", async () => {
    const sheets = {
      sheet_lines: [
        { line_no: 30, qty: 3, price: 2.5 },
        { line_no: 7, qty: 1 },
      ],
    };
    const answer = await send("create-composite", { sheets });
    check(answer, { status: 201, data: { total: 8.5, items: 2 } });
    const { sheet_id, sheet_lines } = record(answer);
    expect(sheet_lines).toMatchObject([
      { sheet_id, line_no: 30, qty: 3, amount: 7.5 },
      { sheet_id, line_no: 7, qty: 1, amount: 1 },
    ]);
    expect((await read(String(sheet_id))).sheet_lines.map(({ line_no }) => line_no)).toEqual([
      7, 30,
    ]);
  });

  test.each([
    ["sheet_lines", [{ line_no: 1, qty: 1 }, { qty: 2 }], ["sheet_lines[1].line_no"]],
    ["sheet_notes", [{ text: "x" }], ["sheet_notes[0].section", "sheet_notes[0].position"]],
    ["sheet_lines", [{ line_no: "one", qty: 1 }], ["sheet_lines[0].line_no"]],
  ])("refuses %s without what names a line", async (list, items, errors) => {
    const sheets = { sheet_id: `${id}c`, sheet_lines: [{ line_no: 1, qty: 1 }], [list]: items };
    check(await send("create-composite", { sheets }), {
      status: 400,
      error: "Validation failed",
      errors,
    });
  });

  test("refuses two lines of one number, and stores nothing", async () => {
    const sheet_lines = [
      { line_no: 1, qty: 1 },
      { line_no: 1, qty: 2 },
    ];
    const sheets = { sheet_id: `${id}c`, sheet_lines };
    const answer = await send("create-composite", { sheets });
    check(answer, { status: 409, error: "Duplicate entry" });
    const where = [{ key: "sheet_id", value: `${id}c` }];
    expect((await send("read-composite", { where })).body.data).toBeNull();
  });

  test("takes the header's key of itself, whatever a line says of it", async () => {
    const sheets = { sheet_id: `${id}c`, sheet_lines: [{ sheet_id: other, line_no: 9, qty: 1 }] };
    check(await send("create-composite", { sheets }), { status: 201 });
    expect((await read(other)).sheet_lines).toMatchObject(lines);
  });
});

describe("update-composite", () => {
  test("changes, deletes and adds lines of its header alone", async () => {
    const answer = await change(id, {
      sheet_lines: {
        update: [{ line_no: 1, qty: 11 }],
        delete: [{ line_no: 2 }],
        insert: [{ line_no: 3, qty: 30 }],
      },
      sheet_notes: {
        update: [{ section: "a", position: 1, text: "changed" }],
        insert: [{ section: "a", position: 2, text: "second" }],
      },
    });
    check(answer, { status: 200, data: { total: 41, items: 2 } });
    expect(answer.body.data._operations).toEqual({ deleted: 1, updated: 2, inserted: 2 });
    expect(await read(id)).toMatchObject({
      sheet_lines: [
        { line_no: 1, qty: 11, amount: 11 },
        { line_no: 3, qty: 30, amount: 30 },
      ],
      sheet_notes: [
        { section: "a", position: 1, text: "changed" },
        { section: "a", position: 2, text: "second" },
      ],
    });
    expect(await read(other)).toMatchObject({
      total: 30,
      sheet_lines: lines,
      sheet_notes: [{ text: "first" }],
    });
  });

  test("deletes several lines by keys of two columns", async () => {
    const insert = [2, 3].map((position) => ({ section: "b", position, text: "x" }));
    check(await change(id, { sheet_notes: { insert } }), { status: 200 });
    const gone = [{ section: "a", position: 1 }, insert[0]];
    check(await change(id, { sheet_notes: { delete: gone } }), { status: 200 });
    expect((await read(id))["sheet_notes"]).toMatchObject([insert[1]!]);
    expect((await read(other))["sheet_notes"]).toMatchObject([{ text: "first" }]);
  });

  test.each([
    ["a change of a line that is not there", { update: [{ line_no: 9, qty: 1 }] }],
    ["a deletion of a line that is not there", { delete: [{ line_no: 1 }, { line_no: 9 }] }],
    ["a change that changes nothing of a line that is not there", { update: [{ line_no: 9 }] }],
  ])("refuses %s, and undoes everything", async (_, sheet_lines) => {
    check(await change(id, { title: "new", sheet_lines }), {
      status: 404,
      error: "Not found",
      message: "sheet_lines record not found in this header",
    });
    expect(await read(id)).toMatchObject({ title: null, sheet_lines: lines });
  });

  test.each([
    [
      "sheet_lines",
      { update: [{ qty: 1 }] },
      "sheet_lines.update[0] needs the primary key line_no",
    ],
    [
      "sheet_notes",
      { delete: [{ text: "first" }] },
      "sheet_notes.delete[0] needs the primary key section, position",
    ],
    [
      "sheet_lines",
      { update: [{ line_no: 1, qty: 1 }], delete: [{ line_no: 1 }] },
      "sheet_lines contains the same record twice in update and delete",
    ],
  ])("refuses %s that name no line, or one twice", async (list, changes, message) => {
    check(await change(id, { [list]: changes }), {
      status: 400,
      error: "Invalid payload",
      message,
    });
  });

  test.each(["update", "delete"])("refuses half of a key in %s on its field", async (list) => {
    check(await change(id, { sheet_notes: { [list]: [{ section: "a", text: "x" }] } }), {
      status: 400,
      error: "Validation failed",
      errors: { "sheet_notes[0].position": ["is required"] },
    });
  });

  test("refuses a new line whose number is taken", async () => {
    const answer = await change(id, { sheet_lines: { insert: [{ line_no: 1, qty: 1 }] } });
    check(answer, { status: 409, error: "Duplicate entry" });
    expect((await read(id)).sheet_lines).toMatchObject(lines);
  });

  test("by 16 clients at once loses no line", async () => {
    const clients = Array.from({ length: 16 }, (_, at) => at);
    const added = await Promise.all(
      clients.map((client) =>
        change(id, {
          sheet_lines: {
            insert: [1, 2, 3].map((n) => ({ line_no: client * 10 + 100 + n, qty: 1 })),
          },
        }),
      ),
    );
    for (const answer of added) check(answer, { status: 200 });
    expect(await read(id)).toMatchObject({ items: 2 + 48, total: 30 + 48 });
    const changed = await Promise.all(
      clients.map((client) =>
        change(id, {
          sheet_lines: {
            update: [{ line_no: client * 10 + 101, qty: 5 }],
            delete: [{ line_no: client * 10 + 102 }],
            insert: [{ line_no: client * 10 + 104, qty: 2 }],
          },
        }),
      ),
    );
    for (const answer of changed) check(answer, { status: 200 });
    const whole = await read(id);
    const expected = clients.flatMap((client) => [
      { line_no: client * 10 + 101, qty: 5 },
      { line_no: client * 10 + 103, qty: 1 },
      { line_no: client * 10 + 104, qty: 2 },
    ]);
    expect(whole.sheet_lines).toMatchObject([...lines, ...expected]);
    expect(whole).toMatchObject({ items: 50, total: 30 + 16 * 8 });
    expect((await read(other)).sheet_lines).toMatchObject(lines);
  });
});

test("delete removes the lines with their header, and no other's", async () => {
  check(await send("delete", { where: [{ key: "sheet_id", value: id }] }), { status: 200 });
  const counts = await fixture.sql(
    `select (select count(*) from sheet_lines where sheet_id = '${id}') as mine,
       (select count(*) from sheet_notes where sheet_id = '${id}') as notes`,
  );
  expect(counts.map((row) => Object.values(row).map(Number))).toEqual([[0, 0]]);
  expect((await read(other)).sheet_lines).toMatchObject(lines);
});
