import { describe, expect, test } from "vitest";
import { parseEnv } from "../app/env.ts";

describe("the environment", () => {
  test("has a default for every variable", () => {
    expect(parseEnv({})).toEqual({
      port: 3000,
      host: "127.0.0.1",
      configDir: "configs",
      logLevel: "info",
      bodyLimitBytes: 1_048_576,
      redisUrl: null,
      storageUrl: "file:./data/files",
      queueName: "rowgate",
    });
  });

  test.each([
    ["PORT", "8080", { port: 8080 }],
    ["PORT", "0", { port: 0 }],
    ["HOST", "0.0.0.0", { host: "0.0.0.0" }],
    ["HOST", "", { host: "127.0.0.1" }],
    ["CONFIG_DIR", "/srv/configs", { configDir: "/srv/configs" }],
    ["LOG_LEVEL", "silent", { logLevel: "silent" }],
    ["BODY_LIMIT", "4096", { bodyLimitBytes: 4096 }],
    ["BODY_LIMIT", "2MB", { bodyLimitBytes: 2_000_000 }],
    ["BODY_LIMIT", "1.5 MiB", { bodyLimitBytes: 1_572_864 }],
    ["BODY_LIMIT", "64kb", { bodyLimitBytes: 64_000 }],
    ["REDIS_URL", "redis://:secret@cache:6379/2", { redisUrl: "redis://:secret@cache:6379/2" }],
    ["REDIS_URL", "rediss://cache", { redisUrl: "rediss://cache" }],
    ["REDIS_URL", "", { redisUrl: null }],
    ["STORAGE_URL", "file:/srv/files", { storageUrl: "file:/srv/files" }],
    ["JOBS_QUEUE", "shop-2", { queueName: "shop-2" }],
  ])("takes %s=%s", (name, value, expected) => {
    expect(parseEnv({ [name]: value })).toMatchObject(expected);
  });

  test.each([
    ["PORT", "http"],
    ["PORT", "70000"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ["LOG_LEVEL", "loud"],
    ["STORAGE_URL", "s3://bucket"],
    ["STORAGE_URL", "file:"],
    ["JOBS_QUEUE", "a:b"],
    ["BODY_LIMIT", "0"],
    ["BODY_LIMIT", "much"],
    ["BODY_LIMIT", "-5"],
    ["BODY_LIMIT", "1.2.3"],
  ])("refuses %s=%s and says which it is", (name, value) => {
    expect(() => parseEnv({ [name]: value })).toThrow(`${name}=${value}: `);
  });

  test.each(["cache:6379", "http://:secret@cache", "redis://", "redis:///2"])(
    "refuses REDIS_URL=%s without showing it, for it may hold a password",
    (address) => {
      expect(() => parseEnv({ REDIS_URL: address })).toThrow("REDIS_URL=…: must be an address");
    },
  );

  test("names every bad variable at once", () => {
    expect(() => parseEnv({ PORT: "x", LOG_LEVEL: "y" })).toThrow(/PORT=x[^]*LOG_LEVEL=y/);
  });
});
