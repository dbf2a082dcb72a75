/** The programs of docs/embedding.md with the packed package: Hono, Express and Bun on a port, Next.js without one. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { workbookOf } from "../contract/imports.ts";
import { commandFor } from "../runtime/runtimes.ts";
import { endPrograms, exported, post, serve } from "./programs.ts";
import { fillDatabase, root } from "./unpack.ts";

const page = readFileSync(join(root, "docs/embedding.md"), "utf8");

/** The blocks of the section of this name. */
const blocksOf = (section: string): readonly string[] => {
  const [, text = ""] = page.split(`\n## ${section}\n`);
  const [own = ""] = text.split("\n## ");
  return [...own.matchAll(/```js\n([^]*?)```/g)].map(([, code = ""]) => code);
};
const [bun = ""] = commandFor("bun") ?? [];
const folder = inject("unpacked");

afterEach(endPrograms);

/** A folder with a configuration, and this program. */
function programIn(name: string, { file, code }: { file: string; code: string }): string {
  const cwd = join(folder, name);
  mkdirSync(join(cwd, "configs/shop"), { recursive: true });
  fillDatabase(join(cwd, "shop.db"));
  const endpoint = {
    tableName: "goods",
    action: { read: true, export: true, import: true },
    fieldValidation: [{ name: "name", type: "string" }],
  };
  writeFileSync(
    join(cwd, "configs/shop/project.json"),
    JSON.stringify({ database: { url: "sqlite:./shop.db" } }),
  );
  writeFileSync(join(cwd, "configs/shop/goods.json"), JSON.stringify(endpoint));
  writeFileSync(join(cwd, "package.json"), '{"type": "module"}');
  mkdirSync(dirname(join(cwd, file)), { recursive: true });
  writeFileSync(join(cwd, file), code);
  return cwd;
}

const namesIn = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);

/** Opens a connection, and leaves in the middle of a body. */
async function leaveEarly(url: string): Promise<void> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  const head = `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(`${head}{"limit"`, () => resolve()));
  socket.destroy();
}

describe.each([
  { section: "Hono", command: process.execPath },
  { section: "Express", command: process.execPath },
  { section: "Bun", command: bun },
])("the program of the section $section", ({ section, command }) => {
  const [code = ""] = blocksOf(section);
  const cwd = programIn(section, { file: "server.js", code });

  test("serves its own page, records, files and uploads", async () => {
    const url = await serve({ command, args: ["server.js"], cwd });
    const goods = `${url}/rows/api/shop/goods`;
    expect(await (await fetch(`${url}/`)).text()).toBe("My program");
    await leaveEarly(`${goods}/read`);
    expect(namesIn(await post(`${goods}/read`, { limit: 5 }))).toEqual(["nails", "screws"]);
    expect(await (await fetch(url + (await exported(goods)))).text()).toContain("screws");
    const form = new FormData();
    form.append("file", new File([await workbookOf([["name"], ["bolts"]])], "goods.xlsx"));
    expect(JSON.stringify(await post(`${goods}/import-upload`, form))).toContain('"success":true');
    const html = await fetch(`${url}/rows`, { headers: { accept: "text/html" } });
    expect(await html.text()).toContain("/rows/docs");
    // The details are for callers from this machine: the address of the client has arrived.
    expect(await (await fetch(`${url}/rows/health/ready`)).json()).toHaveProperty("projects");
  });
});

describe("Rowgate behind the parsers of Express", () => {
  const [program = "", keepsBytes = ""] = blocksOf("Express");
  const behind = (parser: string): string =>
    program
      .replace("app.use(express.json());\n", "")
      .replace("express();\n", `express();\n${parser}`);

  test.each([
    { title: "fails with 500", parser: "app.use(express.json());\n", success: false },
    { title: "works with the bytes kept", parser: keepsBytes, success: true },
  ])("$title", async ({ parser, success }) => {
    const cwd = programIn(`parser-${success}`, { file: "server.js", code: behind(parser) });
    const url = await serve({ command: process.execPath, args: ["server.js"], cwd });
    const answer = await post(`${url}/rows/api/shop/goods/read`, { limit: 5 });
    expect(answer).toMatchObject(success ? { success } : { error: "Internal server error" });
  });
});

test("the route handler of Next.js answers what Next.js passes on", () => {
  const [route = ""] = blocksOf("Next.js");
  const file = "app/rows/[[...path]]/route.js";
  const cwd = programIn("next", { file, code: route });
  const visit = `
    import { GET, POST, OPTIONS, dynamic } from "./${file}";
    const at = (path) => "http://localhost/rows" + path;
    const context = (...path) => ({ params: Promise.resolve({ path }) });
    const page = await GET(new Request(at("/docs")), context("docs"));
    const read = new Request(at("/api/shop/goods/read"), {
      method: "POST", headers: { "content-type": "application/json" }, body: '{"limit": 1}' });
    const records = await (await POST(read, context("api", "shop", "goods", "read"))).json();
    const options = await OPTIONS(new Request(at("/openapi.json"), { method: "OPTIONS" }), context());
    console.log(JSON.stringify([dynamic, page.status, records.data, options.status]));
    await (await globalThis.rowgate).close();`;
  writeFileSync(join(cwd, "visit.js"), visit);
  const env = { ...process.env, LOG_LEVEL: "silent" };
  const { stdout, stderr } = spawnSync(process.execPath, ["visit.js"], {
    cwd,
    env,
    encoding: "utf8",
  });
  expect(stdout.trim(), stderr).toBe('["force-dynamic",200,[{"id":1,"name":"nails"}],405]');
});
