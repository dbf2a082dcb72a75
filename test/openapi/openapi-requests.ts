/**
 * Requests generated from an OpenAPI document, for property tests: valid ones and nearly valid ones. Uses no code of
 * the service.
 */
import fc from "fast-check";
import type { Json } from "../../core/values/json.ts";
import { bracketed } from "../contract/form-text.ts";
import type { OpenedDocument, OpenedOperation, Parameter } from "./openapi-document.ts";
import { bentOf, type Hints, valuesOf } from "./schema-values.ts";

export interface MadeRequest {
  /** With its query. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface MakeOptions {
  readonly document: OpenedDocument;
  /** Values that answers had, by the name of their member. */
  readonly hints: Hints;
}

export function requestsOf(
  operation: OpenedOperation,
  options: MakeOptions,
): fc.Arbitrary<MadeRequest> {
  const { path, method } = operation;
  return fc
    .tuple(headersOf(operation), queryOf(operation, options), bodyOf(operation, options))
    .map(([headers, query, { type, body }]) => ({
      path: query === "" ? path : `${path}?${query}`,
      method,
      headers: { ...headers, ...(type !== null && { "Content-Type": type }) },
      ...(body !== null && { body }),
    }));
}

const odd: fc.Arbitrary<string> = fc.constantFrom(
  "",
  "x",
  "0",
  "*",
  '"a"',
  "bytes=0-3",
  "bytes=9-1",
  "a b",
);

/** Required ones nearly always, others now and then. */
function headersOf({ parameters }: OpenedOperation): fc.Arbitrary<Record<string, string>> {
  const own = parameters.filter((one) => one.in === "header");
  const members = own.map((one): [string, fc.Arbitrary<string | undefined>] => {
    const right = one.schema.const;
    return [
      one.name,
      right === undefined
        ? fc.option(odd, { nil: undefined, freq: 6 })
        : fc.oneof({ weight: 20, arbitrary: fc.constant(right) }, { weight: 1, arbitrary: odd }),
    ];
  });
  return fc
    .record(Object.fromEntries(members))
    .map(
      (headers) =>
        Object.fromEntries(Object.entries(headers).filter(([, value]) => value)) as Record<
          string,
          string
        >,
    );
}

function queryOf({ parameters }: OpenedOperation, options: MakeOptions): fc.Arbitrary<string> {
  const own = parameters.filter((one) => one.in === "query");
  if (own.length === 0) return fc.constant("");
  const valueOf = ({ schema, name }: Parameter): fc.Arbitrary<Json> => {
    const values = valuesOf(
      { properties: { [name]: options.document.whole(schema) }, type: "object", required: [name] },
      options.hints,
    );
    return fc.oneof(
      { weight: 9, arbitrary: values.map((value) => (value as Record<string, Json>)[name]!) },
      { weight: 1, arbitrary: oddValues },
    );
  };
  const requiredKeys = own.filter(({ required }) => required).map(({ name }) => name);
  const query = fc.record(Object.fromEntries(own.map((one) => [one.name, valueOf(one)])), {
    requiredKeys,
    noNullPrototype: true,
  });
  return query.map((values) => bracketed(values as object));
}

const oddValues = fc.constantFrom<Json>(
  "",
  "-1",
  "no such value",
  "%00",
  ["a", "b"],
  { a: "b" },
  "9".repeat(30),
);

interface MadeBody {
  readonly type: string | null;
  readonly body: string | Uint8Array | null;
}

function bodyOf({ requestBody }: OpenedOperation, options: MakeOptions): fc.Arbitrary<MadeBody> {
  if (!requestBody) return fc.constant({ type: null, body: null });
  const { content } = requestBody;
  if (content["multipart/form-data"]) return uploads;
  const schema = options.document.whole(content["application/json"].schema);
  const json = (value: Json): MadeBody => ({
    type: "application/json",
    body: JSON.stringify(value),
  });
  const form = "application/x-www-form-urlencoded";
  return fc.oneof(
    { weight: 12, arbitrary: valuesOf(schema, options.hints).map(json) },
    { weight: 6, arbitrary: bentOf(schema, options.hints).map(json) },
    ...(content[form]
      ? [
          {
            weight: 5,
            arbitrary: valuesOf(schema, options.hints).map((value): MadeBody => ({
              type: form,
              body: bracketed(value as object),
            })),
          },
        ]
      : []),
    { weight: 1, arbitrary: malformed },
  );
}

const malformed: fc.Arbitrary<MadeBody> = fc.constantFrom(
  { type: "application/json", body: "" },
  { type: "application/json", body: "{" },
  { type: "application/json", body: "[]" },
  { type: "application/json", body: "null" },
  { type: "application/json", body: '{"a":"\\u0000"}' },
  { type: "application/json", body: "[".repeat(100) },
  { type: "text/plain", body: "{}" },
  { type: "application/x-www-form-urlencoded", body: "a[b=1&c]=2" },
  { type: "multipart/form-data; boundary=x", body: "--x--" },
);

/** As bytes: a FormData whose reading is given up leaves rejections in Node. */
const uploads: fc.Arbitrary<MadeBody> = fc
  .record({
    bytes: fc.uint8Array({ maxLength: 64 }),
    name: fc.constantFrom("rows.xlsx", "rows.txt", ""),
    field: fc.constantFrom("file", "file", "other"),
    end: fc.constantFrom("--x--\r\n", "--x--\r\n", "--x--\r\n", ""),
  })
  .map(({ bytes, name, field, end }) => {
    const head = `--x\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n${end}`)]);
    return { type: "multipart/form-data; boundary=x", body };
  });
