/** `npm run rowgate:bun` and `rowgate:deno`: the same command line as on Node, in an environment that is the same. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "rowgate-test-launcher-"));
mkdirSync(join(folder, "configs/shop"), { recursive: true });
const project = { database: { url: `sqlite:${join(folder, "shop.db")}` } };
writeFileSync(join(folder, "configs/shop/project.json"), JSON.stringify(project));
// Bun would read it, and no other runtime does.
writeFileSync(join(folder, ".env"), "CONFIG_DIR=/nowhere\n");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(["bun", "deno"])("rowgate on %s", (runtime) => {
  const rowgate = (...args: string[]) =>
    spawnSync(process.execPath, [join(import.meta.dirname, "rowgate.ts"), runtime, ...args], {
      cwd: folder,
      encoding: "utf8",
    });

  test("checks the configuration of the folder that it is started in, whatever stands in .env", () => {
    const { status, stdout, stderr } = rowgate("check");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain("The configuration in configs is good");
  });

  test("hands on the exit code of a fault", () => {
    const { status, stderr } = rowgate("srve");
    expect(status).toBe(1);
    expect(stderr).toContain("Usage:");
  });
});

test("a runtime that is none is refused", () => {
  const script = join(import.meta.dirname, "rowgate.ts");
  const { status, stderr } = spawnSync(process.execPath, [script, "nodo"], { encoding: "utf8" });
  expect(status).not.toBe(0);
  expect(stderr).toContain('No runtime is called "nodo"');
});
