/** Variables in project.json. */
import { describe, expect, test } from "vitest";
import { readConfig } from "../../core/config/reading/read-config.ts";
import { filesOf } from "./shop.ts";

const read = (url: string, env: Record<string, string | undefined> = {}) =>
  readConfig(filesOf({ "project.json": { database: { url } } }), env);

describe("a variable in project.json", () => {
  test.each([
    ["is replaced", "${URL}", { URL: "x:a" }, "x:a"],
    ["is replaced inside a text", "x://${HOST}:${PORT}/a", { HOST: "h", PORT: "1" }, "x://h:1/a"],
    ["wins over its default", "${URL:-x:b}", { URL: "x:a" }, "x:a"],
    ["has a default", "${URL:-x:b}", {}, "x:b"],
    ["has a default that holds :-", "${URL:-a:-b}", {}, "a:-b"],
    ["has an empty default", "x${URL:-}", {}, "x"],
    ["that is empty counts as missing where there is a default", "${URL:-x:b}", { URL: "" }, "x:b"],
    ["that is empty is empty without one", "x${URL}", { URL: "" }, "x"],
    [
      "that holds a reference is taken as it is",
      "${URL}",
      { URL: "${OTHER}", OTHER: "x" },
      "${OTHER}",
    ],
    ["that holds a replacement pattern is taken as it is", "${URL}", { URL: "x$&$1" }, "x$&$1"],
    ["is none without braces", "x$URL", { URL: "a" }, "x$URL"],
  ])("%s", (_, text, env, url) => {
    const { projects, faults } = read(text, env);
    expect(faults).toEqual([]);
    expect(projects[0]!.database.url).toBe(url);
  });

  test("is not one of Object's own", () => {
    expect(read("${constructor}").faults[0]!.found).toContain("constructor");
  });

  test("that is missing is named, each of them", () => {
    const { projects, faults } = read("${SHOP_HOST}/${SHOP_NAME}", { SHOP_HOTS: "x" });
    expect(projects).toEqual([]);
    expect(faults.map(({ found, hint }) => [found, hint])).toEqual([
      ["the environment variable SHOP_HOST, which is not set", 'did you mean "SHOP_HOTS"?'],
      ["the environment variable SHOP_NAME, which is not set", undefined],
    ]);
  });

  test("never shows its value in a fault", () => {
    const { faults } = readConfig(
      filesOf({ "project.json": { database: { url: "x:" }, decimals: "${SECRET}" } }),
      { SECRET: "hunter2" },
    );
    expect(faults).toHaveLength(1);
    expect(JSON.stringify(faults)).not.toContain("hunter2");
  });

  test("is replaced in lists and nested objects, and never in an endpoint's file", () => {
    const { projects } = readConfig(
      filesOf({
        "project.json": { database: { url: "x:" }, cors: { origins: ["https://${HOST}"] } },
        "items.json": { action: {}, tableName: "${HOST}" },
      }),
      { HOST: "shop.example" },
    );
    expect(projects[0]!.cors.origins).toEqual(["https://shop.example"]);
    expect(projects[0]!.endpoints[0]!.payload.tableName).toBe("${HOST}");
  });
});

test("a project.json that names only the database gets every default", () => {
  expect(read("x:").projects[0]).toMatchObject({
    name: "shop",
    database: { url: "x:", pool: 10, statementTimeoutMs: 30_000 },
    decimals: "number",
    cache: { enabled: true, ttlSeconds: 300 },
    locking: {
      enabled: false,
      ttlSeconds: 10,
      strategy: "retry",
      retries: 3,
      retryDelayMs: 100,
      maxResourceTtlSeconds: 300,
    },
    jobs: {
      statementTimeoutMs: 600_000,
      fileTtlSeconds: 86_400,
      maxUploadMb: 10,
      previewRows: 10,
      batchRows: 500,
    },
    hooks: { allowedHosts: [], timeoutMs: 10_000 },
    cors: { origins: [] },
  });
});

test("a byte order mark before the JSON is no fault", () => {
  expect(
    readConfig(filesOf({ "project.json": '\uFEFF{"database": {"url": "x:"}}' }), {}).faults,
  ).toEqual([]);
});

test("projects come by name, and files beside the folders are left alone", () => {
  const text = '{"database": {"url": "x:"}}';
  const files = new Map([
    ["b/project.json", text],
    ["a/project.json", text],
    ["README.md", "#"],
    ["endpoint.schema.json", "{}"],
    ["notes/a.txt", "x"],
    ["a/components/package.json", "not JSON"],
  ]);
  const { projects, faults } = readConfig(files, {});
  expect(faults).toEqual([]);
  expect(projects.map(({ name, endpoints }) => [name, endpoints.length])).toEqual([
    ["a", 0],
    ["b", 0],
  ]);
});
