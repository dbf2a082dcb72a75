/** How the log shows errors, and how a terminal shows the log. */
import { describe, expect, test } from "vitest";
import { prettyLine } from "../../app/start/observing/pretty-log.ts";
import { errorFields, errorOfFields } from "../../core/values/error-fields.ts";
import { AppError, unavailable } from "../../core/values/errors.ts";

const refused = () =>
  Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), {
    code: "ECONNREFUSED",
    sql: "select a secret",
    command: { name: "get", args: ["a secret"] },
  });

describe("an error in the log", () => {
  test("has the messages of all its causes in one line", () => {
    const error = new Error("outer", { cause: new Error("inner", { cause: refused() }) });
    expect(errorFields(error)).toEqual({
      type: "Error",
      message: "outer: inner: connect ECONNREFUSED 127.0.0.1:5432",
      code: "ECONNREFUSED",
    });
  });

  test("has nothing of what a driver attached to it", () => {
    expect(JSON.stringify(errorFields(refused()))).not.toContain("secret");
  });

  test("has the stacks of all its causes where no code says what happened", () => {
    const error = new Error("outer", { cause: new TypeError("inner") });
    const { stack = "" } = errorFields(error);
    expect(stack).toMatch(/^Error: outer\n    at .*\ncaused by: TypeError: inner\n    at /s);
    expect(
      errorFields(Object.assign(new Error(""), { code: "ERR_INVALID_STATE" })).stack,
    ).toBeDefined();
    expect(errorFields(unavailable("away")).stack).toBeUndefined();
    expect(
      errorFields(new AppError("internal", "odd", { cause: refused() })).stack,
    ).toBeUndefined();
  });

  test("repeats no message, and speaks for errors of several addresses", () => {
    const inner = new Error("no");
    expect(errorFields(new Error("it said: no", { cause: inner })).message).toBe("it said: no");
    const both = new AggregateError([new Error("first"), new Error("second")]);
    expect(errorFields(both).message).toBe("first; second");
    expect(errorFields("a text").message).toBe("a text");
  });

  test("survives the way out of a thread", () => {
    for (const error of [new TypeError("odd", { cause: refused() }), new TypeError("odd")]) {
      const fields = errorFields(error);
      expect(errorFields(errorOfFields(fields))).toEqual(fields);
    }
  });

  test("whose cause is itself has an end", () => {
    const error = new Error("round");
    error.cause = error;
    expect(errorFields(error).message).toBe("round");
  });
});

describe("a line on a terminal", () => {
  const line = (fields: object, options = { isColored: false }) =>
    prettyLine(JSON.stringify({ level: 30, time: "2026-01-02T03:04:05.678Z", ...fields }), options);

  test("shows a request", () => {
    const request = { method: "POST", path: "/api/a/b/read", status: 200, durationMs: 1.2 };
    expect(line({ requestId: "r-1", ...request, msg: "request" })).toBe(
      "03:04:05.678 INFO  request POST /api/a/b/read 200 1.2ms requestId=r-1\n",
    );
  });

  test("shows an error with its stack below it", () => {
    const err = { type: "TypeError", message: "odd", stack: "TypeError: odd\n    at a.ts:1" };
    expect(line({ level: 50, err, status: 500, msg: "Unexpected error" })).toBe(
      "03:04:05.678 ERROR Unexpected error 500 odd\n    TypeError: odd\n    at a.ts:1\n",
    );
    const away = { type: "Error", message: "refused", code: "ECONNREFUSED" };
    expect(line({ level: 40, err: away, msg: "Away" })).toBe(
      "03:04:05.678 WARN  Away refused (ECONNREFUSED)\n",
    );
  });

  test("cannot be forged by what it shows", () => {
    const forged = line({
      path: "/a b=1\n03:04:05.678 ERROR",
      sql: "select\n\u001b[31m1",
      msg: "x\ny",
    });
    expect(forged.trimEnd().split("\n")).toHaveLength(1);
    expect(forged).not.toContain("\u001b");
  });

  test("is colored where it is asked for", () => {
    expect(line({ msg: "ready" }, { isColored: true })).toContain("\u001b[32mINFO ");
  });
});
