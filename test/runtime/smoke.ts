/**
 * Sends one request to each basic action, through the whole service, on every database in the first argument (JSON:
 * name -> URL). Prints one JSON document, name -> answers, which `runtime.test.ts` compares between Node, Bun and Deno.
 */
import process from "node:process";
import { createLog } from "../../app/start/observing/log.ts";
import { openService } from "../../app/start/servers/wire.ts";

const databases = JSON.parse(process.argv[2] ?? "{}") as Record<string, string>;

const goods = {
  tableName: "goods",
  primaryKey: "id",
  action: { create: true, read: true, first: true, update: true, delete: true, adjust: true },
  adjustConfig: { fields: { stock: { type: "integer", min: 0 } } },
};

const visits: readonly (readonly [action: string, body: object, accept?: string])[] = [
  ["create", { id: "given", name: "Zürich \u{1F4A1}", price: 12.5, stock: 3, active: true }],
  ["create", { id: "given", name: "again" }],
  ["create", { name: "numbered", big: "9007199254740993", day: "2026-02-28" }],
  ["read", { sort_columns: [{ column: "name", direction: "ASC" }] }],
  [
    "read",
    { page: 1, per_page: 1, where: { conditions: [{ key: "stock", operator: ">", value: 1 }] } },
  ],
  ["read", { select: ["id", "name"], cursor: true, per_page: 1 }, "text/csv"],
  ["first", { where: { key: "id", value: "given" } }],
  ["first", { where: { key: "nothing", value: 1 } }],
  ["update", { id: "given", name: "changed", made: "2026-02-28T12:30:00.250Z" }],
  ["adjust", { id: "given", adjustments: [{ field: "stock", value: -2 }] }],
  ["adjust", { id: "given", adjustments: [{ field: "stock", value: -2 }] }],
  ["delete", { where: [{ key: "id", value: "given" }] }],
];

const answers: Record<string, object[]> = {};
for (const [name, url] of Object.entries(databases)) answers[name] = await visit(url);
console.log(JSON.stringify(answers));

async function visit(url: string): Promise<object[]> {
  const service = await openService({
    files: new Map([
      ["smoke/project.json", JSON.stringify({ database: { url } })],
      ["smoke/goods.json", JSON.stringify(goods)],
    ]),
    env: {},
    log: createLog("silent"),
  });
  await service.ready;
  const seen: object[] = [];
  for (const [action, body, accept = "*/*"] of visits) {
    const response = await service.app.request(`/api/smoke/goods/${action}`, {
      method: "POST",
      headers: { "content-type": "application/json", accept },
      body: JSON.stringify(body),
    });
    const { status, headers } = response;
    const isJson = headers.get("content-type")?.includes("json");
    const answer = isJson
      ? await response.json()
      : {
          text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(await response.arrayBuffer()),
          hasNext: headers.has("x-next-cursor"),
        };
    seen.push({ action, status, body: answer });
  }
  await service.close();
  return seen;
}
