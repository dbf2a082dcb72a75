/** `mcp` of project.json: what is wrong is a fault at load, with its place; the rest is what agents can use. */
import { expect, test } from "vitest";
import { agentsOf } from "../../core/config/compiling/compile-agents.ts";
import { filesOf, load, projectFile, sentenceOf } from "./shop.ts";

const items = {
  tableName: "products",
  action: { create: true, read: true, "bulk-create": true, import: true },
  relations: { twin: { endpoint: "others", column: "product_id" } },
};
const others = { tableName: "products", action: { read: true } };

async function agentsWith(mcp: unknown) {
  const project = { ...projectFile, mcp };
  const files = { "project.json": project, "items.json": items, "others.json": others };
  const loaded = await load(filesOf(files));
  const [config] = loaded.projects;
  const agents = config ? agentsOf(config, loaded.entities) : { plan: null, faults: [] };
  return { plan: agents.plan, faults: [...loaded.faults, ...agents.faults] };
}

test.for<[string, unknown, string, RegExp]>([
  ["no endpoint", { endpoints: [] }, "mcp.endpoints", /not empty/],
  ["nothing", {}, "mcp.endpoints", /list/],
  ["an unknown endpoint", { endpoints: ["item"] }, "mcp.endpoints[0]", /did you mean "items"/],
  [
    "an endpoint twice",
    { endpoints: ["items", "items"] },
    "mcp.endpoints[1]",
    /each endpoint once/,
  ],
  [
    "an unknown property",
    { endpoints: ["items"], writes: [] },
    "mcp.writes",
    /did you mean "write"/,
  ],
  [
    "a write of an endpoint that is not listed",
    { endpoints: ["items"], write: ["others"] },
    "mcp.write[0]",
    /an endpoint of mcp.endpoints/,
  ],
  [
    "a misspelled action",
    { endpoints: ["items"], write: ["items/creat"] },
    "mcp.write[0]",
    /create, bulk-create, found .*; did you mean "create"/,
  ],
  [
    "an action that is off",
    { endpoints: ["items"], write: ["items/delete"] },
    "mcp.write[0]",
    /switched on for items: create, bulk-create/,
  ],
  ["a reading action", { endpoints: ["items"], write: ["items/read"] }, "mcp.write[0]", /writing/],
  [
    "an import",
    { endpoints: ["items"], write: ["items/import-upload"] },
    "mcp.write[0]",
    /writing/,
  ],
  [
    "an endpoint that nobody writes",
    { endpoints: ["others"], write: ["others"] },
    "mcp.write[0]",
    /others has none/,
  ],
])("%s is a fault", async ([, mcp, path, sentence]) => {
  const { faults } = await agentsWith(mcp);
  expect(faults.map((fault) => fault.path)).toEqual([path]);
  expect(sentenceOf(faults[0]!)).toMatch(sentence);
});

test("an endpoint without an action means all of its writes", async () => {
  const { plan, faults } = await agentsWith({ endpoints: ["items"], write: ["items"] });
  expect(faults).toEqual([]);
  expect(plan!.writes).toEqual(new Map([["items", new Set(["create", "bulk-create"])]]));
  const one = await agentsWith({ endpoints: ["items"], write: ["items/create", "items/create"] });
  expect(one.plan!.writes).toEqual(new Map([["items", new Set(["create"])]]));
});

test("relations lead only to listed endpoints, and unknown members are refused", async () => {
  const { plan } = await agentsWith({ endpoints: ["items"] });
  const entity = plan!.entities.get("items")!;
  expect([...plan!.entities.keys()]).toEqual(["items"]);
  expect([...entity.relations.keys()]).toEqual([]);
  expect(entity.read!.named.has("twin.name")).toBe(false);
  expect(entity.settings).toMatchObject({ unknownMembers: "refuse", bulkRecordsMax: 100 });
  const both = await agentsWith({ endpoints: ["items", "others"] });
  expect(both.plan!.entities.get("items")!.read!.named.has("twin.name")).toBe(true);
});

test("a project without mcp has none", async () => {
  expect(await agentsWith(undefined)).toEqual({ plan: null, faults: [] });
});
