/** A log that cannot be written: the process goes on, ends when told to, and reports how many lines were lost. */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { once } from "node:events";
import { expect, test } from "vitest";
import { createLogOutput, type LogFiles } from "../../app/start/observing/log-output.ts";

/** Logs far more than a pipe holds, reports on standard error that it runs, and ends with 0 on SIGTERM. */
const program = `
  import { openLog } from "./app/start/observing/log.ts";
  const log = await openLog({ logLevel: "info", logFormat: FORMAT });
  process.once("SIGTERM", () => process.exit(0));
  for (let line = 0; line < 5_000; line++) log.info({}, "x".repeat(200));
  setTimeout(() => { log.info({}, "later"); process.stderr.write("alive"); }, 400);
  setInterval(() => {}, 1_000);
`;

test.each([
  ["json", "a full disk", "/dev/full"],
  ["pretty", "a full disk", "/dev/full"],
  ["json", "a pipe that nobody reads", null],
  ["pretty", "a pipe that nobody reads", null],
])("%s lines into %s stop nothing, and SIGTERM ends the process", async (format, _, path) => {
  const fd = path === null ? null : openSync(path, "w");
  const code = program.replace("FORMAT", JSON.stringify(format));
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", fd ?? "pipe", "pipe"],
  });
  if (fd !== null) closeSync(fd);
  const exited = once(child, "exit");
  const [said] = (await once(child.stderr!, "data")) as [Buffer];
  expect(said.toString()).toBe("alive");
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});

test("lines that were lost are counted once there is room", () => {
  let code: string | null = "ENOSPC";
  let written = "";
  const writeSync = (_fd: number, bytes: Uint8Array) => {
    if (code !== null) throw Object.assign(new Error(code), { code });
    written += Buffer.from(bytes).toString();
    return bytes.length;
  };
  const output = createLogOutput(1, { files: { writeSync } as unknown as LogFiles });
  const say = (line: string) => {
    output.write(`${line}\n`);
    output.flushSync(0);
  };
  for (const line of ["one", "two", "three"]) say(line);
  code = "EAGAIN";
  say("kept");
  code = null;
  say("four");
  say("five");
  const [loss, ...rest] = written.trim().split("\n");
  expect(JSON.parse(loss!)).toMatchObject({ level: 40, lost: 3 });
  expect(rest).toEqual(["kept", "four", "five"]);
});

test("lines of several processes are written whole, in pieces that a pipe takes at once", () => {
  const pieces: string[] = [];
  const writeSync = (_fd: number, bytes: Uint8Array) => {
    pieces.push(Buffer.from(bytes).toString());
    return bytes.length;
  };
  const files = { writeSync } as unknown as LogFiles;
  const output = createLogOutput(1, { files, pieceBytes: 10 });
  // Ten bytes together, a line above the limit, and what is left.
  for (const line of ["aaaa\n", "é\n", "x\n", "this line is longer\n", "ü\n"]) output.write(line);
  output.flushSync(0);
  expect(pieces).toEqual(["aaaa\né\nx\n", "this line is longer\n", "ü\n"]);
});
