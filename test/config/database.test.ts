/** Checks of a database URL without connecting: unsupported features, literal passwords, and public networks. */
import { describe, expect, test } from "vitest";
import { databaseReach } from "../../app/start/opening/telling.ts";
import { readProjects } from "../../app/start/settings/read-projects.ts";
import { databaseRisks } from "../../core/config/checking/risks.ts";
import { databaseFaults } from "../../db/open.ts";

const settings = { preparedStatements: true };
const settingsAtFault = (url: string, own: object = {}): string[] =>
  databaseFaults(url, { ...settings, ...own }).map(({ setting }) => setting);

test.each([
  ["pa#ss", "#"],
  ["p@ss#word", "#"],
  ["pa/ss", "/"],
  ["12/34", "/"],
  ["pa?ss", "?"],
  ["100%sure", "%"],
])("the password %s must be percent-encoded", (password, sign) => {
  for (const scheme of ["postgres", "mysql"]) {
    const url = `${scheme}://rowgate:${password}@localhost:1234/shop`;
    expect(databaseFaults(url, settings)).toEqual([
      {
        setting: "url",
        found: `an address whose password has ${sign} as it is`,
        expected:
          "a percent-encoded password (@ is %40, # is %23, / is %2F, ? is %3F, : is %3A and % is %25)",
      },
    ]);
    const encoded = `${scheme}://rowgate:${encodeURIComponent(password)}@localhost:1234/shop`;
    expect(databaseFaults(encoded, settings)).toEqual([]);
  }
});

test.each([
  "postgres://localhost/shop",
  "postgres://u:p@ss:word@[::1]:5432/shop?options=-c%20a%3Db",
  "postgres://u:p@one:5432,two:5433/shop?x=a@b",
  "postgres:///shop?host=/run",
  'mysql://u@host/shop?ssl={"ca":"a@b"}',
  "sqlite:data/a#b@c%.db",
])("%s is as good as it was", (url) => {
  expect(databaseFaults(url, settings)).toEqual([]);
});

const kinds = "an address of postgres:, postgresql:, mysql:, mariadb:, sqlite:";
const ports = "a port from 1 to 65535, or none";
test.each([
  ["oracle://host/shop", 'the kind "oracle:"', kinds],
  ["shop.db", "a text without a kind of database", kinds],
  ["sqlite:", "no file name", "sqlite:./data/shop.db, or sqlite::memory:"],
  ["postgres://u:p@host:99999/shop", "an address with another port", ports],
  ["mysql://host:port/shop", "an address with another port", ports],
  ["postgres://one:5432,two:x/shop", "an address with another port", ports],
])("the address %s is a fault at its place", (url, found, expected) => {
  expect(databaseFaults(url, settings)).toEqual([{ setting: "url", found, expected }]);
});

test("settings that the kind of database lacks are faults", () => {
  const own = { claimsSetting: "app.claims", preparedStatements: false, tls: { ca: "…" } };
  expect(settingsAtFault("postgres://localhost/shop", own)).toEqual([]);
  expect(settingsAtFault("mariadb://localhost/shop", own)).toEqual([
    "claimsSetting",
    "preparedStatements",
  ]);
  expect(settingsAtFault("sqlite:shop.db", own)).toEqual([
    "claimsSetting",
    "preparedStatements",
    "tls",
  ]);
});

test("claimsSetting without auth is a fault, and so is the name of a setting of the server's", () => {
  const faultsOf = (project: object): string[] => {
    const files = new Map([["shop/project.json", JSON.stringify(project)]]);
    return readProjects({ files, env: {} }, databaseFaults).faults.map(
      ({ path, expected }) => `${path}: ${expected}`,
    );
  };
  const url = "postgres://localhost/shop";
  expect(faultsOf({ database: { url, claimsSetting: "request.jwt.claims" } })).toEqual([
    "database.claimsSetting: auth beside it, so that callers have claims",
  ]);
  const auth = { anonymous: { roles: [] } };
  expect(faultsOf({ database: { url, claimsSetting: "role" }, auth })).toEqual([
    "database.claimsSetting: the name of a setting of your own, with a point: request.jwt.claims",
  ]);
});

describe("the way to the database", () => {
  const risksOf = (url: string, own: object = {}): string[] => {
    const project = { database: { url, ...own } };
    const files = new Map([["shop/project.json", JSON.stringify(project)]]);
    const { projects } = readProjects({ files, env: {} }, databaseFaults);
    return projects.flatMap((config) =>
      databaseRisks(config, databaseReach(config)).map(({ message }) => message),
    );
  };
  const warning = (host: string): string =>
    `the server ${host} may be reached over public networks, and the URL does not ask for TLS; add sslmode=verify-full`;

  test.each([
    ["db.example.com:5432", "db.example.com"],
    ["db,8.8.8.8", "8.8.8.8"],
    ["[2a00:1450::1]:5432", "2a00:1450::1"],
    ["u:p@ss@db.example.com", "db.example.com"],
  ])("is a risk without TLS to %s", (host, named) => {
    expect(risksOf(`postgres://${host}/shop`)).toEqual([warning(named)]);
    for (const mode of ["verify-full", "require", "disable"])
      expect(risksOf(`mysql://${host}/shop?sslmode=${mode}`)).toEqual([]);
  });

  test.each(["db", "10.1.2.3:5432", "db.shop.svc", "db.internal", "[::1]", "localhost"])(
    "is no risk to %s",
    (host) => expect(risksOf(`postgres://${host}/shop`)).toEqual([]),
  );
});
