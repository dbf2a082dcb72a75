/**
 * Requests that are rarer than those of `openapi-fuzz.test.ts`, against the document: each is one that the document
 * takes, and its answer, with its headers, is one that the document has for it.
 */
import { beforeAll, expect, test } from "vitest";
import { openDocument, type OpenedDocument } from "../openapi/openapi-document.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";

let document: OpenedDocument;
const fixture = openForTests(openFixture, {
  tables: [
    { name: "owners", columns: { id: "key", name: "text(40)", born: "date" } },
    {
      name: "papers",
      columns: {
        id: "key",
        title: "text(40)",
        owner_id: { type: "text(36)", references: "owners" },
        total: "integer",
      },
    },
    {
      name: "paper_lines",
      columns: {
        paper_id: { type: "text(36)", references: "papers" },
        line_no: "integer",
        qty: "integer",
      },
      primaryKey: ["paper_id", "line_no"],
    },
  ],
  project: { requests: { unknown: "refuse" } },
  setUp: () => [
    "INSERT INTO owners VALUES ('a', 'Ada', '1815-12-10'), ('b', 'Bob', null)",
    "INSERT INTO papers VALUES ('p1', 'One', 'a', 3), ('p2', 'Two', null, 0)",
    "INSERT INTO paper_lines VALUES ('p1', 1, 1), ('p1', 2, 2)",
  ],
  endpoints: {
    owners: {
      tableName: "owners",
      action: { read: true, lookup: true, export: true, import: true },
      relations: { papers: { endpoint: "papers", foreignColumn: "owner_id" } },
    },
    papers: {
      tableName: "papers",
      action: {
        read: true,
        first: true,
        update: true,
        lookup: true,
        aggregate: true,
        "read-composite": true,
        "update-composite": true,
      },
      masterDetail: { detailTable: "paper_lines", foreignKey: "paper_id" },
      relations: {
        owner: { endpoint: "owners", column: "owner_id" },
        lines: { endpoint: "lines", foreignColumn: "paper_id" },
      },
    },
    lines: {
      tableName: "paper_lines",
      action: { read: true, aggregate: true, "bulk-delete": true },
      relations: { paper: { endpoint: "papers", column: "paper_id" } },
    },
  },
});
beforeAll(async () => {
  document = openDocument((await fixture.request("/api/test/openapi.json")).body);
});

/** What the document lacks of a request and its answer. */
function faultsOf(path: string, sent: object, answer: Answer): string[] {
  const { requestBody, responses } = document.operations.find(
    (one) => one.method === "POST" && one.path === `/api/test/${path}`,
  )!;
  const described = responses[answer.status];
  if (!described) return [`status ${answer.status}`];
  const media = "application/json";
  const request =
    answer.status < 400 ? document.faultOf(requestBody.content[media].schema, sent) : null;
  const response = document.faultOf(described.content[media].schema, answer.body);
  const known = Object.keys(described.headers).map((name) => name.toLowerCase());
  const unknown = ["etag", "preference-applied", "retry-after"].filter(
    (name) => answer.headers.has(name) && !known.includes(name),
  );
  return [
    ...(request === null ? [] : [`request: ${request}`]),
    ...(response === null ? [] : [`answer: ${response}`]),
    ...unknown.map((name) => `header: ${name}`),
  ];
}

const ofOne = [{ key: "id", value: "p1" }];

const aLot = { key: "qty", operator: ">", value: 1 };
const fromList = { "X-Request-Mode": "static" };

test.each<[path: string, body: object, status: number, headers?: Record<string, string>]>([
  ["papers/read-composite", { where: ofOne, expand: ["owner"] }, 200],
  ["papers/read-composite", { where: ofOne, expand: { lines: { limit: 1 } } }, 200],
  [
    "papers/read-composite",
    { where: ofOne, expand: { lines: { operations: [{ function: "sum", field: "qty" }] } } },
    200,
  ],
  [
    "papers/lookup",
    {
      select: ["owner.name", "total"],
      where: [{ key: "owner.name", value: "Ada" }],
      sort_columns: [{ column: "owner.name" }],
    },
    200,
    fromList,
  ],
  ["papers/lookup", { select: ["*", "owner.*"] }, 200, fromList],
  [
    "papers/aggregate",
    {
      group_by: ["owner.name", { field: "owner.born", by: "year", alias: "year" }],
      operations: [{ function: "max", field: "owner.born", alias: "last" }],
      where: { conditions: [{ key: "owner.name", operator: "IS NOT NULL" }] },
    },
    200,
  ],
  [
    "papers/aggregate",
    {
      where: { key: "lines", operator: "ANY", where: { conditions: [aLot] } },
      operations: [{ function: "count", field: "*", where: { key: "lines", operator: "ANY" } }],
    },
    200,
  ],
  [
    "lines/aggregate",
    {
      joins: [
        { tableName: "papers", sourceField: "paper_id", targetField: "id", fields: ["title"] },
      ],
      group_by: ["papers.title", "paper.owner_id"],
      operations: [{ function: "sum", field: "paper.total", alias: "sum" }],
    },
    200,
  ],
  [
    "owners/read",
    { expand: { papers: { limit: 1, expand: { lines: { limit: 1, select: ["qty"] } } } } },
    200,
  ],
  [
    "papers/read",
    { expand: { lines: { operations: [{ function: "sum", formula: "qty / 2", alias: "half" }] } } },
    200,
  ],
  ["lines/bulk-delete", { keys: [{ paper_id: "p1" }] }, 400],
])("%s %j is answered %i as the document says", async (path, body, status, headers) => {
  const answer = await fixture.post(path, body, headers);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  expect(faultsOf(path, body, answer)).toEqual([]);
});

test.each([
  ["export", "export"],
  ["import", "preview"],
  ["import", "commit"],
])("%s-cancel may answer that a %s is failed, as a success", (action, kind) => {
  const job_id = `${kind}-5f0c9a3e-0d0b-4d0e-9a53-6f4cf1d0a9b7`;
  const job = { job_id, status: "failed", error: "x", timestamp: "2026-01-01T00:00:00.000Z" };
  const fits = (name: string, success: boolean): boolean => {
    const { responses } = document.operation(`owners${name}`);
    const { schema } = responses[200].content["application/json"];
    return document.faultOf(schema, { success, ...job }) === null;
  };
  const group = action === "export" ? "Export" : "Import";
  expect([fits(`${group}Cancel`, true), fits(`${group}Cancel`, false)]).toEqual([true, false]);
  expect([fits(`${group}Status`, true), fits(`${group}Status`, false)]).toEqual([false, true]);
});
