/**
 * Writes a collection of example requests for Postman and Bruno (Postman Collection 2.1): a folder for each endpoint, a
 * request for each action, and variables for the address and the credentials.
 */
import type { OpenApiDocument } from "../../core/openapi/describe.ts";
import { type DocumentOperation, memberOf, operationsOf } from "./document-operations.ts";

/** `name`: of the collection. */
export function postmanCollection(document: OpenApiDocument, name: string): object {
  const schemes = memberOf(document.components, "securitySchemes") ?? {};
  const asksForCredentials = Object.keys(schemes).length > 0;
  const folders = Map.groupBy(operationsOf(document), ({ tag }) => tag);
  return {
    info: { name, schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
    variable: [
      { key: "baseUrl", value: "http://localhost:3000" },
      ...(asksForCredentials ? [{ key: "apiKey", value: "" }] : []),
    ],
    ...(asksForCredentials && { auth: keyAuth }),
    item: [...folders].map(([tag, operations]) => ({ name: tag, item: operations.map(itemOf) })),
  };
}

/** The key is a variable, so that the collection can be shared without it. */
const keyAuth = {
  type: "apikey",
  apikey: [
    { key: "key", value: "X-Api-Key", type: "string" },
    { key: "value", value: "{{apiKey}}", type: "string" },
    { key: "in", value: "header", type: "string" },
  ],
};

function itemOf({
  fixedHeaders,
  name,
  summary,
  method,
  path,
  headers,
  query,
  body,
}: DocumentOperation): object {
  const parameters = query.map((parameter) => ({
    key: parameter.name,
    value: "",
    disabled: !parameter.isRequired,
  }));
  const shown = parameters.filter(({ disabled }) => !disabled).map(({ key }) => `${key}=`);
  return {
    name,
    request: {
      method,
      description: summary,
      header: [
        ...(body?.kind === "json" ? [{ key: "Content-Type", value: "application/json" }] : []),
        ...Object.entries(fixedHeaders).map(([key, value]) => ({ key, value })),
        ...headers.map((key) => ({ key, value: "", disabled: true })),
      ],
      url: {
        raw: `{{baseUrl}}${path}${shown.length > 0 ? `?${shown.join("&")}` : ""}`,
        host: ["{{baseUrl}}"],
        path: path.split("/").slice(1),
        ...(parameters.length > 0 && { query: parameters }),
      },
      ...(body && { body: bodyOf(body) }),
    },
    response: [],
  };
}

function bodyOf({ kind, texts, example = {} }: NonNullable<DocumentOperation["body"]>): object {
  if (kind === "file") {
    const fields = texts.map((key) => ({ key, type: "text", value: "" }));
    return { mode: "formdata", formdata: [...fields, { key: "file", type: "file", src: [] }] };
  }
  const raw = JSON.stringify(example, null, 2);
  return { mode: "raw", raw, options: { raw: { language: "json" } } };
}
