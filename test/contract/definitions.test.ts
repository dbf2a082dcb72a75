/**
 * Each action's definition against its behaviour: it accepts what its input schema accepts, its answers match its
 * answer schema, and it refuses what the schema refuses with an error that the definition lists. Values are generated
 * from the schemas, with a fixed seed per action, so failures can be repeated.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { errorTable } from "../../core/calls/error-table.ts";
import type { Action, Method } from "../../core/calls/action.ts";
import { compileProject } from "../../core/config/compile-project.ts";
import { readConfig } from "../../core/config/reading/read-config.ts";
import type { Entity } from "../../core/plans/entity.ts";
import { isObject, type Json } from "../../core/values/json.ts";
import type { JsonSchema } from "../../core/values/json-schema.ts";
import { openDb } from "../../db/open.ts";
import { takes } from "../openapi/json-schema.ts";
import { bentOf, type Hints, valuesOf } from "../openapi/schema-values.ts";
import { everyAction, possibleActions, storedKeys } from "./every-action.ts";
import { bracketed } from "./form-text.ts";
import { type Answer, openFixture, openForTests } from "./harness.ts";
import { workbookOf } from "./imports.ts";

/**
 * Rules that schemas cannot express: which values of one request go together. `named`: names that the request itself
 * defines. Each rule has its own tests elsewhere.
 */
const settle: Readonly<Record<string, (body: Record<string, Json>) => void>> = {
  // A cursor is what an answer gave.
  read(body) {
    if (typeof body["cursor"] === "string") body["cursor"] = true;
    settleExpand(body);
  },
  first: settleExpand,
  "read-composite": settleExpand,
  // Two members of an answer have different names, and having and sort_columns name them.
  aggregate(body) {
    const seen = new Set<unknown>();
    const isNew = (one: unknown): boolean => !seen.has(one) && seen.add(one) !== null;
    const groups = listIn(body["group_by"]).filter((one, at) => {
      if (!isObject(one)) return isNew(one);
      one["alias"] = `group_${at}`;
      // Digits are limited on both sides of the point.
      if (typeof one["by"] === "number") one["by"] = Math.ceil(one["by"]);
      return isNew(one["alias"]);
    });
    if (groups.length > 0) body["group_by"] = groups;
    const operations = listIn(body["operations"]).filter((one) => {
      const { function: name, field, alias } = one as Record<string, Json>;
      // Only the columns that a request joins can be named there.
      delete (one as Record<string, Json>)["where"];
      if (isObject(one) && "formula" in one) one["formula"] = "1 + 2 / 3";
      return isNew(alias ?? `${String(name)}_${String(field)}`);
    });
    body["operations"] = operations.length > 0 || seen.size > 0 ? operations : null;
    delete body["having"];
    delete body["sort_columns"];
    delete body["per_page"];
    if (typeof body["page"] === "number") body["page"] = 1;
    if (typeof body["time_zone"] === "string") body["time_zone"] = "Europe/Vienna";
    if (operations.length === 0)
      body["operations"] = [{ function: "count", field: "*", alias: "n" }];
  },
  // Each record is named once, and a condition has a member.
  "bulk-create"(body) {
    const records = listIn(body["data"]).slice(0, 3);
    const keys = records.map((record) => isObject(record) && record["kind_id"]);
    body["data"] = records.filter((_, at) => keys.indexOf(keys[at]!) === at);
  },
  "bulk-update": settleBulk,
  "bulk-delete": settleBulk,
  // Which fields a record needs depends on whether it is stored.
  upsert(body) {
    if (Array.isArray(body["data"])) body["data"] = body["data"].slice(0, 1);
    const by = listIn(body["by"]);
    if (new Set(by).size < by.length) delete body["by"];
  },
  // The amount, which must be there, is computed of the price, and no price is divided by no parts.
  "create-composite": makeComputable,
  // A detail is named once in update and delete.
  "update-composite"(body) {
    makeComputable(body);
    for (const header of Object.values(body))
      for (const lists of Object.values(header as object).filter(isObject)) {
        delete lists["delete"];
        if (Array.isArray(lists["update"])) lists["update"] = lists["update"].slice(0, 1);
      }
  },
};

/** A text is a formula, and the second level has options that only its own endpoint describes. */
function settleExpand({ expand }: Record<string, Json>): void {
  for (const options of isObject(expand) ? Object.values(expand) : []) {
    if (!isObject(options)) continue;
    for (const one of listIn(options["operations"] as Json))
      if (isObject(one) && "formula" in one) one["formula"] = "1 + 2 / 3";
    if (isObject(options["expand"])) options["expand"] = Object.keys(options["expand"]);
  }
}

function settleBulk(body: Record<string, Json>): void {
  for (const name of ["data", "keys"])
    if (Array.isArray(body[name])) body[name] = body[name].slice(0, 1);
  delete body["etags"];
  if (isObject(body["where"]))
    body["where"] = { conditions: [{ key: "note", operator: "=", value: "no record has it" }] };
}

function makeComputable(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (isObject(value) && value["price"] === null) delete value["price"];
  if (isObject(value) && Number(value["parts"]) === 0) delete value["parts"];
  Object.values(value).forEach(makeComputable);
}

const listIn = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

/** Kinds of errors that a right request gets where it contradicts what is stored, or what the database checks. */
const refusesRightRequests = [
  "invalidPayload",
  "invalidParameter",
  "invalidField",
  "invalidSelectFields",
  "invalidRequestMode",
  "validationFailed",
  "validationError",
] as const;

/** adjust: the stored value plus the delta can exceed the column's range. */
const dependsOnRow: Readonly<Record<string, readonly string[]>> = {
  adjust: ["Validation failed"],
  upsert: ["Validation failed"],
};

/** There is no upload here, no file, no job with errors or still running, and no change that a generated text names. */
const findsNothing: readonly string[] = [
  "export-cancel",
  "file-download",
  "import-cancel",
  "import-commit",
  "import-errors",
  "import-preview",
  "revert",
];

const engine = inject("engine");
const runs = engine === "sqlite" ? 24 : 8;

const hints: Record<string, Json[]> = { ...storedKeys };

let entities: ReadonlyMap<string, Entity>;
const fixture = openForTests(openFixture, everyAction);
beforeAll(async () => {
  const [project] = readConfig(fixture.files, {}).projects;
  const { url } = project!.database;
  const options = { connectionsMax: 2, statementTimeoutMs: 0, decimals: "number" } as const;
  const db = await openDb(url, options);
  ({ entities } = await compileProject(project!, db.catalog));
  await db.close();
  hints["job_id"] = await startJobs();
});

/** An export and a preview, as targets of the requests. */
async function startJobs(): Promise<string[]> {
  const exported = await fixture.post("kinds/export", { format: "csv" });
  const form = new FormData();
  form.append(
    "file",
    new File(
      [
        await workbookOf([
          ["code", "name"],
          ["x", "y"],
        ]),
      ],
      "rows.xlsx",
    ),
  );
  const upload = await fixture.request("/api/test/parcels/import-upload", {
    method: "POST",
    body: form,
  });
  const preview = await fixture.post("parcels/import-preview", {
    upload_id: upload.body.upload_id,
  });
  return [exported.body.job_id, preview.body.job_id];
}

interface Request {
  readonly entity: Entity;
  readonly method: Method;
  readonly body: Json;
}

async function send(action: Action, { entity, method, body }: Request): Promise<Answer> {
  const path = `/api/test/${entity.name}/${action.name}`;
  const mode = { "X-Request-Mode": method === "GET" ? "dynamic" : "static" };
  if (method === "GET")
    return fixture.request(`${path}?${bracketed(body as object)}`, { headers: mode });
  return fixture.post(`${entity.name}/${action.name}`, body, mode);
}

const isDownload = (answer: Answer): boolean =>
  !(answer.headers.get("content-type") ?? "").includes("json");

/** The answer's own members. */
function membersOf({ body }: Answer, { takesForm: isBare }: Action): unknown {
  if (isBare) return body;
  const { success, timestamp: _, dry_run: _undone, ...own } = body;
  return success === false ? { success, ...own } : own;
}

/** A query has no empty lists and objects, at any depth. */
const isSayable = (body: Json): boolean =>
  Object.values(body as object).every(
    (value) => !isEmpty(value) && (typeof value !== "object" || value === null || isSayable(value)),
  );
const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && bracketed({ value }) === "";

/** The query as received: texts, of which digits count as numbers where the schema requires numbers. */
function asRead(body: Json, { properties = {} }: JsonSchema): object {
  const members = Object.entries(body as object).map(([name, value]) => {
    if (typeof value === "object" && value !== null) return [name, asRead(value, {})];
    const text = value === null ? "" : String(value);
    const isNumber = properties[name]?.type === "integer" && /^-?\d+$/.test(text);
    return [name, isNumber ? Number(text) : text];
  });
  return Object.fromEntries(members);
}

/** Where a text is required, a number counts as its digits. */
const withTexts = (body: Json): Json =>
  JSON.parse(
    JSON.stringify(body, (_name, value) => (typeof value === "number" ? String(value) : value)),
  );

const namesOf = (kinds: Iterable<keyof typeof errorTable>): string[] =>
  [...kinds].map((kind) => errorTable[kind].error);

/** The grid's GET is its POST in an encoding without null; `datatables.test.ts` compares the two. */
const methodsOf = ({ name, methods }: Action): readonly Method[] =>
  name === "datatables" ? ["POST"] : methods;

/** Uploads are no JSON: `import-upload.test.ts` has them. */
const covered = possibleActions.filter(({ takesUpload }) => !takesUpload);
const cases = covered.flatMap((action) =>
  methodsOf(action).map((method) => ({ name: action.name, method, action })),
);

describe.each(cases)("$method $name", ({ name, method, action }) => {
  const bound = () => {
    const found = [...entities.values()].filter(({ enabled }) => enabled.has(name));
    expect(found.length, "endpoints that have the action on").toBeGreaterThan(0);
    return found.map((entity) => {
      const input = action.input({ entity, method });
      expect(input, `${entity.name} has what the action needs`).not.toBeNull();
      return { entity, input: input! };
    });
  };
  const seed = [...name].reduce((sum, letter) => sum * 31 + letter.codePointAt(0)!, 7) % 1_000_000;
  // A template is a workbook that is created anew each time.
  const numRuns = name === "import-template" ? Math.min(runs, 5) : runs;
  const parameters = { numRuns, seed };

  test("takes what its schema takes, and answers as it says", async () => {
    let successes = 0;
    for (const { entity, input } of bound()) {
      const form = action.answer({ entity, method })!;
      const property = fc.asyncProperty(valuesOf(input, hints as Hints), async (value) => {
        const body = structuredClone(value);
        if (isObject(body)) settle[name]?.(body as Record<string, Json>);
        expect(takes(input, body), JSON.stringify(body)).toBe(true);
        const answer = await send(action, { entity, method, body });
        const about = `${JSON.stringify(body)} -> ${JSON.stringify(answer.body)}`;
        if (answer.status >= 400) {
          const refusals = namesOf(refusesRightRequests).filter(
            (error) => !dependsOnRow[name]?.includes(error),
          );
          expect(refusals, about).not.toContain(answer.body.error);
          expect(namesOf(action.errors), about).toContain(answer.body.error);
          expect(answer.status, about).toBeLessThan(500);
          return;
        }
        successes++;
        if ("schema" in form) {
          const others: Readonly<Record<number, JsonSchema>> = form.others ?? {};
          const schema = answer.status === form.status ? form.schema : others[answer.status];
          expect(schema, about).toBeDefined();
          expect(takes(schema!, membersOf(answer, action)), about).toBe(true);
        } else {
          expect(answer.status, about).toBe(form.status);
          expect(isDownload(answer), about).toBe(true);
          expect(form.mediaTypes).toContain(answer.headers.get("content-type"));
        }
      });
      await fc.assert(property, parameters);
    }
    if (!findsNothing.includes(name)) expect(successes).toBeGreaterThan(0);
  });

  test("refuses what its schema refuses, with an error that it names", async () => {
    for (const { entity, input } of bound()) {
      const property = fc.asyncProperty(bentOf(input, hints as Hints), async (body) => {
        if (method === "GET") fc.pre(isSayable(body) && !takes(input, asRead(body, input)));
        fc.pre(!takes(input, withTexts(body)));
        const answer = await send(action, { entity, method, body });
        const about = `${JSON.stringify(body).slice(0, 2000)} -> ${JSON.stringify(answer.body).slice(0, 500)}`;
        // In mode each, single records are refused.
        if (answer.status === 207) return;
        expect(answer.status, about).toBeGreaterThanOrEqual(400);
        expect(answer.status, about).toBeLessThan(500);
        expect(namesOf(action.errors), about).toContain(answer.body.error);
      });
      await fc.assert(property, parameters);
    }
  });
});

test("every action that takes JSON is covered", () => {
  const on = new Set([...entities.values()].flatMap(({ enabled }) => [...enabled]));
  expect(possibleActions.filter(({ name }) => !on.has(name))).toEqual([]);
});

const ignoring = covered.filter(
  ({ mode, headers }) => mode === "writes" && !headers.has("If-Match"),
);

test.each(ignoring)("$name refuses If-Match, which it cannot compare", async ({ name }) => {
  for (const entity of [...entities.values()].filter(({ enabled }) => enabled.has(name))) {
    const answer = await fixture.post(`${entity.name}/${name}`, { data: [] }, { "If-Match": "*" });
    expect([answer.status, answer.body.error]).toEqual([400, "Invalid payload"]);
    expect(answer.body.message).toContain(`${name} takes no If-Match`);
  }
});
