/** Rule defaults of fields that a caller cannot set: each new record has them, whichever action makes it. */
import { beforeEach, describe, expect, test } from "vitest";
import { apiKey, by } from "./api-keys.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { importerOf, workbookOf } from "./imports.ts";

const papers = {
  tableName: "papers",
  primaryKey: "paper_id",
  access: { owner: "*", clerk: "*" },
  action: {
    create: true,
    update: true,
    upsert: true,
    "bulk-create": true,
    "create-composite": true,
    "update-composite": true,
    import: true,
  },
  fieldValidation: {
    status: { type: "string", default: " Draft ", trim: true, lowercase: true },
    level: { type: "integer", default: 7 },
  },
  importConfig: { upsertKeys: ["title"] },
  masterDetail: {
    detailTable: "paper_lines",
    foreignKey: "paper_id",
    detailConfig: {
      primaryKey: "line_id",
      fieldName: ["text", "state"],
      fieldValidation: { state: { type: "string", default: "open" } },
    },
  },
};

const fixture = openForTests(openFixture, {
  tables: [
    {
      name: "papers",
      columns: {
        paper_id: "key",
        title: { type: "text(20)", unique: true },
        status: { type: "text(20)", notNull: true },
        level: "integer",
        total: "integer",
      },
    },
    {
      name: "paper_lines",
      columns: {
        line_id: "key",
        paper_id: { type: "text(36)", references: { table: "papers", column: "paper_id" } },
        text: "text(20)",
        state: "text(20)",
        size: "integer",
        twice: "integer",
      },
    },
  ],
  project: { auth: { apiKeys: [apiKey("owner"), apiKey("clerk")] } },
  endpoints: {
    everybody: { ...papers, readOnlyFields: ["status", "level", "state"] },
    roles: {
      ...papers,
      readOnlyFields: { clerk: ["status", "state"] },
      hiddenFields: { clerk: ["level"] },
    },
    handled: {
      ...papers,
      readOnlyFields: ["status", "level", "state"],
      components: { onBeforeInsert: ["components/code.ts#keep"] },
    },
    kept: {
      ...papers,
      action: { ...papers.action, delete: true, history: true, revert: true },
      history: true,
      readOnlyFields: ["status", "level", "total"],
      masterDetail: { ...papers.masterDetail, cascadeDelete: true },
      calculation: { detail: { twice: "size * 2" }, header: { total: "SUM(twice)" } },
    },
    kept_lines: {
      tableName: "paper_lines",
      primaryKey: "line_id",
      access: papers.access,
      action: { create: true, delete: true, history: true, revert: true },
      history: true,
      readOnlyFields: ["twice"],
    },
    unused: { ...papers, fieldName: ["title", "status"], readOnlyFields: ["status"] },
  },
  components: { "components/code.ts": { keep: () => undefined } },
});
beforeEach(async () => {
  await fixture.sql("delete from paper_lines");
  await fixture.sql("delete from papers");
});

const sent = { title: "a", status: "sent", level: 1 };
const line = { text: "l", state: "sent" };
const post = (path: string, body: object): Promise<Answer> => fixture.post(path, body, by("clerk"));

async function importRows(endpoint: string): Promise<Answer> {
  const importer = importerOf({
    post: (path, body) => fixture.post(path, body, by("clerk")),
    request: (path, init) =>
      fixture.request(path, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init?.headers)), ...by("clerk") },
      }),
  });
  const file = await workbookOf([
    ["title", "status", "level"],
    ["a", "sent", 1],
  ]);
  return importer.committed(endpoint, file);
}

describe.each(["everybody", "roles", "handled"])(
  "a field that a caller cannot set: %s",
  (place) => {
    test.each([
      ["create", () => post(`${place}/create`, sent)],
      ["bulk-create", () => post(`${place}/bulk-create`, { data: [sent] })],
      ["upsert", () => post(`${place}/upsert`, { data: sent, by: ["title"] })],
      ["import", () => importRows(place)],
      [
        "create-composite",
        () => post(`${place}/create-composite`, { papers: { ...sent, paper_lines: [line] } }),
      ],
    ])("has its default in a new record of %s", async (_, make) => {
      expect((await make()).body).toMatchObject({ success: true });
      expect(await fixture.sql("select status, level from papers")).toEqual([
        { status: "draft", level: 7 },
      ]);
    });

    test("has its default in a new line, and keeps its value in updates", async () => {
      await post(`${place}/create-composite`, {
        papers: { paper_id: "p", title: "a", paper_lines: [line] },
      });
      await fixture.sql("update papers set status = 'done', level = 8");
      await fixture.sql("update paper_lines set state = 'done'");
      const changes = { insert: [line] };
      const answer = await post(`${place}/update-composite`, {
        papers: { paper_id: "p", title: "b", paper_lines: changes },
      });
      expect(answer.body).toMatchObject({ success: true });
      expect((await post(`${place}/update`, { paper_id: "p", title: "c" })).status).toBe(200);
      expect(await fixture.sql("select status, level from papers")).toEqual([
        { status: "done", level: 8 },
      ]);
      expect(await fixture.sql("select state from paper_lines order by state")).toEqual([
        { state: "done" },
        { state: "open" },
      ]);
    });
  },
);

test.each([
  ["with its defaults", "", ""],
  ["not without its own status", "status = 'done'", "status"],
  ["not with a level that it had not", "level = null", "level"],
])("a deleted record comes back %s", async (_, set, lost) => {
  await post("kept/create", { paper_id: "p", title: "a" });
  if (set !== "") await fixture.sql(`update papers set ${set}`);
  await post("kept/delete", { where: [{ key: "paper_id", value: "p" }] });
  const [{ change_id }] = (await post("kept/history", { paper_id: "p" })).body.data;
  const answer = await post("kept/revert", { change_id });
  const message = `The record cannot be created again, because you may not set all of its values: those of ${lost} are missing`;
  expect([answer.status, answer.body]).toMatchObject(
    lost === "" ? [201, { data: { title: "a", status: "draft", level: 7 } }] : [409, { message }],
  );
});

test("a deleted line and its header come back without what is computed from the others", async () => {
  await post("kept/create", { paper_id: "p", title: "a" });
  await post("kept_lines/create", { line_id: "l", paper_id: "p", size: 2 });
  const again = async (place: string, key: Record<string, string>): Promise<Answer> => {
    const where = Object.entries(key).map(([name, value]) => ({ key: name, value }));
    await post(`${place}/delete`, { where });
    const [{ change_id }] = (await post(`${place}/history`, key)).body.data;
    return post(`${place}/revert`, { change_id });
  };
  expect((await again("kept_lines", { line_id: "l" })).body.data).toMatchObject({ twice: 4 });
  expect(await fixture.sql("select total from papers")).toEqual([{ total: 4 }]);
  expect((await again("kept", { paper_id: "p" })).body.data).toMatchObject({ title: "a" });
});

test("a field outside of fieldName has no default", async () => {
  expect((await post("unused/create", sent)).body).toMatchObject({ success: true });
  expect(await fixture.sql("select status, level from papers")).toEqual([
    { status: "draft", level: null },
  ]);
});
