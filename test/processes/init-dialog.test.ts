/** `rowgate init` on a terminal: a person answers its questions in a real pseudo-terminal, which `script` provides. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";

const cli = join(import.meta.dirname, "../../app/start/cli.ts");
const [enter, down, ctrlC] = ["\r", "\u001b[B", "\u0003"];

let folder: string;
let terminal: ChildProcess | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-dialog-"));
  const database = new Database(join(folder, "shop.db"));
  database.exec("create table goods (id integer primary key, name varchar(40) not null)");
  database.exec("create view cheap as select * from goods");
  database.close();
});
afterEach(async () => {
  terminal?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

interface Terminal {
  /** Waits until the text is on the screen after what was waited for before, then types. */
  at(text: string, keys: string): Promise<void>;
  readonly ended: Promise<number | null>;
  screen(): string;
}

function open(): Terminal {
  // A terminal without a user has no width.
  const command = `stty cols 120 rows 40; exec "${process.execPath}" "${cli}" init`;
  const child = spawn("script", ["-qfec", command, "/dev/null"], {
    cwd: folder,
    env: { ...process.env, CONFIG_DIR: join(folder, "configs"), TERM: "xterm", CI: "" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  terminal = child;
  let shown = "";
  let seen = 0;
  let look = (): void => undefined;
  child.stdout.on("data", (chunk) => {
    shown += chunk;
    look();
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const appears = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      look = () => {
        const at = shown.indexOf(text, seen);
        if (at < 0) return;
        seen = at + text.length;
        resolve();
      };
      look();
      void ended.then(() => reject(new Error(`never showed ${text}: ${shown.slice(seen)}`)));
      setTimeout(
        () => reject(new Error(`does not show ${text}: ${shown.slice(seen)}`)),
        10_000,
      ).unref();
    });
  return {
    async at(text, keys) {
      await appears(text);
      child.stdin.write(keys);
    },
    ended,
    screen: () => shown,
  };
}

test("init without arguments asks, says what is wrong with a database, asks again, and writes", async () => {
  const { at, ended, screen } = open();
  await at("Which database?", down + down + enter);
  await at("Path of the file", `nowhere.db${enter}`);
  await at(`there is no file ${join(folder, "nowhere.db")}`, "");
  await at("Which database?", enter);
  await at("Path of the file", `${"\u007f".repeat(10)}shop.db${enter}`);
  await at("Name of the project", enter);
  await at("Tables and views", enter);
  await at("shop/goods.json", "");
  await at("Write 3 files?", enter);
  expect(await ended).toBe(0);
  expect(screen()).toContain("Next: rowgate serve, with the same CONFIG_DIR");
  const written = await readdir(join(folder, "configs/shop"));
  expect(written.toSorted()).toEqual(["cheap.json", "goods.json", "project.json"]);
});

test("a password is on the screen neither while it is typed nor afterwards", async () => {
  const { at, ended, screen } = open();
  await at("Which database?", enter);
  await at("Host", enter);
  // No server listens on port 1.
  await at("Port", `${"\u007f".repeat(4)}1${enter}`);
  await at("User", `me${enter}`);
  await at("Password", `s3cret!${enter}`);
  await at("Database", `shop${enter}`);
  await at("No connection: no server listens at localhost:1", "");
  await at("Which database?", ctrlC);
  expect(await ended).toBe(130);
  expect(screen()).not.toContain("s3cret");
});

test("Ctrl+C at the last question leaves nothing written, and the exit code of an interrupted program", async () => {
  const { at, ended, screen } = open();
  await at("Which database?", down + down + enter);
  await at("Path of the file", `shop.db${enter}`);
  await at("Name of the project", enter);
  await at("Tables and views", enter);
  await at("Write 3 files?", ctrlC);
  expect(await ended).toBe(130);
  expect(screen()).toContain("Nothing was written");
  expect(existsSync(join(folder, "configs"))).toBe(false);
});

test("files that exist are kept", async () => {
  await mkdir(join(folder, "configs/shop"), { recursive: true });
  await writeFile(join(folder, "configs/shop/goods.json"), "{}");
  const { at, ended, screen } = open();
  await at("Which database?", down + down + enter);
  await at("Path of the file", `shop.db${enter}`);
  await at("Name of the project", enter);
  await at("Tables and views", enter);
  await at("1 file that exist already will be kept", "");
  await at("Write 2 files?", enter);
  expect(await ended).toBe(0);
  expect(screen()).toContain("Kept as they are");
});
