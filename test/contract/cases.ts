/**
 * Checks of answers in the contract tests. `checkEnvelope` checks every answer: the envelope, the request id, and that
 * an error reveals no internals. `check` compares one answer with a row of a case table.
 */
import { expect } from "vitest";
import type { Json } from "../../core/values/json.ts";
import type { Row } from "../../core/values/row.ts";
import type { Answer } from "./harness.ts";

/** One row of a table of cases. A member that is left out is not compared. */
export interface Case {
  /** A sentence, the action first; it is the test's title. */
  name: string;
  /** Undefined sends no body; a string is sent unchanged, all else as JSON. */
  body: unknown;
  status: number;
  error?: string;
  message?: string;
  /** The fields of the `errors` map, all of them; with their messages where these are configured. */
  errors?: readonly string[] | Record<string, string[]>;
  /** Members that `data` (or each record of it) must have. */
  data?: object;
}

/** Compares what the row of the table names; a failure shows the whole answer. */
export function check(answer: Answer, expected: Partial<Case>): void {
  const { status, error, message, errors, data } = expected;
  const { body } = answer;
  const whole = JSON.stringify(body);
  expect({ status: answer.status, error: body.error }, whole).toEqual({ status, error });
  if (message !== undefined) expect(body.message, whole).toBe(message);
  if (data !== undefined) expect(body.data, whole).toMatchObject(data);
  if (Array.isArray(errors))
    expect(Object.keys(body.errors ?? {}).sort(), whole).toEqual([...errors].sort());
  else if (errors !== undefined) expect(body.errors, whole).toEqual(errors);
}

/** The record that an answer carries. */
export function record(answer: Answer): Row {
  expect(answer.body, "an answer with a record").toMatchObject({
    success: true,
    data: expect.any(Object),
  });
  return answer.body.data as Row;
}

/** The records that a list carries. */
export function records(answer: Answer): Row[] {
  expect(answer.body, "an answer with records").toMatchObject({
    success: true,
    data: expect.any(Array),
  });
  return answer.body.data as Row[];
}

/** Values of one column, in the order of the answer. */
export const column = (answer: Answer, name: string): Json[] =>
  records(answer).map((row) => row[name] ?? null);

/** How often each status came. */
export function tally(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** A condition of a `where`. */
export const condition = (key: string, operator: string, value?: unknown, more: object = {}) => ({
  key,
  operator,
  value,
  ...more,
});
export const and = (...conditions: object[]) => ({ logic: "AND", conditions });
export const or = (...conditions: object[]) => ({ logic: "OR", conditions });
/** A body with this condition alone. */
export const where = (key: string, operator: string, value?: unknown) => ({
  where: { conditions: [{ key, operator, value }] },
});

export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Words that appear only in messages of drivers and servers and in stacks. */
const leaks =
  /SQLITE_|\bER_[A-Z]|errno|sqlstate|syntax error|duplicate key value|Duplicate entry '|no such (column|table)|violates|\.ts:\d|\n\s+at |node_modules|file:\/\/|mariadb|postgres|sqlite|hush-/i;

/** The grid's answers are these, and what its settings add; its errors have them beside the envelope's own. */
const gridMembers = ["draw", "recordsTotal", "recordsFiltered", "data"];
const gridExtras = ["count_mode", "searchPanes", "searchBuilder", "columnControl"];

export function checkEnvelope(answer: Answer): void {
  const { status, body } = answer;
  const text = JSON.stringify(body);
  expect(answer.headers.get("X-Request-Id"), "X-Request-Id").toBeTruthy();
  expect(answer.headers.get("Content-Type"), "Content-Type").toMatch(/^application\/json/);
  const ofGrid = gridMembers.filter((name) => name !== "data" && Object.hasOwn(body, name));
  if (ofGrid.length > 0)
    expect(Object.keys(body), text).toEqual(expect.arrayContaining(gridMembers));
  const isInlineError = ofGrid.length > 0 && Object.hasOwn(body, "error");
  if (ofGrid.length > 0 && status < 400 && !isInlineError) {
    const members = Object.keys(body).filter((name) => !gridExtras.includes(name));
    expect(members, text).toEqual(gridMembers);
    return;
  }
  expect(body.timestamp, text).toMatch(instant);
  expect(body.success, text).toBe(status < 400 && status !== 207 && !isInlineError);
  if (body.success || status === 207) return;
  const more = ofGrid.length > 0 ? ["errors", ...gridMembers] : ["errors"];
  // Who holds the lock, and for how long.
  if (body.error === "Lock conflict" || body.error === "Unexpected count") more.push("data");
  if (body.dry_run === true) more.push("dry_run");
  if (body.failed_step?.index >= 0) more.push("failed_step");
  const members = Object.keys(body).filter((name) => !more.includes(name));
  expect(members.sort(), text).toEqual(["error", "message", "success", "timestamp"]);
  expect(body.error, text).toEqual(expect.any(String));
  expect(body.message, text).toEqual(expect.any(String));
  expect(text).not.toMatch(leaks);
}
