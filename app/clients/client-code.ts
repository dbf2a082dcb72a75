/**
 * Writes a typed client for one project as one TypeScript file without imports: a type for each schema of the OpenAPI document,
 * and a function for each operation.
 */
import type { OpenApiDocument } from "../../core/openapi/describe.ts";
import { isObject, type Json } from "../../core/values/json.ts";
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
import { createTypePrinter, jsDoc, memberKey, type PrintType } from "./schema-types.ts";

/** `title`: what the client is for, as `the project demo`. */
export function clientCode(document: OpenApiDocument, title: string): string {
  const schemas = Object.entries(
    (document.components["schemas"] ?? {}) as Readonly<Record<string, Json>>,
  );
  const names = typeNames(schemas.map(([name]) => name));
  const print = createTypePrinter((name) => names.get(name) ?? "unknown");
  const types = schemas.map(
    ([name, schema]) => `export type ${names.get(name)} = ${print(schema)};`,
  );
  const groups = Map.groupBy(operationsOf(document), ({ group }) => group);
  const members = [...groups].map(([group, operations]) =>
    [`${memberKey(group)}: {`, ...operations.map((one) => functionOf(one, print)), "},"].join("\n"),
  );
  const code = [
    `/** A typed client for ${title} of Rowgate. Made by \`rowgate client\`: do not edit. */\n`,
    clientRuntime,
    indented(types.join("\n\n")),
    "",
    "export function createClient(client: ClientOptions) {",
    indented(["return {", ...members, "};"].join("\n"), 1),
    "}",
    "",
    "export type Client = ReturnType<typeof createClient>;",
    "",
  ];
  return code.join("\n");
}

/** Names of the client's own types and of global ones, which no schema may take. */
const reserved: ReadonlySet<string> = new Set(
  [
    ...clientRuntime.matchAll(/^(?:export )?(?:interface|type|(?:async )?function\*?) (\w+)/gm),
    ...["Client", "File", "Record", "Response", "Promise", "FormData", "Blob", "Headers"].map(
      (name) => ["", name],
    ),
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

function functionOf(operation: DocumentOperation, print: PrintType): string {
  const { name, summary, method, path, headers, query, body, answers, errors } = operation;
  const sent = [`method: ${JSON.stringify(method)}`, `path: ${JSON.stringify(path)}`];
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
  if (Object.keys(operation.fixedHeaders).length > 0)
    sent.push(`headers: ${JSON.stringify(operation.fixedHeaders)}`);
  parameters.push(`options?: CallOptions<${literals(headers)}>`);
  const answer = [...new Set(answers.map(print))].join(" | ");
  const called =
    answers.length === 0 ? `download<${literals(errors)}>` : `call<${answer}, ${literals(errors)}>`;
  return [
    jsDoc(summary),
    `${memberKey(name)}: (`,
    ...parameters.map((parameter) => `${parameter},`),
    ") =>",
    `${called}(client, {`,
    `${[...sent, "options"].join(", ")},`,
    "}),",
  ].join("\n");
}

const literals = (names: readonly string[]): string =>
  names.length === 0 ? "never" : names.map((name) => JSON.stringify(name)).join(" | ");

/** A body may also be wrapped as `{data, options}`, which a program has no use for. */
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

/** Indents a line by two spaces more than the line with the bracket that it is in, and a bracket that closes as that line. */
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
