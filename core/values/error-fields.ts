/**
 * An error as it is logged: its type, the messages of it and its causes in one line, and a stack if nothing else
 * explains it. Nothing else is logged: drivers and clients attach statements, parameters, keys and commands to their
 * errors.
 */
import { AppError } from "./errors.ts";

export interface ErrorFields {
  readonly type: string;
  /** `outer: inner: innermost`. */
  readonly message: string;
  /** As `ECONNREFUSED`, or the SQLSTATE of a database. */
  readonly code?: string;
  readonly stack?: string;
}

const causesMax = 10;

/** `error`: whatever was thrown. */
export function errorFields(error: unknown): ErrorFields {
  const chain = chainOf(error);
  const code = chain.map(codeOf).find((one) => one !== undefined);
  const isUnknown = (code === undefined || code.startsWith("ERR_")) && !(error instanceof AppError);
  const stacks = chain.flatMap((one) => (one instanceof Error && one.stack) || []);
  return {
    type: error instanceof Error ? error.name : typeof error,
    message: messageOf(chain),
    ...(code !== undefined && { code }),
    ...(isUnknown && stacks.length > 0 && { stack: stacks.join("\ncaused by: ") }),
  };
}

/** The error that another thread described by its fields, which stay the same when it is logged. */
export function errorOfFields({ type, message, code, stack = "" }: ErrorFields): Error {
  const error = Object.assign(new Error(message), code !== undefined && { code });
  error.name = type;
  error.stack = stack;
  return error;
}

function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let one = error; one !== undefined && one !== null && chain.length < causesMax;) {
    chain.push(one);
    one = one instanceof Error ? one.cause : undefined;
  }
  return chain;
}

/** Without the messages that an outer one repeats. */
function messageOf(chain: readonly unknown[]): string {
  const messages: string[] = [];
  for (const one of chain) {
    const message = ownMessage(one);
    if (message !== "" && messages.at(-1)?.includes(message) !== true) messages.push(message);
  }
  return messages.join(": ");
}

function ownMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== "" || !("errors" in error) || !Array.isArray(error.errors))
    return error.message;
  // Node tries all addresses of a host, and the error itself has no message.
  return error.errors.map((one) => ownMessage(one)).join("; ");
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code } = error;
  return typeof code === "string" || typeof code === "number" ? String(code) : undefined;
}
