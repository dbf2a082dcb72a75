/** TLS to real servers, for each `sslmode`: what is encrypted, verified and refused. */
import { execFile } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Engine, EngineOptions } from "../../db/engines/engine.ts";
import { open as openMysql } from "../../db/engines/mysql/engine.ts";
import { open as openPostgres } from "../../db/engines/postgres/engine.ts";
import { commandFor, rowgateCommand, type Runtime } from "../runtime/runtimes.ts";
import { openSession } from "../servers/session.ts";
import { type Started, startPrograms } from "../servers/start.ts";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { send } from "../db/send.ts";

const readFile = (path: string): string => readFileSync(path, "utf8");

/** `encrypted`, `plain`, or `refused`. */
type Outcome = string;

async function outcomeOf(url: string, options: Partial<EngineOptions> = {}): Promise<Outcome> {
  const isPostgres = url.startsWith("postgres");
  const own = { connectionsMax: 1, statementTimeoutMs: 0, decimals: "number", readFile } as const;
  let engine: Engine;
  try {
    engine = await (isPostgres ? openPostgres : openMysql)(url, { ...own, ...options });
  } catch (error) {
    return `fault: ${(error as Error).message}`;
  }
  const connection = await engine.connect("read").catch((error: unknown) => error as Error);
  if (connection instanceof Error) {
    const { kind } = engine.failure(connection);
    return kind === "connection" ? "refused" : `${kind}: ${connection.message}`;
  }
  const text = isPostgres
    ? "select ssl::text as tls from pg_stat_ssl where pid = pg_backend_pid()"
    : "show status like 'Ssl_cipher'";
  const { rows } = await send(connection, text);
  await connection.close();
  const [row] = rows as [Record<string, unknown>];
  return row["tls"] === "true" || (row["Value"] ?? "") !== "" ? "encrypted" : "plain";
}

describe.each(["postgres", "mysql"] as const)("%s", (name) => {
  let certificates: Certificates;
  let server: Started;

  beforeAll(async () => {
    certificates = makeCertificates(name);
    certificates.sign("server", "localhost");
    certificates.sign("client", "client");
    const { file } = certificates;
    if (name === "postgres") {
      // Clients of one database have to show a certificate.
      const lines = [
        "hostssl certified all all trust clientcert=verify-ca",
        "host all all all trust",
      ];
      writeFileSync(file("hba.conf"), `${lines.join("\n")}\n`);
      server = await startPrograms(name, [
        "--ssl=on",
        `--ssl_cert_file=${file("server.crt")}`,
        `--ssl_key_file=${file("server.key")}`,
        `--ssl_ca_file=${file("authority.crt")}`,
        `--hba_file=${file("hba.conf")}`,
      ]);
    } else {
      server = await startPrograms(name, [
        `--ssl-cert=${file("server.crt")}`,
        `--ssl-key=${file("server.key")}`,
        `--ssl-ca=${file("authority.crt")}`,
      ]);
    }
    const session = await openSession(name, server.url);
    await session.run("create database certified");
    await session.run(
      name === "postgres"
        ? "create table things (thing_id int primary key)"
        : "create table certified.things (thing_id int primary key)",
    );
    if (name === "mysql") {
      await session.run("create user certified@'%' require x509");
      await session.run("grant all on certified.* to certified@'%'");
    }
    await session.close();
  });
  afterAll(async () => {
    await server?.stop();
    certificates?.remove();
  });

  /** `$NAME` in the options: the path of that file. */
  function address(options: string, host = "localhost", user?: string): string {
    const url = new URL(server.url);
    url.hostname = host;
    url.pathname = "/certified";
    if (name === "postgres" && user === undefined) url.pathname = "/postgres";
    if (name === "mysql" && user !== undefined) url.username = user;
    url.search = options
      .replaceAll("${CA}", "$%7BCA%7D")
      .replaceAll(/\$(\w+\.\w+)/g, (_, file: string) =>
        encodeURIComponent(certificates.file(file)),
      );
    return url.href;
  }

  test.each<[options: string, outcome: Outcome]>([
    ["", "plain"],
    ["sslmode=disable", "plain"],
    ["sslmode=prefer", "encrypted"],
    ["sslmode=require", "encrypted"],
    ["ssl-mode=REQUIRED", "encrypted"],
    ["sslmode=require&sslrootcert=$authority.crt", "encrypted"],
    ["sslmode=require&sslrootcert=$stranger.crt", "refused"],
    ["sslmode=verify-ca&sslrootcert=$authority.crt", "encrypted"],
    ["sslmode=verify-ca&sslrootcert=$stranger.crt", "refused"],
    ["sslmode=verify-ca", "refused"],
    ["sslmode=verify-full&sslrootcert=$authority.crt", "encrypted"],
    ["sslmode=verify-full&sslrootcert=$stranger.crt", "refused"],
    ["ssl-mode=VERIFY_IDENTITY&ssl-ca=$authority.crt", "encrypted"],
    ["sslrootcert=$authority.crt", "encrypted"],
    ["ssl=true", "refused"],
    ["sslmode=verify-full&sslrootcert=system", "refused"],
    [
      "sslmode=full",
      `fault: The database URL's sslmode is "full"; it may be disable, prefer, require, verify-ca or verify-full`,
    ],
  ])("%s: %s", async (options, outcome) => {
    expect(await outcomeOf(address(options))).toBe(outcome);
  });

  test("an authority as text stands for its file", async () => {
    const url = address("sslmode=verify-full");
    const own = { tls: { ca: certificates.text("authority.crt") } };
    expect(await outcomeOf(url, own)).toBe("encrypted");
    const other = { tls: { ca: certificates.text("stranger.crt") } };
    expect(await outcomeOf(url, other)).toBe("refused");
  });

  test("a client certificate is shown to a server that asks for one", async () => {
    const options = "sslmode=verify-full&sslrootcert=$authority.crt";
    const shown = `${options}&sslcert=$client.crt&sslkey=$client.key`;
    expect(await outcomeOf(address(shown, "localhost", "certified"))).toBe("encrypted");
    expect(await outcomeOf(address(options, "localhost", "certified"))).not.toBe("encrypted");
  });

  test("a missing file is named", async () => {
    const outcome = await outcomeOf(address("sslmode=verify-ca&sslrootcert=/nowhere/ca.pem"));
    expect(outcome).toBe(
      "fault: The file of sslrootcert in the database URL cannot be read: /nowhere/ca.pem (ENOENT)",
    );
  });

  test.each(["node", "bun", "deno"] as const)(
    "%s checks the server's certificate in rowgate check",
    async (runtime) => {
      const check = (options: string, authority: string): Promise<number> =>
        checkOn(runtime, { url: address(options), authority: certificates.text(authority) });
      expect(await check("sslmode=verify-full&sslrootcert=${CA}", "authority.crt")).toBe(0);
      expect(await check("sslmode=verify-ca&sslrootcert=${CA}", "authority.crt")).toBe(0);
      expect(await check("sslmode=require", "authority.crt")).toBe(0);
      expect(await check("sslmode=verify-ca&sslrootcert=${CA}", "stranger.crt")).toBe(1);
    },
  );

  test("a server without TLS is used in the modes that allow that alone", async () => {
    const plain = new URL(inject("serverUrls")![name]!);
    if (name === "mysql") plain.pathname = "/mysql";
    const session = await openSession(name, plain.href);
    const [has] = await session.run(
      name === "postgres" ? "show ssl" : "select @@have_ssl as `ssl`",
    );
    await session.close();
    expect(has!["ssl"], "the server of the run has TLS").not.toMatch(/^(on|YES)$/);
    const outcomes = ["disable", "prefer", "require", "verify-ca", "verify-full"].map((mode) => {
      plain.hostname = "localhost";
      plain.search = `sslmode=${mode}`;
      return outcomeOf(plain.href);
    });
    expect(await Promise.all(outcomes)).toEqual([
      "plain",
      "plain",
      "refused",
      "refused",
      "refused",
    ]);
  });

  test("a certificate for another name is refused by verify-full alone", async () => {
    const { file } = certificates;
    certificates.sign("server", "elsewhere.test");
    const session = await openSession(name, server.url);
    await session.run(name === "postgres" ? "select pg_reload_conf()" : "flush ssl");
    await session.close();
    const options = `sslrootcert=${encodeURIComponent(file("authority.crt"))}`;
    const full = address(`sslmode=verify-full&${options}`);
    await expect.poll(() => outcomeOf(full), { timeout: 20_000 }).toBe("refused");
    expect(await outcomeOf(address(`sslmode=verify-ca&${options}`))).toBe("encrypted");
    expect(await outcomeOf(address("sslmode=require"))).toBe("encrypted");
    for (const runtime of ["bun", "deno"] as const) {
      const check = (mode: string): Promise<number> => {
        const url = address(`sslmode=${mode}&sslrootcert=\${CA}`);
        return checkOn(runtime, { url, authority: certificates.text("authority.crt") });
      };
      expect([runtime, await check("verify-full")]).toEqual([runtime, 1]);
      expect([runtime, await check("verify-ca")]).toEqual([runtime, 0]);
    }
  });
});

/** The exit code of `rowgate check` over this database; `${CA}` in the URL is the path of a file with the authority. */
async function checkOn(
  runtime: Runtime,
  { url, authority }: { url: string; authority: string },
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-tls-"));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  mkdirSync(join(folder, "shop"));
  write("ca.pem", authority);
  write("shop/project.json", JSON.stringify({ database: { url: "${DATABASE_URL}" } }));
  write("shop/things.json", JSON.stringify({ tableName: "things", action: { read: true } }));
  write("own.env", `DATABASE_URL="${url.replace("$%7BCA%7D", join(folder, "ca.pem"))}"\n`);
  const env = { ...process.env, CONFIG_DIR: folder };
  const commandLine = ["check", "--env-file", join(folder, "own.env")];
  const command = runtime === "node" ? commandFor("node") : rowgateCommand(runtime, env);
  if (command === null) throw new Error(`${runtime} is not installed`);
  const [program, ...args] = command;
  const cli = join(import.meta.dirname, "../../app/start/cli.ts");
  const code = await new Promise<number>((resolve) => {
    execFile(program, [...args, cli, ...commandLine], { env }, (error, _stdout, stderr) => {
      const isRefused = stderr.includes("the server at localhost");
      resolve(error === null ? 0 : isRefused ? 1 : -1);
    });
  });
  rmSync(folder, { recursive: true, force: true });
  return code;
}
