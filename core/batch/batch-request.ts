/**
 * The body of a batch: its steps, checked as far as that is possible without an endpoint. A fault in a step names the
 * step. Members that a batch does not know are always refused: a misspelled `if_match` must not be passed over.
 */
import { closest } from "../values/closest.ts";
import { AppError, invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { asAppError } from "../calls/answer-text.ts";

export interface Step {
  /** From 0. */
  readonly index: number;
  /** Null: no other step can refer to it. */
  readonly id: string | null;
  readonly endpoint: string;
  readonly action: string;
  /** With its references; undefined: none. */
  readonly body: unknown;
  /** As the header If-Match. */
  readonly ifMatch: string | null;
  /** As the header X-Lock-Token. */
  readonly lockToken: string | null;
}

export interface BatchRequest {
  readonly steps: readonly Step[];
  /** Each step is run by itself, beside the others. */
  readonly isIndependent: boolean;
}

export const batchMembers = ["steps", "independent", "dry_run"] as const;
export const stepMembers = ["id", "endpoint", "action", "body", "if_match", "lock_token"] as const;

/** Rejects with Invalid payload. */
export function readBatch(body: unknown, { stepsMax }: { stepsMax: number }): BatchRequest {
  if (!isObject(body)) throw invalidPayload("The payload must be a JSON object");
  const { steps } = body;
  if (!Array.isArray(steps) || steps.length === 0)
    throw invalidPayload("steps must be a list of at least one step");
  if (steps.length > stepsMax)
    throw invalidPayload(
      `steps must have at most ${stepsMax} steps; this batch has ${steps.length}`,
    );
  refuseUnknown(body, batchMembers);
  flag(body, "dry_run");
  const ids = new Set<string>();
  return {
    isIndependent: flag(body, "independent"),
    steps: steps.map((sent: unknown, index) => {
      try {
        const step = readStep(sent, index);
        if (step.id !== null && ids.has(step.id))
          throw invalidPayload(`id must be different in each step; ${quoted(step.id)} comes twice`);
        if (step.id !== null) ids.add(step.id);
        return step;
      } catch (error) {
        const id = isObject(sent) && typeof sent["id"] === "string" ? sent["id"] : null;
        throw inStep({ index, id }, error);
      }
    }),
  };
}

function readStep(sent: unknown, index: number): Step {
  if (!isObject(sent))
    throw invalidPayload("a step must be an object with endpoint, action and body");
  refuseUnknown(sent, stepMembers);
  return {
    index,
    id: text(sent, "id", limits.batchIdLengthMax),
    endpoint: name(sent, "endpoint"),
    action: name(sent, "action"),
    body: Object.hasOwn(sent, "body") ? sent["body"] : undefined,
    ifMatch: text(sent, "if_match"),
    lockToken: text(sent, "lock_token"),
  };
}

function refuseUnknown(sent: Record<string, unknown>, known: readonly string[]): void {
  const unknown = Object.keys(sent).find((one) => !known.includes(one));
  if (unknown === undefined) return;
  const near = closest(unknown, known);
  const hint = near === null ? `known are ${known.join(", ")}` : `did you mean ${quoted(near)}?`;
  throw invalidPayload(`unknown member ${quoted(unknown)}; ${hint}`);
}

const quoted = (value: string): string => JSON.stringify(value.slice(0, 100));

function flag(sent: Record<string, unknown>, member: string): boolean {
  const value = sent[member] ?? false;
  if (typeof value !== "boolean") throw invalidPayload(`${member} must be true or false`);
  return value;
}

function name(sent: Record<string, unknown>, member: string): string {
  const value = text(sent, member);
  if (value === null) throw invalidPayload(`${member} is required`);
  return value;
}

function text(
  sent: Record<string, unknown>,
  member: string,
  lengthMax: number = Infinity,
): string | null {
  const value = sent[member] ?? null;
  if (value === null) return null;
  if (typeof value !== "string" || value === "" || value.length > lengthMax) {
    const length = lengthMax === Infinity ? "" : ` of 1 to ${lengthMax} characters`;
    throw invalidPayload(`${member} must be a text${length}`);
  }
  if (!value.isWellFormed()) throw invalidPayload(`${member} must be well formed Unicode`);
  return value;
}

/** The error, which names the step that it is about. */
export function inStep({ index, id }: Pick<Step, "index" | "id">, error: unknown): AppError {
  const known = asAppError(error);
  if (known.failedStep !== undefined) return known;
  return known.with({ failedStep: { index, id }, cause: known.cause ?? known });
}
