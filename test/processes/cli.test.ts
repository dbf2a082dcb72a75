/** The command line as a person meets it: what it prints, and the exit code that scripts look at. */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDemo } from "../../configs/demo/create.ts";
import { type Outcome, runAside } from "../running/run-aside.ts";

const root = join(import.meta.dirname, "../..");
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-test-cli-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function rowgate(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  return runAside(process.execPath, [join(root, "app/start/cli.ts"), ...args], {
    ...process.env,
    ...env,
  });
}

async function config(files: Readonly<Record<string, unknown>>): Promise<string> {
  await mkdir(join(folder, "configs/shop"), { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    await writeFile(join(folder, "configs/shop", name), text);
  }
  return join(folder, "configs");
}

test("check passes the demo project and says how many endpoints it has", async () => {
  const database = join(folder, "demo.db");
  createDemo(database);
  const env = { CONFIG_DIR: join(root, "configs"), DEMO_DATABASE_URL: `sqlite:${database}` };
  const { status, stdout, stderr } = await rowgate(["check"], env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("7 endpoints");
});

test("a demo database of an earlier release is kept aside, and made anew once", () => {
  const database = join(folder, "demo.db");
  createDemo(database);
  const old = new Database(database);
  old.pragma("user_version = 0");
  old.exec("DELETE FROM stock_receipt_lines");
  old.close();
  expect(createDemo(database)).toBeGreaterThan(20_000);
  expect(createDemo(database)).toBeNull();
  const kept = new Database(`${database}.old`);
  expect(kept.prepare("SELECT count(*) AS count FROM stock_receipt_lines").get()).toEqual({
    count: 0,
  });
  kept.close();
});

test("openapi prints the document of all projects, or writes that of one", async () => {
  const database = join(folder, "demo.db");
  createDemo(database);
  const env = { CONFIG_DIR: join(root, "configs"), DEMO_DATABASE_URL: `sqlite:${database}` };
  const whole = await rowgate(["openapi"], env);
  expect({ status: whole.status, stderr: whole.stderr }).toEqual({ status: 0, stderr: "" });
  expect(Object.keys(JSON.parse(whole.stdout).paths)).toContain("/health/ready");
  const out = join(folder, "demo.json");
  const { status, stdout } = await rowgate(["openapi", "--project", "demo", "--out", out], env);
  const document = JSON.parse(readFileSync(out, "utf8"));
  const operations = Object.values<object>(document.paths).flatMap(Object.keys).length;
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: `Wrote ${out}: ${operations} operations\n`,
  });
  expect(document.paths["/api/demo/suppliers/create"].post.operationId).toBe("suppliersCreate");
});

test("openapi ends quietly where its reader does not want all of it", async () => {
  const database = join(folder, "demo.db");
  createDemo(database);
  const command = `"${process.execPath}" "${join(root, "app/start/cli.ts")}" openapi | head -c 10`;
  const { status, stdout, stderr } = await runAside("bash", ["-o", "pipefail", "-c", command], {
    ...process.env,
    CONFIG_DIR: join(root, "configs"),
    DEMO_DATABASE_URL: `sqlite:${database}`,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toHaveLength(10);
});

test("openapi names the projects that there are, and the faults of a configuration", async () => {
  const database = join(folder, "demo.db");
  createDemo(database);
  const env = { CONFIG_DIR: join(root, "configs"), DEMO_DATABASE_URL: `sqlite:${database}` };
  const unknown = await rowgate(["openapi", "--project", "shop"], env);
  expect(unknown.status).toBe(1);
  expect(unknown.stderr).toContain('There is no project "shop"; there are: demo\n');
  const CONFIG_DIR = await config({ "project.json": { databse: {} } });
  const faulty = await rowgate(["openapi"], { CONFIG_DIR });
  expect({ status: faulty.status, stdout: faulty.stdout }).toEqual({ status: 1, stdout: "" });
  expect(faulty.stderr).toContain('did you mean "database"');
});

test("check shows the faults of all files at once, with file, path and hint, and exits with 1", async () => {
  await writeFile(join(folder, "empty.db"), "");
  const CONFIG_DIR = await config({
    "project.json": { database: { url: `sqlite:${join(folder, "empty.db")}`, pol: 3 } },
    "orders.json": { action: { raed: true }, tableName: "orders" },
    "broken.json": "{",
  });
  const { status, stderr, stdout } = await rowgate(["check"], { CONFIG_DIR });
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toContain("shop/project.json");
  expect(stderr).toContain('did you mean "pool"');
  expect(stderr).toContain("shop/orders.json");
  expect(stderr).toContain('did you mean "read"');
  expect(stderr).toContain("shop/broken.json");
});

test("check warns of a database on a public address, and says how its password is written", async () => {
  const CONFIG_DIR = await config({
    "project.json": { database: { url: "postgres://rowgate:secret@db.example.com:5432/shop" } },
  });
  await mkdir(join(CONFIG_DIR, "stock"));
  await writeFile(
    join(CONFIG_DIR, "stock/project.json"),
    JSON.stringify({ database: { url: "mysql://rowgate:se#cret@db/stock" } }),
  );
  const { status, stdout, stderr } = await rowgate(["check"], { CONFIG_DIR });
  expect(status).toBe(1);
  expect(stdout).toBe(
    "Warning: shop/project.json  database.url: the server db.example.com may be reached over public networks, and the URL does not ask for TLS; add sslmode=verify-full\n",
  );
  expect(stderr).toContain("found an address whose password has # as it is\n");
  expect(stdout + stderr).not.toMatch(/secret|se#cret/);
});

test("--env-file gives variables that the environment does not have", async () => {
  const CONFIG_DIR = await config({
    "project.json": { database: { url: "sqlite:${SHOP_FILE}" }, cache: { ttlSeconds: 5 } },
  });
  await writeFile(
    join(folder, "own.env"),
    `# of the shop\nSHOP_FILE="${join(folder, "shop.db")}"\nCONFIG_DIR=/nowhere\n`,
  );
  new Database(join(folder, "shop.db")).close();
  const file = join(folder, "own.env");
  const { status, stdout, stderr } = await rowgate(["check", "--env-file", file], { CONFIG_DIR });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain(`The configuration in ${CONFIG_DIR} is valid`);
});

test("--env-file names a file that cannot be read", async () => {
  const file = join(folder, "none.env");
  const { status, stderr } = await rowgate(["check", `--env-file=${file}`]);
  expect(status).not.toBe(0);
  expect(stderr).toContain(file);
});

test("check says in which forms a SQLite database stores dates", async () => {
  const path = join(folder, "shop.db");
  const database = new Database(path);
  database.exec(`CREATE TABLE orders (id TEXT PRIMARY KEY, ordered_at DATETIME, paid_at DATETIME, sent DATE);
    INSERT INTO orders VALUES ('a', 1767225600000, '2026-01-01T00:00:00Z', '2026-01-01'), ('b', 1767312000000, 1767312000000, '2026-01-02')`);
  database.close();
  const CONFIG_DIR = await config({
    "project.json": { database: { url: `sqlite:${path}` } },
    "orders.json": { action: { read: true }, tableName: "orders" },
  });
  const { status, stdout } = await rowgate(["check"], { CONFIG_DIR });
  expect(status).toBe(0);
  expect(stdout).toContain(
    "Note: shop/orders: values are stored in a special form: ordered_at holds whole milliseconds since 1970; paid_at holds different forms, so that it is compared by value, without an index\n",
  );
});

test("check says which columns are text or only shown, and why", async () => {
  const path = join(folder, "shop.db");
  const database = new Database(path);
  database.exec(
    `CREATE TABLE orders (id INTEGER PRIMARY KEY, note, kind STRING, hidden STRING, half INTEGER AS (id / 2))`,
  );
  database.close();
  const CONFIG_DIR = await config({
    "project.json": { database: { url: `sqlite:${path}` } },
    "orders.json": {
      action: { read: true },
      tableName: "orders",
      fieldName: ["id", "note", "kind", "half"],
    },
  });
  const { status, stdout } = await rowgate(["check"], { CONFIG_DIR });
  expect(status).toBe(0);
  expect(stdout).toContain(
    "Note: shop/orders: columns with types of their own: note is text (its type is not known); kind is text in the form of the database (STRING); half is only shown (the database fills it)\n",
  );
});

test("check warns of what is risky on the output, and still exits with 0", async () => {
  const path = join(folder, "shop.db");
  const database = new Database(path);
  database.exec("create table orders (id integer primary key)");
  database.close();
  const CONFIG_DIR = await config({
    "project.json": { database: { url: `sqlite:${path}` }, cors: { origins: ["*"] } },
    "orders.json": { action: { read: true }, tableName: "orders" },
  });
  const { status, stdout } = await rowgate(["check"], { CONFIG_DIR, HOST: "0.0.0.0" });
  expect([status, stdout.split("\n").filter((line) => line.startsWith("Warning:"))]).toEqual([
    0,
    [
      'Warning: shop/project.json  auth: there is no "auth", and other machines can connect (HOST=0.0.0.0): everybody who can connect may read and write',
      'Warning: shop/project.json  cors.origins: "*" lets every web page call the API from the browsers of its visitors',
    ],
  ]);
});

test.each([
  ["#", "postgres://app:a#b@localhost/shop"],
  ["#", "mysql://app:a#b@localhost/shop"],
  ["%", "mysql://app:a%b@localhost/shop"],
])("check and serve name the place of an address with %s in its password", async (sign, url) => {
  const CONFIG_DIR = await config({ "project.json": { database: { url } } });
  for (const command of ["check", "serve"]) {
    const { status, stderr } = await rowgate([command], { CONFIG_DIR, PORT: "0" });
    expect([status, stderr.split("\n").slice(2, 4)]).toEqual([
      1,
      [
        "shop/project.json:1:14  database.url",
        `  expected a percent-encoded password (@ is %40, # is %23, / is %2F, ? is %3F, : is %3A and % is %25), found an address whose password has ${sign} as it is`,
      ],
    ]);
  }
});

test("check and serve name the place of an address that cannot be read, and what else is wrong", async () => {
  const CONFIG_DIR = await config({
    "project.json": { database: { url: "oracle://localhost/shop" } },
    "goods.json": { tableName: "goods", acton: { read: true } },
  });
  for (const command of ["check", "serve"]) {
    const { status, stderr } = await rowgate([command], { CONFIG_DIR, PORT: "0" });
    expect([status, stderr]).toEqual([1, expect.stringContaining("acton")]);
    expect(stderr).toContain("shop/project.json:1:14  database.url");
  }
  const { status, stdout } = await rowgate(["check", "--json"], { CONFIG_DIR });
  const { faults } = JSON.parse(stdout) as { faults: { path: string }[] };
  expect([status, faults.map(({ path }) => path)]).toEqual([
    1,
    ["action", "acton", "database.url"],
  ]);
});

test("serve says in one sentence that its port is taken", async () => {
  await writeFile(join(folder, "shop.db"), "");
  const CONFIG_DIR = await config({
    "project.json": { database: { url: `sqlite:${join(folder, "shop.db")}` } },
  });
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { status, stderr } = await rowgate(["serve"], {
    CONFIG_DIR,
    PORT: String(port),
    LOG_LEVEL: "fatal",
  });
  other.close();
  expect([status, stderr]).toEqual([
    1,
    `Port ${port} of 127.0.0.1 is taken by another program; end it, or set PORT to another port\n`,
  ]);
});

test.each([
  ["in one file", "delete", false],
  ["in WAL mode", "wal", false],
  ["in WAL mode, with a log that was not written back", "wal", true],
])("check changes nothing of a SQLite database %s", async (_title, mode, hasLog) => {
  const [used, checked] = [join(folder, "used"), join(folder, "checked")];
  await mkdir(used);
  const database = new Database(join(used, "shop.db"));
  database.pragma(`journal_mode = ${mode}`);
  database.exec("create table orders (id integer primary key)");
  if (!hasLog) database.close();
  await cp(used, checked, { recursive: true });
  database.close();
  const CONFIG_DIR = await config({
    "project.json": { database: { url: `sqlite:${join(checked, "shop.db")}` } },
    "orders.json": { action: { read: true }, tableName: "orders" },
  });
  const before = stored(checked);
  const { status, stderr } = await rowgate(["check"], { CONFIG_DIR });
  expect([status, stderr]).toEqual([0, ""]);
  expect(stored(checked)).toEqual(before);
});

/** Contents of a folder's files, without the index of a log (`-shm`), which has no data. */
const stored = (path: string) =>
  readdirSync(path)
    .filter((name) => !name.endsWith("-shm"))
    .map((name) => [name, readFileSync(join(path, name), "base64")]);

test.each([
  ["a folder that is not there", { CONFIG_DIR: "/nowhere/configs" }, "CONFIG_DIR=/nowhere/configs"],
  ["a bad variable", { PORT: "eighty" }, "PORT=eighty"],
])("serve ends with 1 and one sentence for %s", async (_name, env, words) => {
  const { status, stderr } = await rowgate(["serve"], env);
  expect(status).toBe(1);
  expect(stderr).toContain(words);
  expect(stderr).not.toContain("    at ");
});

test.each([
  ["no command", [], 0, ""],
  ["help", ["help"], 0, ""],
  ["--help", ["--help"], 0, ""],
  ["--help after a command", ["check", "--help"], 0, ""],
  ["an unknown command", ["srve"], 1, 'There is no command "srve"; did you mean "serve"?\n'],
  ["a name of every object", ["constructor"], 1, 'There is no command "constructor"\n'],
])("%s shows the usage", async (_name, args, expected, sentence) => {
  const { status, stderr } = await rowgate(args);
  expect(status).toBe(expected);
  expect(stderr.startsWith(`${sentence}Usage: rowgate <command>`)).toBe(true);
});
