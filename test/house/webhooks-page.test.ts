/**
 * Runs the example of docs/changes.md: starts the receiver that the page prints, gives the demo the page's settings, sends
 * the page's command, and compares what the receiver prints.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import { freePort } from "../servers/start.ts";

const root = join(import.meta.dirname, "../..");
const configs = join(root, "configs");
const section = readFileSync(join(root, "docs/changes.md"), "utf8")
  .split("### Try it")[1]!
  .split("\n### ")[0]!;
const folder = mkdtempSync(join(tmpdir(), "rowgate-test-webhooks-page-"));
let service: Service | undefined;
let receiver: ChildProcess | undefined;
afterAll(async () => {
  await service?.close();
  receiver?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("docs/changes.md: the receiver accepts what the command causes, and prints what is printed", async () => {
  const port = String(await freePort());
  const blocks = [...section.replaceAll("4000", port).matchAll(/```\w+\n([^]*?)```/g)];
  const [code = "", , settings = "", command = "", lines = ""] = blocks.map(([, block]) => block);
  const ERP_SECRET = `whsec_${Buffer.from("0123456789abcdef01234567").toString("base64")}`;
  let printed = "";
  receiver = spawn(process.execPath, ["--input-type=module", "-e", code], {
    cwd: root,
    env: { ...process.env, ERP_SECRET },
    stdio: ["ignore", "pipe", "inherit"],
  });
  receiver.stdout!.on("data", (chunk) => (printed += chunk));

  const files = new Map(await readConfigFiles(configs));
  const project = JSON.parse(files.get("demo/project.json")!) as object;
  const extended = { ...project, ...(JSON.parse(`{${settings}}`) as object) };
  files.set("demo/project.json", JSON.stringify(extended));
  const database = join(folder, "demo.db");
  createDemo(database);
  service = await openService({
    files,
    env: { DEMO_DATABASE_URL: `sqlite:${database}`, ERP_SECRET },
    log: createLog("silent"),
    importComponent: importFrom(configs),
  });
  await service.ready;

  const [, path = ""] = /localhost:3000(\S+)/.exec(command) ?? [];
  const [, body = ""] = /-d '([^']*)'/.exec(command) ?? [];
  const headers = { "content-type": "application/json" };
  const answer = await service.app.request(path, { method: "POST", headers, body });
  expect(answer.status, await answer.text()).toBe(201);
  await vi.waitFor(() => expect(printed).toBe(lines), 10_000);
});
