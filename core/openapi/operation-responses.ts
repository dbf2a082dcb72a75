/** The responses of an operation: its success, as JSON or as a file, and each possible error. */
import type { ErrorKind } from "../values/errors.ts";
import { errorTable } from "../calls/error-table.ts";
import type { Action } from "../calls/action.ts";
import type { FileForm, JsonForm } from "../calls/answer.ts";
import type { Json } from "../values/json.ts";
import type { DocumentParts } from "./document-parts.ts";
import type { DraftOperation, OperationPlace } from "./draft-operation.ts";
import { answeredSchema } from "./envelopes.ts";
import { errorSchemaOf, failureExamples, failuresOf } from "./failures.ts";
import type { AnswerHeader } from "./headers.ts";
import { pascalCase } from "./naming.ts";
import { exampleOf } from "./schema-example.ts";
import { isLimited } from "./traits.ts";

/** By status. `name`: begins the name of the answer's schema. */
export function responsesOf(
  draft: DraftOperation,
  place: OperationPlace,
  name: string,
): Record<string, Json> {
  const { action, method, answer, entity } = draft;
  const { traits, parts, printer } = place;
  const hasCredentials = traits.credentials !== null;
  const isCounted = isLimited(traits, action.name);
  const always: readonly AnswerHeader[] = [
    "X-Request-Id",
    ...(isCounted ? (["RateLimit-Policy", "RateLimit"] as const) : []),
  ];
  const successes =
    "schema" in answer
      ? jsonResponses(draft, { answer, place, name, always })
      : fileResponses(answer, always, parts);
  const failures = failuresOf({ action, method, entity, hasCredentials, isCounted });
  const failing = {
    action,
    printSchema: () => printer.print(errorSchemaOf(action)),
    always,
    parts,
    isOwn: Object.keys(action.besideErrors(undefined)).length > 0,
  };
  return { ...successes, ...failureResponses(failures, failing) };
}

/** By status. */
export function failureResponses(
  failures: ReadonlyMap<number, readonly ErrorKind[]>,
  { isOwn, printSchema, ...failing }: Failing,
): Record<string, Json> {
  const { action, always, parts } = failing;
  return Object.fromEntries(
    [...failures].map(([status, kinds]) => {
      const isNamedByAction = kinds.length > 1 || isOwn;
      const name = isNamedByAction ? `${pascalCase(action.name)}${status}` : nameOfKind(kinds[0]!);
      const build = (): Json => failureResponse(kinds, { ...failing, schema: printSchema() });
      return [status, parts.addResponse(name, [...kinds, ...always].join(" "), build)];
    }),
  );
}

const nameOfKind = (kind: ErrorKind): string => kind.slice(0, 1).toUpperCase() + kind.slice(1);

interface JsonResponse {
  readonly answer: JsonForm;
  readonly place: OperationPlace;
  readonly name: string;
  readonly always: readonly AnswerHeader[];
}

/** By status. */
function jsonResponses(draft: DraftOperation, response: JsonResponse): Record<string, Json> {
  const { answer, name } = response;
  const others = Object.entries(answer.others ?? {}).map(([status, schema]) => {
    const other = { ...answer, status: Number(status) as 200 | 207, schema };
    return [status, jsonResponse(draft, { ...response, answer: other, name: name + status })];
  });
  return { [answer.status]: jsonResponse(draft, response), ...Object.fromEntries(others) };
}

function jsonResponse(
  { action, method, entity }: DraftOperation,
  { answer, place: { printer, parts }, name, always }: JsonResponse,
): Json {
  const whole = answeredSchema(answer, action);
  const isSearch = method === "GET" && action.methods.length > 1;
  const schema = printer.printAs(whole, `${name}${isSearch ? "Search" : ""}Answer`);
  const example = exampleOf(whole);
  const own: AnswerHeader[] = [
    ...(answer.hasEtag ? (["ETag"] as const) : []),
    ...(action.headers.has("Idempotency-Key") ? (["Idempotency-Replayed"] as const) : []),
    ...(action.headers.has("Prefer") ? (["Preference-Applied"] as const) : []),
    ...(action.answersCsv ? (["X-Next-Cursor"] as const) : []),
  ];
  const response: Json = {
    description: descriptions[answer.status],
    headers: parts.headers([...always, ...own]),
    content: {
      "application/json": {
        schema: action.showsErrorsInline(entity)
          ? { type: "object", anyOf: [schema, printer.print(errorSchemaOf(action))] }
          : schema,
        ...(example !== undefined && { example }),
      },
      ...(action.answersCsv && { "text/csv": { schema: { type: "string" } } }),
    },
  };
  // No part of it is specific to the endpoint.
  if (!printer.isShared(whole)) return response;
  return parts.addResponse(
    `${pascalCase(action.name)}Answer`,
    JSON.stringify(response),
    () => response,
  );
}

const descriptions = {
  200: "The answer.",
  201: "It was stored.",
  207: "Some records were refused.",
} as const;

/** The whole file, a part of it, or an error for a part that it does not have. */
function fileResponses(
  { mediaTypes, hasEtag = false }: FileForm,
  always: readonly AnswerHeader[],
  parts: DocumentParts,
): Record<string, Json> {
  // Only by the type, as readers look it up: without the charset that the header has.
  const content = Object.fromEntries(
    mediaTypes.map((type) => [
      type.replace(/;.*/, ""),
      { schema: { type: "string", format: "binary" } },
    ]),
  );
  const headers = (...own: AnswerHeader[]): Json =>
    parts.headers([
      ...always,
      "Content-Disposition",
      "Accept-Ranges",
      ...(hasEtag ? (["ETag"] as const) : []),
      ...own,
    ]);
  const ranged = headers("Content-Range");
  const responses: Record<string, Json> = {
    200: { description: "The file.", headers: headers(), content },
    206: { description: "The part that Range asks for.", headers: ranged, content },
    ...(hasEtag && {
      304: { description: "The client has the file already.", headers: headers() },
    }),
    416: { description: "The file has no such part.", headers: ranged },
  };
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      parts.addResponse(`File${status}`, JSON.stringify(response), () => response),
    ]),
  );
}

interface Failing {
  readonly action: Action;
  readonly always: readonly AnswerHeader[];
  readonly parts: DocumentParts;
  /** Of every error of the action. */
  readonly printSchema: () => Json;
  /** Whether that is a schema of the action's own. */
  readonly isOwn: boolean;
}

interface FailureParts extends Pick<Failing, "action" | "always" | "parts"> {
  readonly schema: Json;
}

function failureResponse(
  kinds: readonly ErrorKind[],
  { action, schema, always, parts }: FailureParts,
): Json {
  const names = [...new Set(kinds.map((kind) => errorTable[kind].error))];
  const own = kinds.flatMap((kind) => headersOf[kind] ?? []);
  return {
    description: names.join(", "),
    headers: parts.headers([...always, ...new Set(own)]),
    content: {
      "application/json": {
        schema: {
          type: "object",
          allOf: [schema, { type: "object", properties: { error: { enum: names } } }],
        },
        examples: failureExamples(kinds, action.besideErrors(undefined)),
      },
    },
  };
}

const headersOf: Readonly<Partial<Record<ErrorKind, readonly AnswerHeader[]>>> = {
  unauthorized: ["WWW-Authenticate"],
  requestInProgress: ["Retry-After"],
  tooManyRequests: ["Retry-After"],
  unavailable: ["Retry-After"],
};
