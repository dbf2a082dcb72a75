/** Answers as JSON: in the envelope of a success, or as an error with its public name. */
import { AppError } from "../values/errors.ts";
import { joined, type WrittenJson } from "../values/ready-json.ts";
import type { Answer } from "./answer.ts";
import { errorTable } from "./error-table.ts";

/** The whole text of a successful answer. */
export function answerText(
  { body, rest, isBare }: Pick<Answer, "body" | "rest" | "isBare">,
  timestamp: string,
): WrittenJson {
  const isWhole = rest === undefined || rest === "{}";
  if (isWhole) return JSON.stringify(isBare ? body : { success: true, ...body, timestamp });
  // Both are objects with at least one member: `{"a":1}` and `{"b":2}` become `{"a":1,"b":2}`.
  const before = isBare ? body : { success: true, ...body };
  const start = `${JSON.stringify(before).slice(0, -1)},`;
  const end = isBare ? "}" : `,"timestamp":${JSON.stringify(timestamp)}}`;
  const members = typeof rest === "string" ? rest.slice(1, -1) : rest.subarray(1, -1);
  return joined([start, members, end]);
}

/** What clients see of an error; all that is not an AppError is `internal`. */
export const asAppError = (error: unknown): AppError =>
  error instanceof AppError ? error : new AppError("internal", "", { cause: error });

/** The members of an error's answer besides its time. */
export function errorBody(known: AppError): { error: string; message: string } & object {
  return {
    error: errorTable[known.kind].error,
    message: known.kind === "internal" ? "The request could not be processed" : known.message,
    ...(known.errors && { errors: known.errors }),
    ...(known.details && { details: known.details }),
    ...(known.data && { data: known.data }),
    ...(known.failedStep && { failed_step: known.failedStep }),
  };
}
