import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEnvFiles } from "../../app/start/settings/env-file.ts";
import { parseEnv } from "../../app/start/settings/env.ts";

describe("the environment", () => {
  test("has a default for every variable", () => {
    expect(parseEnv({})).toEqual({
      port: 3000,
      host: "127.0.0.1",
      configDir: "configs",
      logLevel: "info",
      logFormat: null,
      bodyLimitBytes: 1_048_576,
      allowedHosts: [],
      trustProxy: 0,
      metricsToken: null,
      docs: true,
      compression: true,
      databaseUrl: null,
      console: true,
      metricsPort: null,
      redisUrl: null,
      jobsDatabaseUrl: null,
      storage: { kind: "folder", path: "./data/files" },
      queueName: "rowgate",
      jobsBoardToken: null,
      maxConnections: 10_000,
      traces: null,
    });
  });

  test.each([
    ["PORT", "8080", { port: 8080 }],
    ["PORT", "0", { port: 0 }],
    ["METRICS_PORT", "9464", { metricsPort: 9464 }],
    ["METRICS_PORT", "", { metricsPort: null }],
    ["HOST", "0.0.0.0", { host: "0.0.0.0" }],
    ["HOST", "", { host: "127.0.0.1" }],
    ["CONFIG_DIR", "/srv/configs", { configDir: "/srv/configs" }],
    ["LOG_LEVEL", "silent", { logLevel: "silent" }],
    ["LOG_FORMAT", "json", { logFormat: "json" }],
    ["LOG_FORMAT", "pretty", { logFormat: "pretty" }],
    ["BODY_LIMIT", "4096", { bodyLimitBytes: 4096 }],
    ["BODY_LIMIT", "2MB", { bodyLimitBytes: 2_000_000 }],
    ["BODY_LIMIT", "1.5 MiB", { bodyLimitBytes: 1_572_864 }],
    ["BODY_LIMIT", "64kb", { bodyLimitBytes: 64_000 }],
    ["REDIS_URL", "redis://:secret@cache:6379/2", { redisUrl: "redis://:secret@cache:6379/2" }],
    ["REDIS_URL", "rediss://cache", { redisUrl: "rediss://cache" }],
    ["DOCS", "off", { docs: false }],
    ["COMPRESSION", "off", { compression: false }],
    ["CONSOLE", "off", { console: false }],
    ["REDIS_URL", "", { redisUrl: null }],
    ["STORAGE_URL", "file:/srv/files", { storage: { kind: "folder", path: "/srv/files" } }],
    ["JOBS_QUEUE", "shop-2", { queueName: "shop-2" }],
    [
      "JOBS_DATABASE_URL",
      "postgres://jobs:secret@db:5432/jobs",
      { jobsDatabaseUrl: "postgres://jobs:secret@db:5432/jobs" },
    ],
    ["JOBS_DATABASE_URL", "postgresql:///jobs", { jobsDatabaseUrl: "postgresql:///jobs" }],
    ["JOBS_DATABASE_URL", "", { jobsDatabaseUrl: null }],
    ["JOBS_BOARD_TOKEN", "0123456789abcdef", { jobsBoardToken: "0123456789abcdef" }],
    ["JOBS_BOARD_TOKEN", "", { jobsBoardToken: null }],
  ])("takes %s=%s", (name, value, expected) => {
    expect(parseEnv({ [name]: value })).toMatchObject(expected);
  });

  const traces = {
    exporter: "otlp",
    url: "http://localhost:4318/v1/traces",
    protocol: "http/protobuf",
    headers: {},
    timeoutMs: 10_000,
    compression: "none",
    delayMs: 5_000,
    resource: { "service.name": "rowgate" },
    sampler: "parentbased_always_on",
    samplerRatio: 1,
  };
  const on = { OTEL_TRACES_EXPORTER: "otlp" };
  test.each([
    [on, traces],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318/x/" },
      { ...traces, url: "http://c:4318/x/v1/traces" },
    ],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://c/in" }, { ...traces, url: "https://c/in" }],
    [{ OTEL_TRACES_EXPORTER: "console" }, { ...traces, exporter: "console" }],
    [{ OTEL_TRACES_EXPORTER: "none", OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" }, null],
    [{ ...on, OTEL_SDK_DISABLED: "TRUE" }, null],
    [
      { ...on, OTEL_RESOURCE_ATTRIBUTES: "service.name=a,team=b%2Cc" },
      { ...traces, resource: { "service.name": "a", team: "b,c" } },
    ],
    [
      { ...on, OTEL_SERVICE_NAME: "shop", OTEL_RESOURCE_ATTRIBUTES: "service.name=a" },
      { ...traces, resource: { "service.name": "shop" } },
    ],
    [
      { ...on, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" },
      { ...traces, sampler: "traceidratio", samplerRatio: 0.25 },
    ],
    [
      {
        ...on,
        OTEL_EXPORTER_OTLP_HEADERS: "a=1,b=x%20y",
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: "b=2",
      },
      { ...traces, headers: { a: "1", b: "2" } },
    ],
  ])("switches traces on and off: %j", (env, expected) => {
    expect(parseEnv(env).traces).toEqual(expected);
  });

  test("shows no header of a collector", () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: "authorization: secret%" };
    expect(() => parseEnv(env)).toThrow(
      "OTEL_EXPORTER_OTLP_HEADERS=…: must be pairs such as name=value,other=value",
    );
  });

  test.each([
    ["PORT", "http"],
    ["PORT", "70000"],
    ["METRICS_PORT", "70000"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ["LOG_LEVEL", "loud"],
    ["LOG_FORMAT", "xml"],
    ["OTEL_TRACES_EXPORTER", "zipkin"],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"],
    ["OTEL_TRACES_SAMPLER", "some"],
    ["OTEL_TRACES_SAMPLER_ARG", "2"],
    ["DOCS", "no"],
    ["COMPRESSION", "no"],
    ["CONSOLE", "no"],
    ["STORAGE_URL", "http://bucket"],
    ["STORAGE_URL", "s3://bucket?regoin=eu-central-1"],
    ["STORAGE_URL", "file:"],
    ["JOBS_QUEUE", "a:b"],
    ["BODY_LIMIT", "0"],
    ["BODY_LIMIT", "much"],
    ["BODY_LIMIT", "-5"],
    ["BODY_LIMIT", "1.2.3"],
  ])("refuses %s=%s and says which it is", (name, value) => {
    expect(() => parseEnv({ [name]: value })).toThrow(`${name}=${value}: `);
    expect(() => parseEnv({ [name]: value })).not.toThrow("Invalid");
  });

  test.each([
    "db:5432/jobs",
    "mysql://jobs:secret@db/jobs",
    "postgres:jobs:secret@db",
    "postgres://jobs:se cret@db:port/jobs",
  ])("refuses JOBS_DATABASE_URL=%s without showing it, for it may hold a password", (address) => {
    const shown = "JOBS_DATABASE_URL=…: must be an address such as postgres://user:password@";
    expect(() => parseEnv({ JOBS_DATABASE_URL: address })).toThrow(shown);
  });

  test.each([
    ["0123456789abcde", "at least 16 characters"],
    ["0123456789 abcdef", "without spaces"],
    ["0123456789abcdeü", "ASCII"],
  ])("refuses JOBS_BOARD_TOKEN=%s without showing it", (token, words) => {
    const refused = () => parseEnv({ JOBS_BOARD_TOKEN: token });
    expect(refused).toThrow(/JOBS_BOARD_TOKEN=…: must /);
    expect(refused).toThrow(words);
  });

  test("refuses Redis and a database for the jobs beside each other, and shows neither", () => {
    const both = {
      REDIS_URL: "redis://:secret@cache",
      JOBS_DATABASE_URL: "postgres://jobs:secret@db/jobs",
    };
    expect(() => parseEnv(both)).toThrow(/^REDIS_URL and JOBS_DATABASE_URL are both set, [^/]*$/);
    expect(() => parseEnv({ ...both, REDIS_URL: "" })).not.toThrow();
  });

  test.each(["cache:6379", "http://:secret@cache", "redis://", "redis:///2"])(
    "refuses REDIS_URL=%s without showing it, for it may hold a password",
    (address) => {
      expect(() => parseEnv({ REDIS_URL: address })).toThrow("REDIS_URL=…: must be an address");
    },
  );

  test("takes a bucket with its keys, and those that are lent too", () => {
    const given = {
      STORAGE_URL: "s3://shop/files?region=eu-central-1",
      AWS_ACCESS_KEY_ID: "key",
      AWS_SECRET_ACCESS_KEY: "secret",
    };
    const keys = { accessKeyId: "key", secretAccessKey: "secret" };
    const storage = {
      kind: "bucket",
      url: "https://shop.s3.eu-central-1.amazonaws.com",
      region: "eu-central-1",
      prefix: "files/",
    };
    expect(parseEnv(given).storage).toEqual({ ...storage, keys });
    expect(parseEnv({ ...given, AWS_SESSION_TOKEN: "lent" }).storage).toEqual({
      ...storage,
      keys: { ...keys, sessionToken: "lent" },
    });
  });

  test.each([
    ["s3://shop", { AWS_REGION: "eu-central-1" }, "eu-central-1"],
    ["s3://shop?region=eu-west-1", { AWS_REGION: "eu-central-1" }, "eu-west-1"],
    ["s3://shop", { AWS_REGION: "" }, "us-east-1"],
    ["s3://shop", {}, "us-east-1"],
  ])("takes the bucket %s with %j to be in %s", (STORAGE_URL, env, region) => {
    const keys = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };
    const url = `https://shop.s3.${region}.amazonaws.com`;
    expect(parseEnv({ STORAGE_URL, ...keys, ...env }).storage).toMatchObject({ url, region });
  });

  test("leaves the keys of a bucket alone where files are in a folder", () => {
    const keys = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };
    expect(parseEnv(keys)).toEqual(parseEnv({}));
  });

  test.each([
    ["without both keys", {}],
    ["without the secret one", { AWS_ACCESS_KEY_ID: "key" }],
    ["with an empty secret one", { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "" }],
  ])("refuses a bucket %s and says what is missing", (_, keys) => {
    expect(() => parseEnv({ STORAGE_URL: "s3://shop", ...keys })).toThrow(
      "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set",
    );
  });

  test("refuses a bucket with a key in its URL without showing it", () => {
    expect(() => parseEnv({ STORAGE_URL: "s3://key:hush@shop" })).toThrow(
      "STORAGE_URL=…: must hold no credentials",
    );
  });

  test("names every bad variable at once", () => {
    expect(() => parseEnv({ PORT: "x", LOG_LEVEL: "y" })).toThrow(/PORT=x[^]*LOG_LEVEL=y/);
  });
});

test("a file of variables may begin with a byte order mark, as editors on Windows write it", () => {
  const folder = mkdtempSync(join(tmpdir(), "rowgate-test-env-"));
  const file = join(folder, "own.env");
  writeFileSync(file, "\uFEFFFIRST=1\r\nSECOND=2\r\n");
  const { env } = createEnvFiles([file], {})();
  rmSync(folder, { recursive: true });
  expect(env).toEqual({ FIRST: "1", SECOND: "2" });
});
