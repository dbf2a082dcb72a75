import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Kept } from "./keeper.ts";

const scripts = {
  /** Writes a file when it is there, and stays. */
  steady: `require("fs").writeFileSync("here", ""); setInterval(() => {}, 1000);`,
  stubborn: `process.on("SIGTERM", () => {}); require("fs").writeFileSync("here", ""); setInterval(() => {}, 1000);`,
  failing: `console.error("no such option"); process.exit(3);`,
};

function keep(
  script: keyof typeof scripts,
  more: Partial<Kept> = {},
): { keeper: ChildProcessWithoutNullStreams; folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-keeper-"));
  const kept: Kept = {
    fill: null,
    serve: [process.execPath, "-e", scripts[script]],
    stopSignal: "SIGTERM",
    graceMs: 300,
    cleanUp: null,
    folder,
    ...more,
  };
  const keeper = spawn(process.execPath, [
    join(import.meta.dirname, "keeper.ts"),
    JSON.stringify(kept),
  ]);
  return { keeper, folder };
}

async function serverIsUp(folder: string): Promise<void> {
  while (!existsSync(join(folder, "here"))) await sleep(20);
}

test.each(["steady", "stubborn"] as const)(
  "a %s server ends, and its folder with it, when the starter lets go",
  async (script) => {
    const { keeper, folder } = keep(script);
    await serverIsUp(folder);
    keeper.stdin.destroy();
    const [status] = await once(keeper, "close");
    expect({ status, isFolderThere: existsSync(folder) }).toEqual({
      status: 0,
      isFolderThere: false,
    });
  },
);

test("a signal to the whole group does not end the server before the starter lets go", async () => {
  const { keeper, folder } = keep("steady");
  await serverIsUp(folder);
  keeper.kill("SIGINT");
  await sleep(200);
  expect(keeper.exitCode).toBeNull();
  keeper.stdin.destroy();
  expect(await once(keeper, "close")).toEqual([0, null]);
});

test.each([
  { name: "a server that ends by itself", script: "failing", more: {} },
  {
    name: "a server whose folder cannot be filled",
    script: "steady",
    more: { fill: [process.execPath, "-e", scripts.failing] },
  },
] as const)("$name leaves its last words and no folder", async ({ script, more }) => {
  const { keeper, folder } = keep(script, more);
  let words = "";
  keeper.stderr.on("data", (text) => (words += text));
  const [status] = await once(keeper, "close");
  expect({ status, words: words.trim(), isFolderThere: existsSync(folder) }).toEqual({
    status: 1,
    words: "no such option",
    isFolderThere: false,
  });
});
