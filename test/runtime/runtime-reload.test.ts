/** SIGHUP to the command line on Node, Bun and Deno: the configuration and changed components are loaded again. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTables } from "../contract/tables.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";
import { commandFor } from "./runtimes.ts";

const goods = {
  tableName: "goods",
  action: { create: true },
  components: { onBeforeInsert: ["components/name.ts#name"] },
};
const handler = (text: string) =>
  `export const name = () => ({ name: ${JSON.stringify(text)} });\n`;

describe.each(["node", "bun", "deno"] as const)("SIGHUP on %s", (runtime) => {
  let database: FreshDatabase;
  let folder = "";
  let service: ChildProcess;
  let url = "";

  async function save(files: Readonly<Record<string, object | string>>): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, "configs/shop", name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
    }
  }

  async function create(endpoint: string): Promise<{ status: number; name: unknown }> {
    const response = await fetch(`${url}/api/shop/${endpoint}/create`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ name: "sent" }),
    });
    const body = (await response.json()) as { data?: { name?: unknown } };
    return { status: response.status, name: body.data?.name };
  }

  beforeAll(async () => {
    database = await freshDatabase("sqlite");
    const session = await openSession("sqlite", database.url);
    const columns = { id: "key", name: "text(40)" } as const;
    for (const text of createTables("sqlite", [{ name: "goods", columns }]))
      await session.run(text);
    await session.close();
    folder = await mkdtemp(join(tmpdir(), "rowgate-test-runtime-reload-"));
    await save({
      "project.json": { database: { url: database.url } },
      "goods.json": goods,
      "components/name.ts": handler("one"),
    });
    const [program, ...args] = commandFor(runtime)!;
    const cli = join(import.meta.dirname, "../../app/start/cli.ts");
    service = spawn(program, [...args, cli, "serve"], {
      cwd: join(import.meta.dirname, "../.."),
      env: {
        ...process.env,
        CONFIG_DIR: join(folder, "configs"),
        STORAGE_URL: `file:${join(folder, "files")}`,
        PORT: "0",
        LOG_LEVEL: "error",
        DENO_NO_UPDATE_CHECK: "1",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    url = await new Promise<string>((resolve, reject) => {
      service.stdout!.on("data", (chunk) => {
        const found = /listens on (http:\S+)/.exec(String(chunk))?.[1];
        if (found) resolve(found);
      });
      service.once("exit", (status) => reject(new Error(`The service ended with ${status}`)));
    });
  }, 30_000);
  afterAll(async () => {
    service?.kill("SIGKILL");
    if (folder) await rm(folder, { recursive: true, force: true });
    await database?.drop();
  });

  test("loads endpoints and changed components again", async () => {
    expect(await create("goods")).toEqual({ status: 201, name: "one" });
    await save({ "more.json": goods, "components/name.ts": handler("two") });
    service.kill("SIGHUP");
    await expect
      .poll(() => create("more"), { timeout: 15_000 })
      .toEqual({ status: 201, name: "two" });
    expect(await create("goods")).toEqual({ status: 201, name: "two" });
  });
});
