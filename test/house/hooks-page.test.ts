/**
 * Runs docs/hooks.md: starts the listener that the page prints, gives the demo the page's settings, sends the page's
 * command, and compares the answer and what the listener received.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { importFrom } from "../../app/start/settings/component-modules.ts";
import { readConfigFiles } from "../../app/start/settings/config-files.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService, type Service } from "../../app/start/servers/wire.ts";
import { createDemo } from "../../configs/demo/create.ts";
import { freePort } from "../servers/start.ts";

const configs = join(import.meta.dirname, "../../configs");
const section = readFileSync(join(import.meta.dirname, "../../docs/hooks.md"), "utf8")
  .split("## Example")[1]!
  .split("\n## ")[0]!;
const folder = mkdtempSync(join(tmpdir(), "rowgate-test-hooks-page-"));
let service: Service;
let listener: ChildProcess;
let heard = "";
let blocks: string[] = [];

beforeAll(async () => {
  const port = await freePort();
  blocks = [...section.replaceAll("4000", String(port)).matchAll(/```\w+\n([^]*?)```/g)].map(
    ([, block = ""]) => block,
  );
  const [program = "", settings, hooks] = blocks;
  const [, code = ""] = /node -e '([^]*)'/.exec(program) ?? [];
  listener = spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] });
  listener.stdout!.on("data", (chunk) => (heard += chunk));

  const files = new Map(await readConfigFiles(configs));
  extend(files, "demo/project.json", (project) =>
    Object.assign(project, JSON.parse(`{${settings}}`)),
  );
  extend(files, "demo/stock-receipts.json", ({ workflow }) =>
    Object.assign(workflow, JSON.parse(`{${hooks}}`)),
  );
  const database = join(folder, "demo.db");
  createDemo(database);
  const env = { DEMO_DATABASE_URL: `sqlite:${database}` };
  const importComponent = importFrom(configs);
  service = await openService({ files, env, log: createLog("silent"), importComponent });
  await service.ready;
});
afterAll(async () => {
  await service?.close();
  listener?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("docs/hooks.md: the command gives the printed answer, and the listener hears what is printed", async () => {
  const [, , , command = "", answer = "", lines = ""] = blocks;
  await vi.waitFor(async () => expect((await change(command)).status).not.toBe(502), 10_000);
  const { body } = await change(command.replace("received", "cancelled"));
  expect(body.workflow.previousStatus).toBe("received");
  expect(first).toMatchObject(JSON.parse(answer));
  await vi.waitFor(() => expect(heard).toContain("POST"));
  expect(heard.replaceAll(/ +$/gm, "")).toBe(lines);
});

test("docs/hooks.md: without the other service the delivery stays a draft", async () => {
  listener.kill("SIGKILL");
  const draft = await post("first", { where: { key: "status", value: "draft" } });
  const { receipt_id: id } = draft.body.data;
  const refused = await post("change-status", { id, status: "received" });
  expect([refused.status, refused.body.error]).toEqual([502, "Hook execution failed"]);
  const { body } = await post("first", { where: { key: "receipt_id", value: id } });
  expect(body.data.status).toBe("draft");
});

/** The answer of the first change that went through. */
let first: unknown;

async function change(command: string) {
  const [, sent = ""] = /-d '([^']*)'/.exec(command) ?? [];
  const answer = await post("change-status", JSON.parse(sent));
  if (answer.status === 200) first ??= answer.body;
  return answer;
}

// oxlint-disable-next-line no-explicit-any -- the tests look into answers of every shape
async function post(action: string, body: object): Promise<{ status: number; body: any }> {
  const response = await service.app.request(`/api/demo/stock-receipts/${action}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

function extend(
  files: Map<string, string>,
  path: string,
  // oxlint-disable-next-line no-explicit-any -- a file of the demo, as it is written
  change: (content: any) => unknown,
): void {
  const content = JSON.parse(files.get(path) ?? "{}");
  change(content);
  files.set(path, JSON.stringify(content));
}
