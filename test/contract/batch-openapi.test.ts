/** `_batch` in the OpenAPI document: for each caller, and against real requests and answers. */
import { beforeEach, describe, expect, test } from "vitest";
import { openDocument, type OpenedDocument } from "../openapi/openapi-document.ts";
import { openBatched, type Step } from "./batched.ts";
import { check } from "./cases.ts";

const shop = openBatched();
beforeEach(() => shop.empty());

async function documentOf(): Promise<OpenedDocument> {
  const { status, body } = await shop.fixture.request("/api/test/openapi.json");
  expect(status).toBe(200);
  return openDocument(body);
}
const create: Step = { id: "a", endpoint: "customers", action: "create", body: { name: "a" } };

describe("the operation of _batch", () => {
  test("has its path, its headers, and a step for each endpoint", async () => {
    const document = await documentOf();
    const { path, method, parameters, requestBody } = document.operation("batch");
    expect([path, method]).toEqual(["/api/test/_batch", "POST"]);
    expect(parameters.map(({ name }) => name)).toEqual([
      "Idempotency-Key",
      "Prefer",
      "X-Request-Id",
    ]);
    const { properties } = document.whole(requestBody.content["application/json"].schema);
    expect(properties!["steps"]).toMatchObject({ minItems: 1, maxItems: 20 });
    const steps = properties!["steps"]!.items!.anyOf!.map(({ properties: of }) => [
      of!["endpoint"]!.const,
      of!["action"]!.enum,
    ]);
    expect(steps).toContainEqual(["journal", ["create", "read"]]);
    const [, actions] = steps.find(([endpoint]) => endpoint === "customers")!;
    expect(actions).not.toContain("datatables");
    expect(actions).not.toContain("lock/acquire");
    expect(actions).toContain("restore");
  });

  test.each<[string, object, boolean]>([
    ["a batch", { steps: [create] }, true],
    ["a dry run", { steps: [create], dry_run: true }, true],
    [
      "reads",
      { steps: [{ endpoint: "customers", action: "read", body: { page: 1 } }], independent: true },
      true,
    ],
    ["a null id", { steps: [{ ...create, id: null }] }, true],
    ["no steps", { steps: [] }, false],
    ["a grid", { steps: [{ ...create, action: "datatables" }] }, false],
    ["an unknown endpoint", { steps: [{ ...create, endpoint: "x" }] }, false],
    ["an unknown member", { steps: [create], more: 1 }, false],
    ["an unknown member of a step", { steps: [{ ...create, more: 1 }] }, false],
    ["an id that is a number", { steps: [{ ...create, id: 1 }] }, false],
  ])("accepts %s like the service", async (_name, body, isRight) => {
    const document = await documentOf();
    const { requestBody, responses } = document.operation("batch");
    const fault = document.faultOf(requestBody.content["application/json"].schema, body);
    const answer = await shop.post("_batch", body);
    expect({ isRight: fault === null, isAnswered: answer.status === 200 }, fault ?? "").toEqual({
      isRight,
      isAnswered: isRight,
    });
    const { schema } = responses[String(answer.status)].content["application/json"];
    expect(document.faultOf(schema, answer.body)).toBeNull();
  });

  test("has examples that match its schemas", async () => {
    const document = await documentOf();
    const { requestBody, responses } = document.operation("batch");
    const request = requestBody.content["application/json"];
    expect(document.faultOf(request.schema, request.example)).toBeNull();
    for (const { content } of Object.values(responses)) {
      const { schema, example, examples = {} } = content["application/json"];
      const all = [
        example,
        ...Object.values(examples as Record<string, { value: unknown }>).map(({ value }) => value),
      ];
      for (const one of all)
        if (one !== undefined) expect(document.faultOf(schema, one)).toBeNull();
    }
  });

  test("describes the answer to a step that fails", async () => {
    const document = await documentOf();
    const answer = await shop.batch([create, { ...create, id: "b" }]);
    check(answer, { status: 409, error: "Duplicate entry" });
    const { schema } = document.operation("batch").responses["409"].content["application/json"];
    expect(document.faultOf(schema, answer.body)).toBeNull();
  });
});
