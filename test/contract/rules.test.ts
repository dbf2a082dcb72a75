/** Each rule of `fieldValidation` over HTTP: an endpoint's file contains it, and it refuses a body. */
import { expect, test } from "vitest";
import { ruleNames } from "../../core/rules/field-rules.ts";
import type { RuleName } from "../../core/rules/rule-definition.ts";
import { type CaseColumn, ruleCases } from "../rules/rule-cases.ts";
import { check, record } from "./cases.ts";
import { openFixture, openForTests } from "./harness.ts";
import type { FixtureType } from "./tables.ts";

const columns: Record<CaseColumn, FixtureType> = {
  text: "text(200)",
  integer: "integer",
  decimal: "decimal(10,2)",
  date: "date",
  json: "json",
};

/** One endpoint for each rule. */
const endpointOf = (name: string): string => `with-${name.toLowerCase()}`;

const endpoints = Object.fromEntries(
  ruleNames.map((name) => {
    const { column, rules } = ruleCases[name];
    const fieldValidation = [{ name: column, constraints: rules }];
    return [
      endpointOf(name),
      { tableName: "things", action: { create: true, update: true, first: true }, fieldValidation },
    ];
  }),
);

const users = { created_by: "text(60)", updated_by: "text(60)" } as const;
const ofUsers = (pattern: string) => [
  { name: "created_by", constraints: { uppercase: true, pattern } },
  { name: "updated_by", constraints: { pattern } },
];

const service = openForTests(openFixture, {
  tables: [
    { name: "things", columns: { thing_id: "key", ...columns, clock: "time" } },
    { name: "acts", columns: { act_id: "key", n: "integer", ...users } },
    {
      name: "act_lines",
      columns: {
        line_id: "key",
        act_id: { type: "text(36)", references: { table: "acts", column: "act_id" } },
        ...users,
      },
    },
  ],
  endpoints: {
    acts: {
      tableName: "acts",
      action: {
        create: true,
        update: true,
        adjust: true,
        "create-composite": true,
        "update-composite": true,
      },
      adjustConfig: { fields: { n: {} } },
      fieldValidation: ofUsers("^[A-Z]{2}$"),
      masterDetail: {
        detailTable: "act_lines",
        foreignKey: "act_id",
        detailConfig: { fieldValidation: ofUsers("^[A-Z]{3}$") },
      },
    },
    ...endpoints,
    timed: {
      tableName: "things",
      action: { create: true },
      fieldValidation: [{ name: "clock", type: "time" }],
    },
    dated: {
      tableName: "things",
      action: { create: true },
      dateTimeFields: { date: { type: "date", format: "dd/MM/yyyy" } },
    },
  },
  project: { cache: { enabled: false } },
});

/** Without a value for the field, where there is nothing to send. */
const create = (name: RuleName, sent: unknown) =>
  service.post(`${endpointOf(name)}/create`, {
    thing_id: null,
    ...(sent !== undefined && { [ruleCases[name].column]: sent }),
  });

test.each(ruleNames)("create stores what the rule takes: %s", async (name) => {
  const { column, taken } = ruleCases[name];
  const answer = await create(name, taken.sent);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  expect(record(answer)[column]).toEqual(taken.shown);
});

const refusing = ruleNames.flatMap((name) => {
  const { column, taken, refused } = ruleCases[name];
  return refused === null ? [] : { name, column, taken, ...refused };
});

test.each(refusing)(
  "create and update refuse what the rule does not take: $name",
  async ({ name, column, taken, sent, message }) => {
    const expected = { status: 400, error: "Validation failed", errors: { [column]: [message] } };
    check(await create(name, sent), expected);
    const { thing_id } = record(await create(name, taken.sent));
    const body = { thing_id, [column]: sent };
    check(await service.post(`${endpointOf(name)}/update`, body), expected);
    const first = { where: { key: "thing_id", value: thing_id } };
    const kept = await service.post(`${endpointOf(name)}/first`, first);
    expect(record(kept)[column]).toEqual(taken.shown);
  },
);

test("a field of the type time takes times of day only", async () => {
  const { clock } = record(await service.post("timed/create", { clock: "23:59" }));
  expect(clock).toBe("23:59:00");
  for (const sent of ["25:00", "-01:00:00", "24:00:00"])
    check(await service.post("timed/create", { clock: sent }), {
      status: 400,
      error: "Validation failed",
      errors: { clock: ["must be a time in the form HH:mm:ss"] },
    });
});

test.each([
  ["31/01/2026", "2026-01-31"],
  ["2026-01-31", "2026-01-31"],
])("a date in the form of dateTimeFields, or in ISO 8601, is stored: %s", async (sent, shown) => {
  const answer = await service.post("dated/create", { thing_id: null, date: sent });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  expect(record(answer)["date"]).toBe(shown);
});

test("a date in the form of dateTimeFields that is no date is refused", async () => {
  check(await service.post("dated/create", { thing_id: null, date: "31/02/2026" }), {
    status: 400,
    error: "Validation failed",
    errors: ["date"],
  });
});

test("rules of created_by and updated_by hold for who a body says it was, and not for defaults", async () => {
  const post = (action: string, body: object) => service.post(`acts/${action}`, body);
  const refused = (...errors: string[]) => ({ status: 400, error: "Validation failed", errors });
  const act = { act_id: "a", n: 1 };
  check(await post("create", { ...act, created_by: "ann" }), refused("created_by"));
  check(await post("create", act), { status: 201, data: { created_by: "Input from API" } });
  const own = record(await post("create", { n: 1, created_by: "bo" }));
  expect(own["created_by"]).toBe("BO");

  const byApi = { status: 200, data: { updated_by: "Update from API" } };
  check(await post("update", { ...act, updated_by: "bo" }), refused("updated_by"));
  check(await post("update", { ...act, n: 2 }), byApi);
  const adjusted = { act_id: "a", adjustments: [{ field: "n", value: 1 }] };
  check(await post("adjust", { ...adjusted, updated_by: "bo" }), refused("updated_by"));
  check(await post("adjust", adjusted), byApi);
});

test("rules of created_by and updated_by of details hold for details", async () => {
  const post = (action: string, acts: object) => service.post(`acts/${action}`, { acts });
  const refused = (...errors: string[]) => ({ status: 400, error: "Validation failed", errors });
  const made = await post("create-composite", { created_by: "bo", act_lines: [{}] });
  expect(record(made)).toMatchObject({ created_by: "BO", act_lines: [{ created_by: "BO" }] });
  const { act_id, act_lines } = made.body.data;
  const [{ line_id }] = act_lines;
  check(
    await post("create-composite", { created_by: "bob", act_lines: [{ created_by: "bo" }] }),
    refused("act_lines[0].created_by", "created_by"),
  );
  const update = [{ line_id, updated_by: "BO" }];
  check(
    await post("update-composite", { act_id, act_lines: { update } }),
    refused("act_lines[0].updated_by"),
  );
});
