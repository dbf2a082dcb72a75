/** Two processes on one folder or SQLite file: logged while both run, once each, and not where nothing is writable. */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSharedPlaces, type SharedPlaces } from "../../app/start/opening/shared-places.ts";
import { pino } from "pino";

const intervalMs = 20;
let folder: string;
let file: string;
const opened: SharedPlaces[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rowgate-test-places-"));
  file = join(folder, "shop.db");
  writeFileSync(file, "");
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((places) => places.close()));
  rmSync(folder, { recursive: true, force: true });
});

function open(self: string) {
  const lines: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
  const places = createSharedPlaces({ log, intervalMs, self });
  opened.push(places);
  return { places, lines };
}

test.each(["a folder", "a file"])("two processes on %s tell it once each", async (kind) => {
  const path = kind === "a file" ? file : folder;
  const [one, other] = [open("process 1 on here"), open("process 2 on there")];
  one.places.use(path);
  other.places.use(path);
  const counts = () => [one.lines.length, other.lines.length];
  await expect.poll(counts, { timeout: 20_000 }).toEqual([1, 1]);
  expect(one.lines[0]).toContain(`Another process (process 2 on there) uses ${path} as well`);
  expect(other.lines[0]).toContain(`Another process (process 1 on here) uses ${path} as well`);
  await pause(intervalMs * 5);
  expect([one.lines.length, other.lines.length]).toEqual([1, 1]);
});

test("threads of one process, and a process on another place, are nothing to tell", async () => {
  const all = [open("process 1 on here"), open("process 1 on here"), open("process 2 on here")];
  all[0]!.places.use(file);
  all[1]!.places.use(file);
  all[2]!.places.use(folder);
  await pause(intervalMs * 10);
  expect(all.flatMap(({ lines }) => lines)).toEqual([]);
});

test("what a process left behind that was killed is nothing to tell, and is removed at a clean stop", async () => {
  writeFileSync(`${file}-process`, "process 9 on here");
  const { places, lines } = open("process 1 on here");
  places.use(file);
  await pause(intervalMs * 10);
  expect(lines).toEqual([]);
  expect(existsSync(`${file}-process`)).toBe(true);
  await places.close();
  expect(readdirSync(folder)).toEqual(["shop.db"]);
});

test("a place that is left is told no more, and its file is removed", async () => {
  const { places, lines } = open("process 1 on here");
  const leave = places.use(file);
  await expect.poll(() => existsSync(`${file}-process`), { timeout: 20_000 }).toBe(true);
  leave();
  await expect.poll(() => existsSync(`${file}-process`), { timeout: 20_000 }).toBe(false);
  await pause(intervalMs * 3);
  expect([existsSync(`${file}-process`), lines]).toEqual([false, []]);
});

test("where nothing is there, or can be written, nothing is told", async () => {
  const { places, lines } = open("process 1 on here");
  places.use(join(folder, "none"));
  places.use("/proc/version");
  await pause(intervalMs * 5);
  await places.close();
  expect([lines, readdirSync(folder)]).toEqual([[], ["shop.db"]]);
});
