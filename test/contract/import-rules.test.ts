/** Rules of tables hold for an import whose endpoint has none of them: its job knows the files of other endpoints. */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { openFixture, openForTests } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "papers",
      columns: {
        paper_id: "key",
        paper_no: { type: "text(20)", unique: true },
        name: "text(40)",
        state: "text(10)",
      },
    },
    {
      name: "paper_lines",
      columns: {
        line_id: "key",
        paper_id: { type: "text(36)", references: { table: "papers", column: "paper_id" } },
        amount: "integer",
      },
    },
  ],
  endpoints: {
    papers: {
      tableName: "papers",
      action: { create: true, "change-status": true, "read-composite": true },
      masterDetail: { detailTable: "paper_lines", foreignKey: "paper_id" },
      workflow: {
        statusField: "state",
        transitions: { open: ["posted"], posted: [] },
        closed: ["posted"],
      },
      numbers: { paper_no: { format: "P{seq:4}" } },
    },
    loads: {
      tableName: "papers",
      action: { import: true },
      importConfig: { upsertKeys: ["paper_id"] },
    },
    "line-loads": { tableName: "paper_lines", action: { import: true } },
  },
});
const importer = importerOf(fixture);

async function posted(): Promise<string> {
  const paper_id = randomUUID();
  await fixture.post("papers/create", { paper_id, name: "n", state: "open" });
  await fixture.sql(`update papers set state = 'posted' where paper_id = '${paper_id}'`);
  return paper_id;
}

const imported = async (endpoint: string, rows: readonly (readonly string[])[]) =>
  (await importer.committed(endpoint, await workbookOf(rows))).body;

test("a new record gets its number", async () => {
  const paper_id = randomUUID();
  const body = await imported("loads", [
    ["paper_id", "name"],
    [paper_id, "new"],
  ]);
  expect(body).toMatchObject({ status: "completed", result: { inserted: 1 } });
  const [row] = await fixture.sql(`select paper_no from papers where paper_id = '${paper_id}'`);
  expect(row).toEqual({ paper_no: expect.stringMatching(/^P\d{4}$/) });
});

test("a closed record is not changed", async () => {
  const paper_id = await posted();
  const preview = await importer.previewed(
    "loads",
    await workbookOf([
      ["paper_id", "name"],
      [paper_id, "changed"],
    ]),
  );
  expect(preview.body.summary).toMatchObject({ valid: 0, invalid: 1 });
});

test("a closed document gets no line", async () => {
  const paper_id = await posted();
  const preview = await importer.previewed(
    "line-loads",
    await workbookOf([
      ["paper_id", "amount"],
      [paper_id, "3"],
    ]),
  );
  expect(preview.body.summary).toMatchObject({ valid: 0, invalid: 1 });
});
