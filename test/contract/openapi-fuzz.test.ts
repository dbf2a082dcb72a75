/**
 * The service against its OpenAPI document: requests generated from the document get documented answers that match
 * their schema, and never a server error. `npm run test:deep` sends many more.
 */
import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, inject, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import {
  openDocument,
  type OpenedDocument,
  type OpenedOperation,
} from "../openapi/openapi-document.ts";
import { requestsOf } from "../openapi/openapi-requests.ts";
import { everyAction } from "./every-action.ts";
import { shopOptions } from "./fixture.ts";
import { type Answer, type FixtureOptions, openFixture } from "./harness.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Requests that the fuzzer sends in all; absent: a few, for the first of the documents. */
    fuzzRequests?: number;
  }
}

interface Fuzzed {
  readonly title: string;
  readonly options: FixtureOptions;
  /** Those of every request. */
  readonly headers: Readonly<Record<string, string>>;
}

const shopEndpoints = Object.entries(shopOptions.endpoints);

/** What a clerk sees of the items: those of one category, and not all of their fields. */
const ofClerks = (endpoint: object): object => {
  const { tableName, viewName, viewQuery, datatablesQuery } = endpoint as Record<string, unknown>;
  const isOfItems = tableName === "items" && !viewName && !viewQuery && !datatablesQuery;
  return {
    ...endpoint,
    access: { clerk: "*" },
    ...(isOfItems && { rowScope: { clerk: { category_id: "c1" } } }),
  };
};

const key = "the key of a clerk";
const auth = {
  apiKeys: [
    { id: "clerk", sha256: createHash("sha256").update(key).digest("hex"), roles: ["clerk"] },
  ],
};

const fuzzed: readonly Fuzzed[] = [
  { title: "every action", options: everyAction, headers: {} },
  {
    title: "a shop",
    options: { ...shopOptions, project: { requests: { unknown: "refuse" }, decimals: "string" } },
    headers: {},
  },
  {
    title: "a shop's clerk",
    options: {
      ...shopOptions,
      endpoints: Object.fromEntries(
        shopEndpoints.map(([name, endpoint]) => [name, ofClerks(endpoint)]),
      ),
      project: { auth },
    },
    headers: { "X-Api-Key": key },
  },
];

/** The same requests in every run, unless `FUZZ_SEED` is set. */
const firstSeed = Number(process.env["FUZZ_SEED"] ?? 7);
const requests = inject("fuzzRequests");
const tried = requests === undefined ? fuzzed.slice(0, 1) : fuzzed;
const requestsOfEach = Math.ceil((requests ?? 60) / tried.length);

test.each(tried)(
  `${requestsOfEach} requests made from the document of $title get answers that it describes`,
  { timeout: 600_000 },
  async ({ options, headers }) => {
    const fixture = await openFixture(options);
    const service: Service = (path, init) =>
      fixture.request(path, { ...init, headers: { ...init.headers, ...headers } });
    const document = openDocument((await service("/openapi.json", {})).body);
    const hints = await valuesInAnswers(service, document);
    const faults: string[] = [];
    for (const [operation, numRuns] of sharesOf(document)) {
      const seed = [...operation.id].reduce(
        (sum, letter) => (sum * 31 + letter.codePointAt(0)!) | 0,
        firstSeed,
      );
      const made = requestsOf(operation, { document, hints });
      const property = fc.asyncProperty(made, async ({ path, ...init }) => {
        const answer = await service(path, init as RequestInit);
        const fault = faultOf(answer, operation, document);
        if (fault !== null)
          throw new Error(`${fault}\n${JSON.stringify(answer.body).slice(0, 600)}`);
      });
      const found = await fc.check(property, { seed, numRuns, endOnFailure: true });
      if (found.failed)
        faults.push(
          `${operation.id}: ${JSON.stringify(found.counterexample)}\n${(found.errorInstance as Error).message}`,
        );
    }
    await fixture.close();
    expect(faults.join("\n\n")).toBe("");
  },
);

type Service = (path: string, init: RequestInit) => Promise<Answer>;

/** Requests of an operation that takes nothing but headers are nearly all the same: it gets a few. */
function sharesOf({ operations }: OpenedDocument): [OpenedOperation, number][] {
  const takesNothing = ({ method, parameters }: OpenedOperation): boolean =>
    method === "GET" && parameters.every((one) => one.in === "header");
  const few = operations.filter(takesNothing);
  const others = operations.length - few.length;
  const numRuns = Math.ceil((requestsOfEach - few.length * requestsOfNothing) / others);
  return operations.map((one) => [
    one,
    few.includes(one) ? requestsOfNothing : Math.max(1, numRuns),
  ]);
}

const requestsOfNothing = 3;

/** Null: the answer is one that the document has for this operation. */
function faultOf(
  { status, headers, body }: Answer,
  { responses }: OpenedOperation,
  document: OpenedDocument,
): string | null {
  const described = responses[status];
  if (!described) return `status ${status} is not described`;
  if (status >= 500) return `status ${status}`;
  if (!headers.has("x-request-id")) return "no X-Request-Id";
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  const { content } = described;
  if (!content) return type === "" ? null : `a body of ${type}, and none is described`;
  const media = content[type];
  if (!media) return `the type ${type} is not described`;
  if (type !== "application/json") return null;
  const fault = document.faultOf(media.schema, body);
  return fault && `not as described: ${fault}`;
}

/** What answers to the document's own examples hold: ids of records, jobs and locks that are there, by name. */
async function valuesInAnswers(
  service: Service,
  { operations }: OpenedDocument,
): Promise<Record<string, Json[]>> {
  const hints: Record<string, Json[]> = {};
  for (const { path, method, requestBody, parameters } of operations) {
    const media = requestBody?.content["application/json"];
    if (method === "POST" && media?.example === undefined) continue;
    const headers = Object.fromEntries(
      parameters.flatMap(({ name, schema }) =>
        schema.const ? [[name, schema.const as string]] : [],
      ),
    );
    const { body } = await service(path, {
      method,
      headers: { ...headers, ...(media && { "Content-Type": "application/json" }) },
      ...(media && { body: JSON.stringify(media.example) }),
    });
    collect(body);
  }
  return hints;

  function collect(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === "string" || typeof member === "number") {
        const known = (hints[name] ??= []);
        if (known.length < 5 && !known.includes(member)) known.push(member);
      } else collect(member);
    }
  }
}
