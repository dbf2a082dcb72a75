/**
 * Reloading the configuration of a running process: on SIGHUP, and in development when a file is saved. Each service is
 * a separate process with its own folder of files.
 */
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serveProcess } from "../running/serve-process.ts";

const things = { tableName: "things", action: { read: true, create: true } };
let folder: string;
let service: Running | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-reload-"));
  const database = new Database(join(folder, "shop.db"));
  database.exec("create table things (id text primary key, name text)");
  database.exec("insert into things values ('a', 'Anvil')");
  database.close();
  await save({ "shop/project.json": project(), "shop/things.json": things });
});
afterEach(async () => {
  await service?.stop();
  service = null;
  await rm(folder, { recursive: true, force: true });
});

const project = () => ({
  database: { url: `sqlite:${join(folder, "shop.db")}` },
  cache: { enabled: false },
});

/** Writes files of the configuration; an object as JSON. */
async function save(files: Readonly<Record<string, object | string>>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, "configs", name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  }
}

interface Running {
  hangUp(): void;
  /** Status of a read of the endpoint, and the first row. */
  read(path: string): Promise<{ status: number; row: unknown }>;
  create(): Promise<{ status: number; name: unknown }>;
  config(): Promise<{ version: string; last_error: string | null }>;
  said(): string;
  stop(): Promise<void>;
}

async function serve(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Running> {
  const { child, origin, said, stop } = await serveProcess({
    cwd: folder,
    args,
    env: { CONFIG_DIR: join(folder, "configs"), ...env },
  });
  const post = async (path: string, body: object) => {
    const response = await fetch(`${origin}/api/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    // oxlint-disable-next-line no-explicit-any -- answers of several shapes
    return { status: response.status, body: (await response.json()) as any };
  };
  return {
    hangUp: () => void child.kill("SIGHUP"),
    async read(path) {
      const { status, body } = await post(path, { page: 1, per_page: 1 });
      return { status, row: body.data?.[0] };
    },
    async create() {
      const { status, body } = await post("shop/things/create", { name: "Cog" });
      return { status, name: body.data?.name ?? body.message };
    },
    async config() {
      const health = await fetch(`${origin}/health/ready`);
      return ((await health.json()) as { config: Awaited<ReturnType<Running["config"]>> }).config;
    },
    said,
    stop,
  };
}

const soon = { timeout: 15_000 };

test("SIGHUP loads the configuration again", async () => {
  service = await serve();
  const before = await service.config();
  await save({
    "shop/goods.json": things,
    "north/project.json": project(),
    "north/all.json": things,
  });
  service.hangUp();
  await expect.poll(async () => (await service!.read("north/all/read")).status, soon).toBe(200);
  expect((await service.read("shop/goods/read")).status).toBe(200);
  expect((await service.config()).version).not.toBe(before.version);
});

test("SIGHUP with a faulty configuration keeps the old one, and logs each fault", async () => {
  service = await serve();
  await save({ "shop/things.json": { ...things, tableName: "thingz" }, "shop/broken.json": "{" });
  service.hangUp();
  await expect
    .poll(async () => (await service!.config()).last_error, soon)
    .toContain("shop/broken.json");
  expect((await service.read("shop/things/read")).status).toBe(200);
  const lines = () =>
    service!
      .said()
      .split("\n")
      .filter((line) => line.includes("the old one stays"));
  // The log is written in batches.
  await expect.poll(lines, soon).toHaveLength(2);
});

test("--env-file is read again, and the environment stays as it was", async () => {
  const variables = join(folder, "own.env");
  await save({
    "shop/project.json": { ...project(), database: { url: "${SHOP_URL}" } },
    "shop/things.json": { ...things, viewQuery: "file:query/all.sql" },
    "shop/query/all.sql": "select id, name from things",
  });
  const other = new Database(join(folder, "other.db"));
  other.exec("create table things (id text primary key, name text)");
  other.exec("insert into things values ('z', 'Zither')");
  other.close();
  await writeFile(variables, `SHOP_URL=sqlite:${join(folder, "shop.db")}\nPORT=1\n`);
  service = await serve(["--env-file", variables]);
  expect((await service.read("shop/things/read")).row).toEqual({ id: "a", name: "Anvil" });
  await writeFile(variables, `SHOP_URL=sqlite:${join(folder, "other.db")}\nPORT=2\n`);
  service.hangUp();
  await expect
    .poll(async () => (await service!.read("shop/things/read")).row, soon)
    .toEqual({ id: "z", name: "Zither" });
});

describe("components", () => {
  const handled = { ...things, components: { onBeforeInsert: ["components/name.ts#name"] } };
  const handler = (text: string) => `export const name = () => ({ name: ${text} });\n`;

  test("are loaded again when their file has changed", async () => {
    await save({ "shop/things.json": handled, "shop/components/name.ts": handler('"one"') });
    service = await serve();
    expect(await service.create()).toEqual({ status: 201, name: "one" });
    await save({ "shop/components/name.ts": handler('"two"') });
    service.hangUp();
    await expect.poll(async () => (await service!.create()).name, soon).toBe("two");
  });

  test("are loaded again when a file that they import has changed", async () => {
    const importing = `import { word } from "./words/word.ts";\n${handler("word")}`;
    await save({
      "shop/things.json": handled,
      "shop/components/name.ts": importing,
      "shop/components/words/word.ts": 'export const word = "one";\n',
    });
    service = await serve();
    expect(await service.create()).toEqual({ status: 201, name: "one" });
    await save({ "shop/components/words/word.ts": 'export const word = "two";\n' });
    service.hangUp();
    await expect.poll(async () => (await service!.create()).name, soon).toBe("two");
  });

  test("keep their state when no component has changed", async () => {
    const counting = "let calls = 0;\nexport const name = () => ({ name: String(++calls) });\n";
    await save({ "shop/things.json": handled, "shop/components/name.ts": counting });
    service = await serve();
    expect((await service.create()).name).toBe("1");
    await save({ "shop/goods.json": things });
    service.hangUp();
    await expect.poll(async () => (await service!.read("shop/goods/read")).status, soon).toBe(200);
    expect((await service.create()).name).toBe("2");
  });

  test("that could not be loaded are loaded once they can be, with the same text", async () => {
    await save({ "shop/things.json": handled, "shop/components/name.ts": handler('"one"') });
    service = await serve();
    const word = join(folder, "word.txt");
    await save({
      "shop/components/name.ts": `import { readFileSync } from "node:fs";
const word = readFileSync(${JSON.stringify(word)}, "utf8");
${handler("word")}`,
    });
    service.hangUp();
    await expect.poll(async () => (await service!.config()).last_error, soon).toContain("word.txt");
    expect((await service.create()).name).toBe("one");
    await writeFile(word, "two");
    service.hangUp();
    await expect.poll(async () => (await service!.create()).name, soon).toBe("two");
  });
});

describe("with --watch", () => {
  test.each([
    ["an endpoint", { "shop/things.json": { ...things, hiddenFields: ["name"] } }, { id: "a" }],
    [
      "a query file",
      { "shop/query/all.sql": "select id, 'new' as name from things" },
      { id: "a", name: "new" },
    ],
  ])("saving %s loads the configuration again", async (_, files, row) => {
    await save({
      "shop/things.json": { ...things, viewQuery: "file:query/all.sql" },
      "shop/query/all.sql": "select id, name from things",
    });
    service = await serve(["--watch"]);
    await save(files);
    await expect.poll(async () => (await service!.read("shop/things/read")).row, soon).toEqual(row);
  });

  test("a new folder is a new project", async () => {
    service = await serve(["--watch"]);
    await save({ "north/project.json": project(), "north/all.json": things });
    await expect.poll(async () => (await service!.read("north/all/read")).status, soon).toBe(200);
  });

  test("a folder that was moved away and back is watched as before", async () => {
    service = await serve(["--watch"]);
    const [place, other] = [join(folder, "configs"), join(folder, "other")];
    await rename(place, other);
    await expect.poll(async () => (await service!.config()).last_error, soon).not.toBeNull();
    await rename(other, place);
    await expect.poll(async () => (await service!.config()).last_error, soon).toBeNull();
    await save({ "shop/goods.json": things });
    await expect.poll(async () => (await service!.read("shop/goods/read")).status, soon).toBe(200);
  });

  test("a mistake keeps the old configuration until it is mended", async () => {
    service = await serve(["--watch"]);
    await save({ "shop/things.json": "{" });
    await expect.poll(async () => (await service!.config()).last_error, soon).not.toBeNull();
    expect((await service.read("shop/things/read")).status).toBe(200);
    await save({ "shop/things.json": things });
    await expect.poll(async () => (await service!.config()).last_error, soon).toBeNull();
  });

  test("a file that is saved without a change, or is none of the configuration, loads nothing", async () => {
    service = await serve(["--watch"]);
    const before = await service.config();
    await save({ "shop/things.json": things, "shop/notes.txt": "x", "shop/.things.json.swp": "x" });
    // What comes later is loaded, so that the others were seen and passed over.
    await save({ "shop/goods.json": things });
    await expect.poll(async () => (await service!.read("shop/goods/read")).status, soon).toBe(200);
    const loads = ({ version }: { version: string }) => Number(version.split("-")[0]);
    expect(loads(await service.config())).toBe(loads(before) + 1);
  });
});
