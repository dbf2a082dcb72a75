/** What `check` prints as warnings, `serve` writes to its log at start: the same sentences, in real processes. */
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runAside } from "../running/run-aside.ts";

const cli = join(import.meta.dirname, "../../app/start/cli.ts");
const endpoint = { tableName: "orders", action: { read: true } };
const sha256 = "0".repeat(64);

let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-risks-"));
  const database = { url: `sqlite:${join(folder, "shop.db")}` };
  const tables = new Database(join(folder, "shop.db"));
  tables.exec("create table orders (id integer primary key, cost integer)");
  tables.close();
  const files: Record<string, object> = {
    "open/project.json": { database, cors: { origins: ["*"] } },
    "open/orders.json": endpoint,
    "guests/project.json": {
      database,
      auth: {
        apiKeys: [{ id: "erp", sha256, roles: ["clerk"] }],
        jwt: { secret: "short" },
        anonymous: { roles: ["guest"] },
      },
    },
    "guests/closed.json": endpoint,
    "guests/orders.json": {
      ...endpoint,
      access: { clerk: ["read"] },
      hiddenFields: { clerk: ["cost"] },
    },
    "guests/costs.json": { ...endpoint, access: { clerk: ["read"] } },
    "issuer/project.json": {
      database,
      auth: {
        jwt: {
          jwksUri: "http://id.example/keys",
          issuer: "https://id.example",
          audience: "rowgate",
        },
      },
    },
    // There is no such server; the project answers 503, and the others are served.
    "remote/project.json": { database: { url: "postgres://shop:pw@db.invalid/shop" } },
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(folder, "configs", name, ".."), { recursive: true });
    await writeFile(join(folder, "configs", name), JSON.stringify(content));
  }
  const STORAGE_URL = `file:${join(folder, "files")}`;
  env = { CONFIG_DIR: join(folder, "configs"), HOST: "0.0.0.0", PORT: "0", STORAGE_URL };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What `serve` writes until it listens. */
function served(): Promise<string> {
  const child = spawn(process.execPath, [cli, "serve"], {
    env: { ...process.env, LOG_LEVEL: "warn", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  return new Promise((resolve, reject) => {
    const take = (chunk: unknown): void => {
      const isKnown = output.includes("Rowgate listens on");
      output += String(chunk);
      // Once: a second signal ends the process at once.
      if (!isKnown && output.includes("Rowgate listens on")) child.kill("SIGTERM");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve(output) : reject(new Error(`serve ended with ${code}: ${output}`)),
    );
  });
}

const risks = [
  'guests/closed.json  access: nobody may use this endpoint: project.json has "auth", and the file has no "access"',
  "guests/costs.json  access.clerk: the role clerk can see cost here, and orders hides it from that role; hide it here as well",
  'guests/project.json  auth.jwt.audience: tokens that were made for other services are accepted; name the value of their claim "aud"',
  'guests/project.json  auth.jwt.issuer: tokens of every issuer whose signatures the key verifies are accepted; name the value of their claim "iss"',
  "guests/project.json  auth.jwt.secret: the secret has fewer than 32 bytes: anyone with one token can find it by brute force; use 32 random bytes",
  'guests/project.json  rateLimit: there is no "rateLimit" with a max, and requests without credentials are answered (auth.anonymous): one client can use up the whole service',
  "issuer/project.json  auth.jwt.jwksUri: the keys are fetched over http: anyone on the network path can replace them; use https",
  'open/project.json  auth: there is no "auth", and other machines can connect (HOST=0.0.0.0): everybody who can connect may read and write',
  'open/project.json  cors.origins: "*" lets every web page call the API from the browsers of its visitors',
  'remote/project.json  auth: there is no "auth", and other machines can connect (HOST=0.0.0.0): everybody who can connect may read and write',
  "remote/project.json  database.url: the server db.invalid may be reached over public networks, and the URL does not ask for TLS; add sslmode=verify-full",
];

test("check prints each risk as a warning", async () => {
  const { stdout } = await runAside(process.execPath, [cli, "check"], { ...process.env, ...env });
  const warnings = stdout.split("\n").filter((line) => line.startsWith("Warning: "));
  expect(warnings.toSorted()).toEqual(risks.map((risk) => `Warning: ${risk}`));
});

test("serve logs the same, each with its project and once", async () => {
  const entries = (await served())
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { level: number; project: string; msg: string })
    .filter(({ msg }) => /^\w+\/\w+\.json {2}/.test(msg));
  expect(entries.map(({ msg }) => msg).toSorted()).toEqual(risks);
  for (const { level, project, msg } of entries)
    expect([level, msg]).toEqual([40, expect.stringMatching(`^${project}/`)]);
});
