/** How often a request waits for PostgreSQL, and what an error means that comes with the end of a transaction. */
import { expect, test } from "vitest";
import { BehindError } from "../../db/engines/engine.ts";
import { failure } from "../../db/engines/postgres/failure.ts";
import { testRoundTrips } from "./round-trips.ts";

testRoundTrips({
  first: { items: 1, kept: 1, marked: 1 },
  create: { items: 1, kept: 1, marked: 1 },
  update: { items: 1, kept: 1, marked: 1 },
  adjust: { items: 1, kept: 1, marked: 1 },
});

test.each([
  [{ code: "40001", severity: "ERROR" }, "conflict"],
  [{ code: "23503", severity: "ERROR" }, "foreignKeyMissing"],
  [{ code: "CONNECTION_CLOSED" }, "connection"],
])("an error of the COMMIT behind a statement keeps its meaning: %o", (error, kind) => {
  expect(failure(new BehindError(error)).kind).toBe(failure(error).kind);
  expect(failure(error).kind).toBe(kind);
});
