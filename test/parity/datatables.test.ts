/**
 * The grid's extensions on the three engines: each condition on each type of field, with valid and invalid values,
 * gives identical answers, byte for byte.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { checkEnvelope } from "../contract/cases.ts";
import type { Fixture } from "../contract/harness.ts";
import { openShelf } from "../contract/shelf.ts";
import type { EngineName } from "../servers/session.ts";

const engines: readonly EngineName[] = ["sqlite", "postgres", "mysql"];
let shelves: Fixture[] = [];
beforeAll(async () => {
  shelves = await Promise.all(engines.map((engine) => openShelf({ engine })));
});
afterAll(() => Promise.all(shelves.map((shelf) => shelf.close())));

const fields = [
  "part_id",
  "name",
  "note",
  "grade",
  "qty",
  "price",
  "made",
  "seen",
  "opens",
  "ready",
  "token",
  "extra",
];
const values: unknown[] = [
  "a",
  "A",
  "heavy",
  "ÇELIK",
  "5",
  5,
  "7.0",
  "7.",
  "-3",
  "-",
  "0",
  "1e1",
  "99999999999",
  "2026-03-10",
  "2026-03-10 00:00:00",
  "2026-01-10T23:59:59.999Z",
  "9999-12-31",
  "0000-00-00",
  "08:00",
  "true",
  false,
  "00000000-0000-4000-8000-000000000000",
  "",
  null,
  "a ",
  "'",
  "%",
  "\\",
  "ß",
];
const controlValues = [
  "a",
  "HEAVY",
  "5",
  "7.",
  "2026-03-10",
  "2026-01-10T08:00:00.000Z",
  "08:00:00",
  "",
  null,
];
const conditions = ["=", "!=", "<", "<=", ">", ">=", "contains", "!contains", "starts", "!starts"];
const more = ["ends", "!ends", "null", "!null", "between", "!between", "nope"];
const logics = {
  text: ["contains", "notContains", "equal", "notEqual", "starts", "ends", "empty", "notEmpty"],
  num: ["equal", "notEqual", "greater", "greaterOrEqual", "less", "lessOrEqual", "empty"],
  date: ["equal", "notEqual", "greater", "less", "empty", "notEmpty"],
};
const masks = ["", "YYYY-MM-DD", "hh:mm:ss"];
const control = (data: string, columnControl: object) => ({ columns: [{ data, columnControl }] });

test.each(fields.flatMap((field) => [...conditions, ...more].map((one) => ({ field, one }))))(
  "searchBuilder: $field $one",
  async ({ field, one }) => {
    await Promise.all(
      values.map((value) => {
        const criteria = [{ condition: one, origData: field, value: [value, "7"] }];
        return expectAlike("shelf", { searchBuilder: { logic: "AND", criteria } });
      }),
    );
  },
);

test.each(fields)("searchPanes: %s", async (field) => {
  for (const value of values) {
    for (const [cascade, viewTotal] of [
      [true, false],
      [false, true],
      [false, false],
    ]) {
      const options = { searchPanes_options: { cascade, viewTotal }, searchPanesLast: field };
      await expectAlike("panes", { searchPanes: { [field]: [value, "7"] }, ...options });
      await expectAlike("panes", { searchPanes: { [field]: [value] }, ...options });
    }
  }
});

test.each(
  fields.flatMap((field) =>
    Object.entries(logics).flatMap(([type, of]) => of.map((logic) => ({ field, type, logic }))),
  ),
)("columnControl: $field $type $logic", async ({ field, type, logic }) => {
  for (const value of controlValues) {
    for (const mask of type === "date" ? masks : [""])
      await expectAlike("shelf", control(field, { search: { type, logic, value, mask } }));
  }
});

test.each(fields)("columnControl: lists of %s", async (field) => {
  for (const value of values) await expectAlike("lists", control(field, { list: [value, "7"] }));
});

test.each(["clamped", "inline", "nested", "panes", "lists", "shelf"])(
  "settings: %s",
  async (endpoint) => {
    for (const length of [-1, 0, 3, 1001, 1e308]) {
      await expectAlike(endpoint, { length });
      await expectAlike(endpoint, { length, count: "none", start: 4 });
    }
    await expectAlike(endpoint, { searchBy: "nope" });
  },
);

async function expectAlike(endpoint: string, body: object): Promise<void> {
  const answers = await Promise.all(
    shelves.map(async (shelf) => {
      const answer = await shelf.post(`${endpoint}/datatables`, body);
      checkEnvelope(answer);
      expect(answer.status, JSON.stringify({ body, answer: answer.body })).toBeLessThan(500);
      return { status: answer.status, body: { ...answer.body, timestamp: null } };
    }),
  );
  const [sqlite, postgres, mysql] = answers;
  expect({ postgres, mysql }, JSON.stringify(body)).toEqual({ postgres: sqlite, mysql: sqlite });
}
