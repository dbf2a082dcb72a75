/**
 * What is deployed: the module that `app/start/commands/bundle-config.ts` writes, the root's wrangler.toml with a
 * Hyperdrive binding, and bundled components.
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { endpoints, tables } from "./edge-visits.ts";
import { bundle, startWorkerd, type Workerd } from "./workerd.ts";

const root = join(import.meta.dirname, "../..");

const component = `
export const shout = ({ data }: { data: { name: string } }) => ({ ...data, name: data.name.toUpperCase() });
export const refuse = ({ data, reject }: any) => {
  if (data.name === "BAD") reject("Not this one");
};
`;

const files = {
  "shop/project.json": { database: { url: "${SHOP_DATABASE_URL}" } },
  "shop/goods.json": {
    ...endpoints.goods,
    components: { onBeforeInsert: ["components/words.ts#shout", "components/words.ts#refuse"] },
  },
  "shop/components/words.ts": component,
};

let folder: string;
let database: FreshDatabase;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-worker-"));
  database = await freshDatabase("postgres");
  const session = await openSession("postgres", database.url);
  for (const text of createTables("postgres", tables)) await session.run(text);
  await session.close();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, "configs", path)), { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await writeFile(join(folder, "configs", path), text);
  }
  await promisify(execFile)(
    process.execPath,
    [join(root, "app/start/commands/bundle-config.ts"), join(folder, "dist/worker.ts")],
    { cwd: root, env: { ...process.env, CONFIG_DIR: join(folder, "configs") } },
  );
  const settings = await readFile(join(root, "wrangler.toml"), "utf8");
  const binding = `
[[hyperdrive]]
binding = "SHOP_DATABASE_URL"
id = "0123456789abcdef0123456789abcdef"
localConnectionString = "${database.url.replace("//postgres@", "//postgres:none@")}"
`;
  await writeFile(join(folder, "wrangler.toml"), settings + binding);
}, 60_000);

afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

describe("the Worker of a configuration folder", () => {
  let workerd: Workerd;
  beforeAll(async () => {
    workerd = await startWorkerd(join(folder, "wrangler.toml"));
  }, 60_000);
  afterAll(() => workerd?.stop());

  const post = async (path: string, body: object) => {
    const response = await fetch(`${workerd.url}/api/shop/goods/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as any };
  };

  test("reaches its database through Hyperdrive, and runs its components", async () => {
    expect((await fetch(`${workerd.url}/health/ready`)).status).toBe(200);
    // Nothing is kept between two requests.
    expect((await fetch(`${workerd.url}/metrics`)).status).toBe(404);
    const created = await post("create", { id: "one", name: "good" });
    expect(created.body).toMatchObject({ success: true, data: { id: "one", name: "GOOD" } });
    expect(await post("create", { name: "bad" })).toMatchObject({
      status: 422,
      body: { error: "Rejected by hook", message: "Not this one" },
    });
    expect((await post("read", { page: 1 })).body.pagination.total_records).toBe(1);
  });

  test("has the console, whose files it brings along", async () => {
    const page = await (await fetch(`${workerd.url}/console`)).text();
    const [, start = ""] = /src="(console\/files\/\w+\/main\.js)"/.exec(page) ?? [];
    for (const name of ["main.js", "styles/base.css", "views/grid.js", "vendor/datatables.js"]) {
      const response = await fetch(`${workerd.url}/${start.replace("main.js", name)}`);
      expect([name, response.status, response.headers.get("Cache-Control")]).toEqual([
        name,
        200,
        "public, max-age=31536000, immutable",
      ]);
      expect((await response.text()).length).toBeGreaterThan(1000);
    }
    expect((await fetch(`${workerd.url}/console/files/0/main.js`)).status).toBe(404);
  });
});

test("what is deployed holds no code for files, threads or SQLite, and stays small", async () => {
  const { code, packages } = await bundle(join(folder, "wrangler.toml"));
  expect(packages).toContain("postgres");
  const unwanted = [
    "better-sqlite3",
    "exceljs",
    "pino",
    "pg",
    "@bull-board/api",
    "@hono/node-server",
    // No project of the folder has tools for agents.
    "@modelcontextprotocol/server",
  ];
  expect(packages.filter((name) => unwanted.includes(name))).toEqual([]);
  // Cloudflare takes 3 MB of it in its free plan.
  expect(gzipSync(code).byteLength).toBeLessThan(1.5 * 1024 ** 2);
});
