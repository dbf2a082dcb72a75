/** Records that refer to others of their table are stored and deleted together with these, whatever their order. */
import { beforeEach, expect, inject, test } from "vitest";
import { type Answer, openFixture, openForTests } from "./harness.ts";

const fixture = openForTests(async () => {
  const parent = (onDelete?: string) =>
    ({
      type: "text(36)",
      references: { table: "nodes", column: "node_id", ...(onDelete && { onDelete }) },
    }) as const;
  return openFixture({
    tables: [
      { name: "trees", columns: { tree_id: "key" } },
      {
        name: "nodes",
        columns: {
          node_id: "key",
          tree_id: { type: "text(36)", references: { table: "trees", column: "tree_id" } },
          name: "text(20)",
          parent_id: parent(),
          owner_id: parent("CASCADE"),
        },
      },
    ],
    setUp: () => [
      `create table cells (tenant varchar(10) not null, cell varchar(10) not null, parent varchar(10),
         primary key (tenant, cell), foreign key (tenant, parent) references cells (tenant, cell))`,
    ],
    endpoints: {
      cells: {
        tableName: "cells",
        action: { "bulk-create": true, "bulk-delete": true },
        hiddenFields: ["parent"],
      },
      trees: {
        tableName: "trees",
        action: { delete: true, "create-composite": true, "update-composite": true },
        masterDetail: { detailTable: "nodes", foreignKey: "tree_id", cascadeDelete: true },
      },
      nodes: { tableName: "nodes", action: { delete: true, "bulk-delete": true, upsert: true } },
      // A handler has to see each record.
      seen: {
        tableName: "nodes",
        action: { delete: true },
        components: { onAfterDelete: ["components/seen.ts#see"] },
      },
    },
    components: { "components/seen.ts": { see: () => undefined } },
  });
});

const names = ["a", "b", "c", "d", "e"];
const rings = ["r1", "r2", "r3", "r4"];
beforeEach(async () => {
  await fixture.sql("update nodes set parent_id = null");
  await fixture.sql("delete from nodes");
  await fixture.sql("delete from trees");
  await fixture.sql("insert into trees values ('t')");
  // A chain, the end of which belongs to its beginning, too.
  await fixture.sql(
    "insert into nodes values ('a', 't', 'x', null, null), ('b', 't', 'x', 'a', null), ('c', 't', 'x', 'b', null), ('d', 't', 'x', 'c', null), ('e', 't', 'x', null, 'a')",
  );
});

const post = (path: string, body: object): Promise<Answer> => fixture.post(path, body);
const all = { key: "name", operator: "=", value: "x" };
const items = ({ body }: Answer) => body.data.deleted_items ?? body.data;

test.each<[string, () => Promise<Answer>]>([
  ["delete", () => post("nodes/delete", { where: [all] })],
  ["delete with handlers", () => post("seen/delete", { where: [all] })],
  ["bulk-delete by keys", () => post("nodes/bulk-delete", { keys: names })],
  [
    "bulk-delete by a condition",
    () => post("nodes/bulk-delete", { where: { conditions: [all] }, expect: names.length }),
  ],
])("%s removes and answers parents with their children", async (_, send) => {
  const answer = await send();
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const deleted = items(answer).map((one: Record<string, unknown>) => [
    one["node_id"],
    one["parent_id"] ?? one["owner_id"],
  ]);
  expect(deleted.toSorted()).toEqual([
    ["a", null],
    ["b", "a"],
    ["c", "b"],
    ["d", "c"],
    ["e", "a"],
  ]);
  expect(await fixture.sql("select node_id from nodes")).toEqual([]);
});

test.each<[string, () => Promise<Answer>]>([
  ["delete", () => post("nodes/delete", { where: [{ key: "name", value: "ring" }] })],
  ["delete with handlers", () => post("seen/delete", { where: [{ key: "name", value: "ring" }] })],
  ["bulk-delete", () => post("nodes/bulk-delete", { keys: rings })],
  ["their document", () => post("trees/delete", { where: [{ key: "tree_id", value: "t" }] })],
])("%s removes records that refer to themselves or in a circle", async (_, send) => {
  await fixture.sql(
    "insert into nodes values ('r1', 't', 'ring', 'r1', 'r1'), ('r2', 't', 'ring', 'r1', null), ('r3', 't', 'ring', null, 'r3'), ('r4', 't', 'ring', 'r3', null)",
  );
  await fixture.sql("update nodes set parent_id = 'r4' where node_id = 'r3'");
  const answer = await send();
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(await fixture.sql("select node_id from nodes where name = 'ring'")).toEqual([]);
});

test("a record that another refers to stays as it is, with its reference to itself", async () => {
  await fixture.sql(
    "insert into nodes values ('r1', 't', 'ring', 'r1', null), ('r2', 't', 'y', 'r1', null)",
  );
  const answer = await post("nodes/delete", { where: [{ key: "name", value: "ring" }] });
  expect(answer).toMatchObject({ status: 409, body: { error: "Foreign key constraint" } });
  expect(await fixture.sql("select parent_id from nodes where node_id = 'r1'")).toEqual([
    { parent_id: "r1" },
  ]);
});

test.each<[string, () => Promise<Answer>]>([
  ["their document", () => post("trees/delete", { where: [{ key: "tree_id", value: "t" }] })],
  [
    "an update-composite",
    () => {
      const gone = names.map((node_id) => ({ node_id }));
      return post("trees/update-composite", { trees: { tree_id: "t", nodes: { delete: gone } } });
    },
  ],
])("details are removed by %s", async (_, send) => {
  const answer = await send();
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(await fixture.sql("select node_id from nodes")).toEqual([]);
});

const twigs = [
  { node_id: "v3", parent_id: "v2", name: "third" },
  { node_id: "v2", parent_id: "v1" },
  { node_id: "v1", name: "first" },
];
test.each<[string, (nodes: object[]) => Promise<Answer>]>([
  [
    "create-composite",
    (nodes) => post("trees/create-composite", { trees: { tree_id: "u", nodes } }),
  ],
  [
    "update-composite",
    (nodes) =>
      post("trees/update-composite", { trees: { tree_id: "t", nodes: { insert: nodes } } }),
  ],
])("%s stores details that refer to later ones", async (_, send) => {
  const answer = await send(twigs);
  expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ success: true });
  const shown = answer.body.data.nodes?.map(({ node_id }: { node_id: string }) => node_id);
  if (shown) expect(shown).toEqual(["v3", "v2", "v1"]);
  expect(await fixture.sql("select node_id from nodes where node_id like 'v%'")).toHaveLength(3);
});

test("a refused detail is named, and not the one that refers to a later one", async () => {
  const nodes = [...twigs, { node_id: "a" }];
  const answer = await post("trees/create-composite", { trees: { tree_id: "u", nodes } });
  expect(answer.body).toMatchObject({
    error: "Duplicate entry",
    errors: { "nodes[3].node_id": ["already exists"] },
  });
});

test.each(["all", "each"])("upsert in mode %s lets records refer to new ones", async (mode) => {
  const data = [
    { node_id: "a", parent_id: "n2" },
    { node_id: "n2", parent_id: "n1" },
    { node_id: "n1" },
  ];
  const answer = await post("nodes/upsert", { data, mode });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(await fixture.sql("select parent_id from nodes where node_id = 'a'")).toEqual([
    { parent_id: "n2" },
  ]);
});

test("more records than one statement takes go before those that they refer to", async () => {
  const data = Array.from({ length: 700 }, (_, at) => ({
    tenant: "t",
    cell: String(at),
    parent: at === 0 ? null : String(at % 7 === 0 ? 0 : at - 1),
  }));
  expect((await post("cells/bulk-create", { data })).status).toBe(201);
  const keys = data.map(({ tenant, cell }) => ({ tenant, cell }));
  const answer = await post("cells/bulk-delete", { keys });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  expect(answer.body.data).toEqual(keys);
});

// Only InnoDB cannot delete them in one statement.
test.skipIf(inject("engine") === "mysql")(
  "records that refer in a circle go together",
  async () => {
    await fixture.sql("update nodes set parent_id = 'd' where node_id = 'a'");
    const answer = await post("nodes/bulk-delete", { keys: names });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  },
);

test("a record outside of them still keeps its parent", async () => {
  const answer = await post("nodes/bulk-delete", { keys: ["a", "b"], mode: "each" });
  expect(answer.body.results).toMatchObject([
    { error: "Foreign key constraint" },
    { error: "Foreign key constraint" },
  ]);
});
