/** A service mounted below a path of another server, without a socket: addresses in responses, clients, reloads. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createRowgate, type Rowgate } from "../../app/start/create-rowgate.ts";
import { createLog } from "../../app/start/observing/log.ts";

const folder = mkdtempSync(join(tmpdir(), "rowgate-mounted-"));
const configDir = join(folder, "configs");
const origin = "http://localhost";
let rowgate: Rowgate;

const write = (name: string, content: object): void =>
  writeFileSync(join(configDir, "shop", name), JSON.stringify(content));

beforeAll(async () => {
  const database = new Database(join(folder, "shop.db"));
  database.exec("create table goods (id integer primary key, name varchar(40) not null)");
  database.exec("insert into goods (name) values ('nails'), ('screws')");
  database.exec("create table orders (id integer primary key, status varchar(10) not null)");
  database.exec("insert into orders (status) values ('open')");
  database.close();
  mkdirSync(join(configDir, "shop"), { recursive: true });
  write("project.json", {
    database: { url: `sqlite:${join(folder, "shop.db")}` },
    rateLimit: { actions: { first: 1 } },
  });
  const check = { url: "/goods/read", method: "POST", blocking: true, body: { limit: 1 } };
  write("orders.json", {
    tableName: "orders",
    action: { "change-status": true },
    workflow: { transitions: { open: ["paid"], paid: [] }, hooks: { paid: { onBefore: [check] } } },
  });
  write("goods.json", {
    tableName: "goods",
    action: { read: true, first: true, lookup: true, export: true },
  });
  rowgate = await createRowgate({
    configDir,
    basePath: "/rows",
    env: { STORAGE_URL: `file:${join(folder, "files")}` },
    log: createLog("silent"),
  });
});
afterAll(async () => {
  await rowgate?.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  rowgate.fetch(new Request(origin + path, { headers }));
// oxlint-disable-next-line no-explicit-any -- tests look into answers of every shape
const bodyOf = async (response: Promise<Response>): Promise<any> => (await response).json();
const post = (path: string, body: object, address?: string): Promise<Response> =>
  rowgate.fetch(
    new Request(origin + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
    { address },
  );

describe("below a path", () => {
  test("actions answer there", async () => {
    const { data } = await bodyOf(post("/rows/api/shop/goods/read", { limit: 5 }));
    expect(data.map(({ name }: { name: string }) => name)).toEqual(["nails", "screws"]);
  });

  test.each(["/api/shop/goods/read", "/rowsapi/shop/goods/read", "/", "/health/live"])(
    "%s is not there, and the answer says where the actions are",
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(404);
      expect((await bodyOf(Promise.resolve(response))).message).toBe(
        "No resource exists at this path; the actions are at /rows/api/{project}/{endpoint}/{action}, and GET /rows lists them",
      );
    },
  );

  test("the next page of a lookup is where the page before says", async () => {
    const mode = { "X-Request-Mode": "dynamic" };
    const first = await bodyOf(get("/rows/api/shop/goods/lookup?page=1&limit=1", mode));
    const { data } = await bodyOf(get(first.pagination.next, mode));
    expect(data).toMatchObject([{ text: "screws" }]);
  });

  test("the file of an export is where its status says", async () => {
    const { job_id } = await bodyOf(post("/rows/api/shop/goods/export", { format: "csv" }));
    const status = (): Promise<{ file_url?: string }> =>
      bodyOf(get(`/rows/api/shop/goods/export-status?job_id=${job_id}`));
    const expected = `/rows/api/shop/goods/export-download?job_id=${job_id}`;
    await expect.poll(async () => (await status()).file_url, { timeout: 15_000 }).toBe(expected);
    expect(await (await get(expected)).text()).toContain("screws");
  });

  test.each(["/rows", "/rows/"])("the JSON of %s has addresses that work", async (path) => {
    const { projects, links } = await bodyOf(get(path));
    expect(projects[0].endpoints[0].path).toBe("/rows/api/shop/goods");
    expect(links.docs).toBe("/rows/docs");
    const statuses = Object.values<string>(links).map(async (link) => (await get(link)).status);
    expect(await Promise.all(statuses)).toEqual(Object.keys(links).map(() => 200));
  });

  test.each(["/rows", "/rows/", "/rows/docs", "/rows/console"])(
    "the page %s has links that work",
    async (path) => {
      const html = await (await get(path, { accept: "text/html" })).text();
      const links = [...html.matchAll(/(?:href|src)="([^"#]+)/g)].map(([, link = ""]) => link);
      expect(links.length).toBeGreaterThan(2);
      const left: string[] = [];
      for (const link of links) {
        const { pathname, search } = new URL(link.replaceAll("&amp;", "&"), origin + path);
        const { status } = await get(pathname + search, { accept: "text/html" });
        if (status !== 200) left.push(`${link}: ${status}`);
      }
      expect(left).toEqual([]);
    },
  );

  test("the example of the page is a request that works", async () => {
    const html = await (await get("/rows", { accept: "text/html" })).text();
    expect(html).toContain(`${origin}/rows/api/shop/goods/read`);
  });

  test.each(["/rows/openapi.json", "/rows/api/shop/openapi.json"])(
    "%s names the path as its server",
    async (path) => {
      expect((await bodyOf(get(path))).servers).toEqual([{ url: "/rows" }]);
    },
  );
});

test("hooks that call an action of the service itself name it without the path", async () => {
  const paid = await bodyOf(post("/rows/api/shop/orders/change-status", { id: 1, status: "paid" }));
  expect(paid).toMatchObject({ success: true, data: { status: "paid" } });
});

test("clients count for rate limits by the address that comes with the request", async () => {
  const where = { key: "id", value: 1 };
  const first = (address: string) =>
    post("/rows/api/shop/goods/first", { where }, address).then(({ status }) => status);
  expect(await first("192.0.2.1")).toBe(200);
  expect(await first("192.0.2.1")).toBe(429);
  expect(await first("192.0.2.2")).toBe(200);
});

test("without auth, the names of the own server are those of ALLOWED_HOSTS", async () => {
  const env = { ALLOWED_HOSTS: "shop.example" };
  const other = await createRowgate({ configDir, env, log: createLog("silent") });
  const statusAt = async (host: string): Promise<number> =>
    (await other.fetch(new Request(`https://${host}/health/live`))).status;
  expect(await statusAt("shop.example")).toBe(200);
  expect(await statusAt("other.example")).toBe(421);
  await other.close();
});

test.each([
  ["with a length", { "content-length": "2" }],
  ["without a length", {}],
])("a body %s that somebody else has read is an error that the log explains", async (_, length) => {
  const logged: string[] = [];
  const write = (line: string): void => void logged.push(line);
  const other = await createRowgate({
    configDir,
    env: {},
    log: pino({ level: "error" }, { write }),
  });
  const request = new Request(`${origin}/api/shop/goods/read`, {
    method: "POST",
    headers: { "content-type": "application/json", ...length },
    body: "{}",
  });
  await request.text();
  expect((await other.fetch(request)).status).toBe(500);
  await other.close();
  expect(logged.join("")).toContain("put Rowgate before what reads bodies, such as express.json()");
});

test("reload serves the files as they are now, and keeps the old ones when they are faulty", async () => {
  const readKinds = () => post("/rows/api/shop/kinds/read", { limit: 1 });
  expect((await readKinds()).status).toBe(404);
  write("kinds.json", { tableName: "goods", action: { read: true } });
  await rowgate.reload();
  expect((await readKinds()).status).toBe(200);
  write("kinds.json", { tableName: "gods", action: { read: true } });
  await expect(rowgate.reload()).rejects.toThrow('did you mean "goods"?');
  expect((await readKinds()).status).toBe(200);
});

test.each(["rows", "/rows/", "/", "/a b", "/rows?x"])(
  "basePath %j is refused",
  async (basePath) => {
    const opening = createRowgate({ configDir, basePath, log: createLog("silent") });
    await expect(opening).rejects.toThrow("must be a path such as");
  },
);
