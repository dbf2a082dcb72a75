/**
 * The service against its own document: requests made from the document alone get answers that it names, of the form that it
 * says, and none of them is a failure of the service. `npm run test:deep` sends many more of them.
 */
import fc from "fast-check";
import { expect, inject, test } from "vitest";
import type { Json } from "../../core/values/json.ts";
import { openDocument, type OpenedDocument, type OpenedOperation } from "../openapi-document.ts";
import { type MadeRequest, requestsOf } from "../openapi-requests.ts";
import { everyAction } from "./every-action.ts";
import { type Answer, type Fixture, openFixture } from "./harness.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Requests that the fuzzer sends in all; absent: a few. */
    fuzzRequests?: number;
  }
}

const requests = inject("fuzzRequests") ?? 500;

test(
  `${requests} requests made from the document get answers that it describes`,
  { timeout: 120_000 },
  async () => {
    const fixture = await openFixture(everyAction);
    const document = openDocument((await fixture.request("/openapi.json")).body);
    const hints = await valuesInAnswers(fixture, document);
    const numRuns = Math.ceil(requests / document.operations.length);
    const faults: string[] = [];
    let sent = 0;
    for (const operation of document.operations) {
      const seed = [...operation.id].reduce(
        (sum, letter) => (sum * 31 + letter.codePointAt(0)!) | 0,
        7,
      );
      const property = fc.asyncProperty(
        requestsOf(operation, { document, hints }),
        async (request) => {
          sent++;
          const answer = await send(fixture, request);
          const fault = faultOf(answer, operation, document);
          if (fault !== null)
            throw new Error(`${fault}\n${JSON.stringify(answer.body).slice(0, 600)}`);
        },
      );
      const found = await fc.check(property, { seed, numRuns });
      if (found.failed)
        faults.push(
          `${operation.id}: ${JSON.stringify(found.counterexample)}\n${(found.errorInstance as Error).message}`,
        );
    }
    await fixture.close();
    expect(faults.join("\n\n")).toBe("");
    expect(sent).toBeGreaterThanOrEqual(requests);
  },
);

function send(fixture: Fixture, { path, ...init }: MadeRequest): Promise<Answer> {
  return fixture.request(path, init as RequestInit);
}

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
  fixture: Fixture,
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
    const { body } = await fixture.request(path, {
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
