/** The program that writes a Worker's module says what cannot run there. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const program = join(import.meta.dirname, "../../app/start/commands/bundle-config.ts");

const isNone = "database.url is a sqlite: database, which cannot do here";

test.each([
  ["sqlite:./data/shop.db", `shop/project.json: ${isNone}`],
  ["${SHOP_URL:-sqlite:./data/shop.db}", `shop/project.json: without SHOP_URL, ${isNone}`],
  ["${SHOP_URL}", ""],
  ["postgres://shop@db/shop", ""],
])("of a project at %s: %j", async (url, told) => {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-bundle-"));
  try {
    await mkdir(join(folder, "configs/shop"), { recursive: true });
    const project = JSON.stringify({ database: { url } });
    await writeFile(join(folder, "configs/shop/project.json"), project);
    const { stderr } = await promisify(execFile)(
      process.execPath,
      [program, join(folder, "worker.ts")],
      { env: { ...process.env, CONFIG_DIR: join(folder, "configs") } },
    );
    expect(stderr.slice(0, told.length)).toBe(told);
    expect(stderr === "").toBe(told === "");
  } finally {
    await rm(folder, { recursive: true });
  }
});
