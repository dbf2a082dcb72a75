/**
 * Writes a typed client for one project as a TypeScript file without imports: a type for each schema of the OpenAPI
 * document, and a function for each operation.
 */
import type { OpenApiDocument } from "../../core/openapi/describe.ts";
import { isObject, type Json } from "../../core/values/json.ts";
import { type BatchCode, batchCode, batchRuntime, isBatch } from "./batch-code.ts";
import { clientRuntime } from "./client-runtime.ts";
import {
  type DocumentOperation,
  arrayIn,
  memberOf,
  type OperationBody,
  operationsOf,
  type QueryParameter,
  referenced,
} from "./document-operations.ts";
import { pagedRuntime, recordRuntime, relationsIn } from "./record-code.ts";
import { shareTypes } from "./shared-types.ts";
import { createTypePrinter, jsDoc, memberKey, type PrintType } from "./schema-types.ts";

/** `title`: what the client is for, as `the project demo`. */
export function clientCode(document: OpenApiDocument, title: string): string {
  const schemas = Object.entries(
    (document.components["schemas"] ?? {}) as Readonly<Record<string, Json>>,
  );
  const names = typeNames(schemas.map(([name]) => name));
  const print = createTypePrinter((name) => names.get(name) ?? "unknown");
  const taken = new Set([...reserved, ...names.values()]);
  const printed = schemas.map(([name, schema]) => ({
    name: names.get(name)!,
    text: print(schema),
  }));
  const types = shareTypes(printed, taken).map(
    ({ name, text }) => `export type ${name} = ${text};`,
  );
  const paged = new Set(
    schemas.flatMap(([name, schema]) =>
      memberOf(memberOf(schema, "properties"), "pagination") === undefined ? [] : [name],
    ),
  );
  const errors = createErrorNames(taken);
  const operations = operationsOf(document);
  const groups = Map.groupBy(
    operations.filter((one) => !isBatch(one)),
    ({ group }) => group,
  );
  const relationsOf = (body: Json) => relationsIn(document, body);
  const context = { print, paged, errors: errors.nameOf, relationsOf };
  const members = [...groups].map(([group, operations]) =>
    [`${memberKey(group)}: {`, ...operations.map((one) => functionOf(one, context)), "},"].join(
      "\n",
    ),
  );
  const batch = batchIn(document, operations, { ...context, isTaken: groups.has("batch") });
  const pages = ["Pagination", "CursorPagination"].map((name) => names.get(name) ?? "unknown");
  const code = [
    `/** A typed client for ${title} of Rowgate. Made by \`rowgate client\`: do not edit. */\n`,
    clientRuntime,
    recordRuntime,
    ...(paged.size > 0 ? [pagedRuntime(pages[0]!, pages[1]!)] : []),
    ...(batch ? [batchRuntime] : []),
    indented([...types, ...(batch ? [batch.types] : []), ...errors.types()].join("\n\n")),
    "",
    "export function createClient(client: ClientOptions) {",
    indented(["return {", ...members, ...(batch ? [batch.member] : []), "};"].join("\n"), 1),
    "}",
    "",
    "export type Client = ReturnType<typeof createClient>;",
    "",
  ];
  return code.join("\n");
}

/** Names of the client's own types and of global ones, which schemas cannot use. */
const reserved: ReadonlySet<string> = new Set(
  [
    ...`${clientRuntime}${recordRuntime}${pagedRuntime("", "")}${batchRuntime}`.matchAll(
      /^(?:export )?(?:interface|type|(?:async )?function\*?|const) (\w+)/gm,
    ),
    ...[
      "AbortSignal",
      "BatchActions",
      "Blob",
      "Client",
      "Exclude",
      "Extract",
      "File",
      "FormData",
      "Generator",
      "Headers",
      "Omit",
      "Promise",
      "Readonly",
      "Record",
      "Response",
      "ReturnType",
    ].map((name) => ["", name]),
  ].map(([, name = ""]) => name),
);

/** A different identifier for each schema. */
function typeNames(schemas: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(reserved);
  return new Map(
    schemas.map((schema) => {
      let name = schema.replace(/\W/g, "_").replace(/^(?=\d)/, "_");
      while (taken.has(name)) name += "_";
      taken.add(name);
      return [schema, name];
    }),
  );
}

interface FunctionContext {
  readonly print: PrintType;
  /** Schemas of answers that have pages if the request asks for them. */
  readonly paged: ReadonlySet<string>;
  /** Of a body; null: what its answer shows does not depend on it. */
  readonly relationsOf: (body: Json) => readonly string[] | null;
  /** The type of the names of errors. */
  readonly errors: (names: readonly string[]) => string;
}

function functionOf(operation: DocumentOperation, context: FunctionContext): string {
  const { name, summary, method, path, headers, query, body, answers } = operation;
  const { print } = context;
  const errors = context.errors(operation.errors);
  const sent = [`method: ${JSON.stringify(method)}`, `path: ${JSON.stringify(path)}`];
  const fixed = Object.keys(operation.fixedHeaders).length > 0;
  if (fixed) sent.push(`headers: ${JSON.stringify(operation.fixedHeaders)}`);
  const answer = [...new Set(answers.map(print))].join(" | ");
  const lines = (start: string, ...more: string[]): string =>
    [jsDoc(summary), `${memberKey(name)}: ${start}`, ...more.map((one) => `  ${one}`)].join("\n");
  const [only] = answers;
  const isPaged = only !== undefined && context.paged.has(referenced(only) ?? "");
  const related = body === null ? null : context.relationsOf(plainBody(body));
  if (body?.isRequired && (isPaged || related !== null)) {
    const types = [
      `body: ${print(plainBody(body))}`,
      `answer: ${answer}`,
      `errors: ${errors}`,
      `headers: ${literals(headers)}`,
      `related: ${related === null ? "null" : literals(related)}`,
    ];
    const call = isPaged ? "pagedCall" : "recordCall";
    return lines(`${call}<{ ${types.join("; ")} }>(client, { ${sent.join(", ")} }),`);
  }
  const parameters: string[] = [];
  if (body !== null) {
    const isOptional = !body.isRequired;
    parameters.push(`body${isOptional ? "?" : ""}: ${print(plainBody(body))}`);
    sent.push(body.kind === "file" ? "upload: body" : isOptional ? "body: body ?? {}" : "body");
  } else if (query.length > 0) {
    const isOptional = query.every(({ isRequired }) => !isRequired);
    parameters.push(`query${isOptional ? "?" : ""}: ${queryType(query, print)}`);
    sent.push("query");
  }
  parameters.push(`options?: CallOptions<${literals(headers)}>`);
  const called = answers.length === 0 ? `download<${errors}>` : `call<${answer}, ${errors}>`;
  return lines(
    `(${parameters.join(", ")}) =>`,
    `${called}(client, { ${[...sent, "options"].join(", ")} }),`,
  );
}

/** The part for batches; null: the document has none. */
function batchIn(
  document: OpenApiDocument,
  operations: readonly DocumentOperation[],
  { print, errors, isTaken }: FunctionContext & { readonly isTaken: boolean },
): BatchCode | null {
  const operation = operations.find(isBatch);
  if (operation === undefined) return null;
  const sent = operation.body?.schema ?? {};
  const name = referenced(sent);
  const schemas = document.components["schemas"];
  return batchCode(operation, operations, {
    schema: name === null ? sent : (memberOf(schemas, name) ?? {}),
    bodyOf: ({ body }) => (body === null ? "undefined" : print(plainBody(body))),
    answerOf: ({ answers }) => [...new Set(answers.map(print))].join(" | "),
    errors: errors(operation.errors),
    headers: literals(operation.headers),
    name: isTaken ? "runBatch" : "batch",
  });
}

/** One name for each set of errors. */
function createErrorNames(taken: Set<string>) {
  const names = new Map<string, string>();
  let count = 0;
  function nameOf(errors: readonly string[]): string {
    const text = literals(errors);
    let name = names.get(text);
    while (name === undefined || (taken.has(name) && !names.has(text))) name = `Errors${++count}`;
    names.set(text, name);
    return name;
  }
  const types = (): string[] => [...names].map(([text, name]) => `export type ${name} = ${text};`);
  return { nameOf, types };
}

const literals = (names: readonly string[]): string =>
  names.length === 0 ? "never" : names.map((name) => JSON.stringify(name)).join(" | ");

/** A body can also be wrapped as `{data, options}`, but programs do not need that form. */
function plainBody({ schema }: OperationBody): Json {
  const [first, second, ...more] = arrayIn(memberOf(schema, "anyOf"));
  if (first === undefined || second === undefined || more.length > 0) return schema;
  const wrapper = memberOf(second, "properties");
  const isWrapper =
    referenced(first) !== null && isObject(wrapper) && "data" in wrapper && "options" in wrapper;
  return isWrapper ? first : schema;
}

const queryType = (query: readonly QueryParameter[], print: PrintType): string =>
  print({
    type: "object",
    properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
    required: query.flatMap(({ name, isRequired }) => (isRequired ? [name] : [])),
    additionalProperties: false,
  });

/** Indents a line two spaces deeper than the line of its enclosing bracket; a closing bracket aligns with that line. */
function indented(code: string, depthBefore = 0): string {
  /** The depth of the line of each bracket that is open. */
  const open: number[] = [];
  const lines = code.split("\n").map((line) => {
    const bare = line.replace(/"(?:[^"\\]|\\.)*"|\/\*\*.*\*\/$/g, "");
    const closing = /^[)}\]]*/.exec(bare)![0].length;
    const inner = open.at(-1);
    const depth =
      closing > 0
        ? (open.at(-closing) ?? depthBefore)
        : inner === undefined
          ? depthBefore
          : inner + 1;
    for (const [bracket] of bare.matchAll(/[({[\])}]/g)) {
      if ("({[".includes(bracket)) open.push(depth);
      else open.pop();
    }
    return line === "" ? "" : "  ".repeat(depth) + line;
  });
  return lines.join("\n");
}
