/**
 * Messages of `check` and `serve` about an unusable database: one sentence with project, file and what to do, none of
 * the driver's text. Each engine's first case runs the commands as processes; all cases call the functions they use.
 */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { checkConfig } from "../../app/start/commands/check-config.ts";
import { checkReport } from "../../app/start/commands/check-report.ts";
import { createLog } from "../../app/start/observing/log.ts";
import { openService } from "../../app/start/servers/wire.ts";
import { runAside } from "../running/run-aside.ts";
import { freshDatabase, type FreshDatabase } from "../servers/database.ts";
import { openSession } from "../servers/session.ts";

const engine = inject("engine");
const cli = join(import.meta.dirname, "../../app/start/cli.ts");
let database: FreshDatabase;
let folder: string;
let reset: () => Promise<void>;

beforeAll(async () => {
  database = await freshDatabase(engine);
  reset = await addUser();
});
afterAll(async () => {
  await reset?.();
  await database?.drop();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-faults-"));
  await writeFile(join(folder, "text.db"), "This is a letter, and no database.\n".repeat(100));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const user = `reader_${process.pid}`;

/** Creates a user that needs a password; the result removes it. */
async function addUser(): Promise<() => Promise<void>> {
  if (engine === "sqlite") return async () => undefined;
  const session = await openSession(engine, database.url);
  if (engine === "mysql") {
    await session.run(`create user '${user}'@'%' identified by 'right'`);
    return async () => {
      await session.run(`drop user '${user}'@'%'`);
      await session.close();
    };
  }
  // The test server trusts all users except this one.
  await session.run(`create role ${user} login password 'right'`);
  const [{ file = "" } = {}] = (await session.run(
    "select current_setting('hba_file') as file",
  )) as { file: string }[];
  const [{ rules = "" } = {}] = (await session.run(`select pg_read_file('${file}') as rules`)) as {
    rules: string;
  }[];
  const store = async (text: string) => {
    const lines = text.split("\n").map((line) => `('${line.replaceAll("'", "''")}')`);
    const rows = `select replace(line, E'\\t', ' ') from (values ${lines.join(", ")}) as t (line)`;
    await session.run(`copy (${rows}) to '${file}'`);
    await session.run("select pg_reload_conf()");
  };
  await store(`host all ${user} all scram-sha-256\n${rules}`);
  return async () => {
    await store(rules);
    await session.run(`drop role ${user}`);
    await session.close();
  };
}

/** The database's address with some parts replaced. */
function address(parts: {
  user?: string;
  password?: string;
  host?: string;
  port?: string;
  name?: string;
  query?: string;
}): string {
  const url = new URL(database.url);
  if (parts.user !== undefined) url.username = parts.user;
  if (parts.password !== undefined) url.password = parts.password;
  if (parts.host !== undefined) url.hostname = parts.host;
  if (parts.port !== undefined) url.port = parts.port;
  if (parts.name !== undefined) url.pathname = `/${parts.name}`;
  if (parts.query !== undefined) url.search = parts.query;
  return url.href;
}

const server = () => new URL(database.url).host;

interface Case {
  readonly fault: string;
  readonly url: () => string;
  /** What follows the project and its file. */
  readonly says: () => string;
}

const absent =
  "correct the path in database.url, or create the database (the service does not create it)";

const cases: Case[] =
  engine === "sqlite"
    ? [
        {
          fault: "a missing file",
          url: () => `sqlite:${join(folder, "none.db")}`,
          says: () => `there is no file ${join(folder, "none.db")}; ${absent}`,
        },
        {
          fault: "a missing folder",
          url: () => `sqlite:${join(folder, "none/shop.db")}`,
          says: () => `there is no file ${join(folder, "none/shop.db")}; ${absent}`,
        },
        {
          fault: "a text file",
          url: () => `sqlite:${join(folder, "text.db")}`,
          says: () =>
            `the file ${join(folder, "text.db")} is not a SQLite database; correct the path in database.url`,
        },
        {
          fault: "a folder",
          url: () => `sqlite:${folder}`,
          says: () => `${folder} is a folder; set database.url to the file of a SQLite database`,
        },
      ]
    : [
        {
          fault: "a wrong password",
          url: () => address({ user, password: "wrong" }),
          says: () =>
            engine === "postgres"
              ? `the server at ${server()} refuses the password of the user "${user}"; correct user and password in database.url`
              : `the server at ${server()} refuses the user "${user}" or the password; correct user and password in database.url`,
        },
        {
          fault: "no password",
          url: () => address({ user, password: "" }),
          says: () =>
            engine === "postgres"
              ? `the server at ${server()} refuses the password of the user "${user}"; correct user and password in database.url`
              : `the server at ${server()} refuses the user "${user}" or the password; correct user and password in database.url`,
        },
        {
          fault: "an unknown user",
          url: () => address({ user: "nobody_here", password: "x" }),
          says: () =>
            engine === "postgres"
              ? `the server at ${server()} does not accept the user "nobody_here"; correct the user in database.url, or allow it in pg_hba.conf, with or without TLS`
              : `the server at ${server()} refuses the user "nobody_here" or the password; correct user and password in database.url`,
        },
        {
          fault: "a wrong port",
          url: () => address({ port: "1" }),
          says: () =>
            "no server listens at 127.0.0.1:1; correct host and port in database.url, or start the server",
        },
        {
          fault: "a wrong host",
          url: () => address({ host: "nowhere.invalid", query: "?sslmode=disable" }),
          says: () =>
            'the host "nowhere.invalid" cannot be found; correct the host in database.url',
        },
        {
          fault: "a wrong database",
          url: () => address({ name: "none" }),
          says: () =>
            `the server at ${server()} has no database "none"; correct its name in database.url, or create it`,
        },
        {
          fault: "a server without TLS",
          url: () =>
            address({ query: engine === "postgres" ? "sslmode=require" : "ssl-mode=required" }),
          says: () =>
            `the server at ${server()} offers no TLS, but database.url requires it; enable TLS on the server, or remove it from database.url`,
        },
      ];

function configFiles(url: string): Map<string, string> {
  return new Map([
    ["shop/project.json", JSON.stringify({ database: { url } })],
    ["shop/things.json", JSON.stringify({ action: { read: true }, tableName: "things" })],
  ]);
}

/** What the service gets of its process. */
const inProcess = (url: string) => ({
  files: configFiles(url),
  env: { STORAGE_URL: `file:${join(folder, "data")}` },
  importComponent: async () => ({}),
});

/** The environment of a process with this configuration. */
async function configFor(url: string): Promise<NodeJS.ProcessEnv> {
  const CONFIG_DIR = join(folder, "configs");
  for (const [path, text] of configFiles(url)) {
    await mkdir(dirname(join(CONFIG_DIR, path)), { recursive: true });
    await writeFile(join(CONFIG_DIR, path), text);
  }
  return { ...process.env, CONFIG_DIR, PORT: "0", HOST: "127.0.0.1", LOG_LEVEL: "debug" };
}

/** What is in the folder of the test, but for the service's own files. */
const leftInFolder = async () => (await readdir(folder)).filter((name) => name !== "data");

const sentenceOf = ({ says }: Case) => `shop (shop/project.json): ${says()}`;

describe.each(cases)("$fault", (one) => {
  test("is one sentence of check", async () => {
    const checked = await checkConfig(inProcess(one.url()));
    expect(checkReport(checked, "configs", false)).toEqual({
      isOk: false,
      out: "",
      errors: `${sentenceOf(one)}\n`,
    });
    expect(await leftInFolder()).toEqual(["text.db"]);
  });

  test.runIf(engine === "sqlite")("ends serve with the same sentence", async () => {
    const log = createLog("silent");
    await expect(openService({ ...inProcess(one.url()), log })).rejects.toThrow(
      expect.objectContaining({ message: sentenceOf(one) }),
    );
    expect(await leftInFolder()).toEqual(["text.db"]);
  });

  test.runIf(engine !== "sqlite")("is said once by serve, which goes on trying", async () => {
    const service = await serveHere(one.url());
    await service.saysOften("The database does not answer yet", 2);
    expect(service.lines("warn")).toEqual([`${sentenceOf(one)}; retrying until it answers`]);
    await service.stop();
  });
});

describe("as a process", () => {
  const one = cases[0]!;

  test("check prints the sentence", async () => {
    const env = await configFor(one.url());
    const { status, stdout, stderr } = await runAside(process.execPath, [cli, "check"], env);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: `${sentenceOf(one)}\n`,
    });
    expect(await readdir(folder)).toEqual(["configs", "text.db"]);
  });

  test.runIf(engine === "sqlite")("serve prints the sentence, and ends", async () => {
    const env = await configFor(one.url());
    const { status, stdout, stderr } = await runAside(process.execPath, [cli, "serve"], env);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: `${sentenceOf(one)}\n`,
    });
    expect(await leftInFolder()).toEqual(["configs", "text.db"]);
  });

  test.runIf(engine !== "sqlite")("serve logs the sentence once, and goes on trying", async () => {
    const service = await serve(await configFor(one.url()));
    await service.saysOften("The database does not answer yet", 2);
    expect(service.lines("warn")).toEqual([`${sentenceOf(one)}; retrying until it answers`]);
    expect(service.said()).not.toContain("Try: curl");
    await service.stop();
  });
});

test.runIf(engine !== "sqlite")("serve says when the database is back", async () => {
  const name = `rowgate_late_${process.pid}`;
  const service = await serveHere(address({ name }));
  await service.saysOften("The database does not answer yet", 1);
  const session = await openSession(engine, database.url);
  try {
    // With its table from the start: a database without it is a fault of the configuration, which ends the service.
    if (engine === "postgres") {
      await session.run(`create database ${name}_made`);
      const made = await openSession(engine, address({ name: `${name}_made` }));
      await made.run("create table things (id integer primary key)");
      await made.close();
      await session.run(`create database ${name} template ${name}_made`);
    } else {
      await session.run(`create database ${name}`);
      await session.run(`create table ${name}.things (id integer primary key)`);
    }
    await service.saysOften("The database is reachable; the project is served", 1);
    expect(service.lines("warn")).toHaveLength(1);
  } finally {
    await service.stop();
    await session.run(`drop database ${name}`);
    await session.run(`drop database if exists ${name}_made`);
    await session.close();
  }
});

/** The service in this process, with its log. */
async function serveHere(url: string) {
  const heard = createHeard();
  const log = createLog("debug", { write: heard.hear });
  const service = await openService({ ...inProcess(url), log });
  return { ...heard, stop: () => service.close() };
}

/** The service as a process, with its output. */
async function serve(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [cli, "serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  const heard = createHeard();
  for (const stream of [child.stdout, child.stderr]) stream.on("data", heard.hear);
  child.once("exit", heard.end);
  return {
    ...heard,
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Levels of pino. */
const levels = { warn: 40 };

/** Collects a service's output. */
function createHeard() {
  let said = "";
  const watchers = new Set<() => void>();
  const ends = new Set<(error: Error) => void>();
  return {
    hear(chunk: unknown) {
      said += String(chunk);
      for (const look of watchers) look();
    },
    end() {
      for (const reject of ends) reject(new Error(`The service ended: ${said}`));
    },
    said: () => said,
    lines: (level: keyof typeof levels): string[] =>
      said
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as { level: number; msg: string; err?: unknown })
        .filter((line) => line.level >= levels[level])
        .map(({ msg, err }) => (err === undefined ? msg : `${msg} with an error`)),
    saysOften: (text: string, times: number) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (said.split(text).length <= times) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        ends.add(reject);
        look();
      }),
  };
}
