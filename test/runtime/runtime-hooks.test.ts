/** The client for hooks on Node, Bun and Deno: the same outcome of every call, and the same words on the wire. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startHookServer } from "../outbound/hook-server.ts";
import { commandFor, type Runtime } from "./runtimes.ts";
import { openForTests } from "../contract/harness.ts";

const server = openForTests(startHookServer);

test.each(["node", "bun", "deno"] as const)(
  "%s makes calls and refuses them alike",
  async (runtime) => {
    const before = server.heard.length;
    const outcomes = await outcomesUnder(runtime);
    expect(Object.values(outcomes)).toEqual([
      200,
      404,
      302,
      200,
      207,
      ...Array.from({ length: 12 }, () => "failed"),
    ]);
    const heard = server.heard.slice(before);
    expect(heard.map(({ path }) => path)).toEqual([
      "/fine",
      "/status/404",
      "/redirect?to=/secret",
      "/named",
      "/silent",
      "/drip-head",
      "/drip-body",
      "/huge",
      "/closes",
      "/closes-late",
      "/garbage",
    ]);
    expect(heard[3]).toMatchObject({
      method: "POST",
      body: '{"a":"ü"}',
      headers: {
        host: `named.test:${server.port}`,
        "content-type": "application/json",
        "x-request-id": "r1",
      },
    });
  },
);

async function outcomesUnder(runtime: Runtime): Promise<Record<string, unknown>> {
  const command = commandFor(runtime, [server.host]);
  if (!command) throw new Error(`${runtime} is not installed`);
  const [program, ...args] = command;
  const script = join(import.meta.dirname, "hooks.ts");
  const { stdout } = await promisify(execFile)(program, [...args, script, server.host], {
    cwd: join(import.meta.dirname, "../.."),
    env: { ...process.env, DENO_NO_UPDATE_CHECK: "1" },
    timeout: 45_000,
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}
