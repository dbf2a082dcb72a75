/** What happens to a job whose run failed. */
import { expect, test } from "vitest";
import { AppError, unavailable } from "../../../core/values/errors.ts";
import type { Job } from "../../../core/jobs/job.ts";
import { outcomeOf } from "../../../jobs/queue/outcome.ts";

const job: Job = {
  id: "export-1",
  kind: "export",
  project: "shop",
  endpoint: "items",
  caller: null,
  request: {},
  createdAtMs: 0,
  keptSeconds: 1,
};

test.each([
  { name: "a refusal", error: new AppError("validationFailed", "No"), mayPass: false, logged: 0 },
  { name: "a database out of reach", error: unavailable("Away"), mayPass: true, logged: 1 },
  {
    name: "an unforeseen refusal",
    error: new AppError("internal", "x"),
    mayPass: false,
    logged: 1,
  },
  { name: "a fault of the code", error: new TypeError("x"), mayPass: true, logged: 1 },
])("$name may pass: $mayPass, and is logged $logged times", ({ error, mayPass, logged }) => {
  let lines = 0;
  const count = () => void lines++;
  const log = { debug: count, info: count, warn: count, error: count };
  const outcome = outcomeOf(error, { job, lastedMs: 5, log });
  expect(outcome.mayPass).toBe(mayPass);
  expect(lines).toBe(logged);
  const isTold = error instanceof AppError && error.kind !== "internal";
  expect(outcome.error === error.message).toBe(isTold);
});
