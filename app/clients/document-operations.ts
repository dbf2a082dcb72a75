/** Reads an OpenAPI document of the service into a list of operations, for code and collections that are made of it. */
import type { OpenApiDocument } from "../../core/openapi/describe.ts";
import { camelCase } from "../../core/openapi/naming.ts";
import { isObject, type Json } from "../../core/values/json.ts";

export interface DocumentOperation {
  /** The endpoint. */
  readonly tag: string;
  /** The tag, in camel case: `stockReceipts`. */
  readonly group: string;
  /** The operation without its group: `createComposite`. */
  readonly name: string;
  readonly summary: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Names of request headers that a caller may send. */
  readonly headers: readonly string[];
  /** Headers that every request needs, with their values. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
  readonly query: readonly QueryParameter[];
  readonly body: OperationBody | null;
  /** Schemas of successful answers; empty: the answer is a file. */
  readonly answers: readonly Json[];
  /** Names of the errors that it can answer, as in the member `error`. */
  readonly errors: readonly string[];
}

export interface QueryParameter {
  readonly name: string;
  readonly schema: Json;
  readonly isRequired: boolean;
}

export interface OperationBody {
  /** `file`: multipart, with one file. */
  readonly kind: "json" | "file";
  /** Of a file: the names of the texts beside it. */
  readonly texts: readonly string[];
  readonly schema: Json;
  readonly isRequired: boolean;
  readonly example: Json | undefined;
}

export const memberOf = (value: unknown, name: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? (value[name] as Json) : undefined;

export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** The name of the shared schema that `{"$ref": "#/components/schemas/<name>"}` names; null for anything else. */
export function referenced(schema: unknown): string | null {
  const [, name] = /^#\/components\/schemas\/(.+)$/.exec(textOf(memberOf(schema, "$ref"))) ?? [];
  return name ?? null;
}

/** Those of OData are left out: it has clients of its own. */
export function operationsOf(document: OpenApiDocument): DocumentOperation[] {
  const paths = Object.entries(document.paths).filter(([path]) => !path.startsWith("/odata/"));
  return paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): DocumentOperation => {
      const [tag = ""] = operation.tags;
      const group = camelCase(tag) || "api";
      const { operationId: id } = operation;
      const fixedHeaders: Record<string, string> = {};
      const headers: string[] = [];
      const parameters = operation.parameters.map((one) => resolved(document, one));
      const placed = (place: string): Json[] =>
        parameters.filter((one) => memberOf(one, "in") === place);
      for (const header of placed("header")) {
        const only = memberOf(memberOf(header, "schema"), "const");
        const headerName = textOf(memberOf(header, "name"));
        if (typeof only === "string") fixedHeaders[headerName] = only;
        else headers.push(headerName);
      }
      const isAction = id.length > group.length && id.startsWith(group);
      return {
        tag,
        group,
        name: isAction ? camelCase(id.slice(group.length)) : id,
        summary: operation.summary,
        method: method === "get" ? "GET" : "POST",
        path,
        headers,
        fixedHeaders,
        query: placed("query").map((one) => ({
          name: textOf(memberOf(one, "name")),
          schema: memberOf(one, "schema") ?? {},
          isRequired: memberOf(one, "required") === true,
        })),
        body: operation.requestBody === undefined ? null : bodyOf(document, operation.requestBody),
        ...answersOf(document, operation.responses),
      };
    }),
  );
}

function bodyOf(document: OpenApiDocument, body: unknown): OperationBody | null {
  const content = memberOf(body, "content");
  const json = memberOf(content, "application/json");
  const media = json ?? memberOf(content, "multipart/form-data");
  if (media === undefined) return null;
  const schema = resolved(document, memberOf(media, "schema") ?? {});
  const parts = Object.keys((memberOf(schema, "properties") as object | undefined) ?? {});
  return {
    kind: json === undefined ? "file" : "json",
    texts: json === undefined ? parts.filter((name) => name !== "file") : [],
    schema: memberOf(media, "schema") ?? {},
    isRequired: memberOf(body, "required") === true,
    example: memberOf(media, "example") ?? exampleIn(memberOf(media, "examples")),
  };
}

/** The first of several examples. */
function exampleIn(examples: Json | undefined): Json | undefined {
  const [first] = isObject(examples) ? Object.values(examples) : [];
  return memberOf(first, "value");
}

function answersOf(
  document: OpenApiDocument,
  responses: Readonly<Record<string, Json>>,
): Pick<DocumentOperation, "answers" | "errors"> {
  const all = Object.entries(responses).map(([status, response]) => ({
    isSuccess: status.startsWith("2"),
    schema: memberOf(
      memberOf(memberOf(resolved(document, response), "content"), "application/json"),
      "schema",
    ),
  }));
  const schemas = (isSuccess: boolean): Json[] =>
    all.flatMap((one) =>
      one.isSuccess === isSuccess && one.schema !== undefined ? [one.schema] : [],
    );
  const errors = schemas(false).flatMap((schema) => errorNamesIn(document, schema));
  return { answers: schemas(true), errors: [...new Set(errors)].toSorted() };
}

/** The values that a schema of an error allows for the member `error`. */
function errorNamesIn(document: OpenApiDocument, schema: Json): string[] {
  const whole = resolved(document, schema);
  const own = memberOf(memberOf(whole, "properties"), "error");
  const parts = ["allOf", "anyOf"].flatMap((name) => arrayIn(memberOf(whole, name)));
  return [
    ...[memberOf(own, "const"), ...arrayIn(memberOf(own, "enum"))].map(textOf).filter(Boolean),
    ...parts.flatMap((part) => errorNamesIn(document, part)),
  ];
}

export const arrayIn = (value: unknown): readonly Json[] =>
  Array.isArray(value) ? (value as Json[]) : [];

/** What a reference to `#/components/…` refers to; other values unchanged. */
export function resolved(document: OpenApiDocument, value: Json): Json {
  const reference = memberOf(value, "$ref");
  if (typeof reference !== "string") return value;
  const [, ...path] = reference.split("/");
  const found = path.reduce<unknown>((place, name) => memberOf(place, name), {
    components: document.components,
  });
  return (found ?? {}) as Json;
}
