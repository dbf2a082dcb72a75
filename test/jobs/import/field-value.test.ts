/** How a cell becomes a field's value, by column type. */
import { expect, test } from "vitest";
import { derivedColumn } from "../../../core/values/types/column.ts";
import { fieldValue } from "../../../jobs/import/row-case.ts";

const words = new Map([
  ["yes", true],
  ["true", true],
  ["1", true],
  ["no", false],
]);

test.each([
  ["a text", "text", "as it stands", " a b ", " a b "],
  ["a text", "text", "with its leading zeros", "007", "007"],
  ["a text", "text", "from a number", 42, "42"],
  ["a text", "text", "from a number with a fraction", 1.5, "1.5"],
  ["a text", "text", "from a large number, in full", 1e21, "1000000000000000000000"],
  ["a text", "text", "from true", true, "TRUE"],
  ["a text", "text", "from a date, in its ISO form", "2026-01-02", "2026-01-02"],
  ["a whole number", "integer", "from a text", " 12 ", "12"],
  ["a whole number", "integer", "as it stands", 12, 12],
  ["a whole number", "integer", "from a word for true", " Yes ", 1],
  ["a whole number", "integer", "from a word for false", "no", 0],
  ["a text", "text", "from a word, as it stands", "yes", "yes"],
  ["a whole number", "integer", "from no number, for the rules to refuse", "x", "x"],
  ["a decimal", "decimal", "as Excel shows it", 0.1 + 0.2, 0.3],
  ["a decimal", "decimal", "with digits too many, for the rules to refuse", 1.234, 1.234],
  ["a decimal", "decimal", "from a text of digits", "12345678901234567.89", "12345678901234567.89"],
  ["a boolean", "boolean", "from a word in any case", " Yes ", true],
  ["a boolean", "boolean", "from another word", "NO", false],
  ["a boolean", "boolean", "from true", true, true],
  ["a boolean", "boolean", "from a number", 1, true],
  ["a boolean", "boolean", "from no such word, for the rules to refuse", "maybe", "maybe"],
  ["a date", "date", "from a date", "2026-01-02", "2026-01-02"],
  ["a date", "date", "from midnight", "2026-01-02T00:00:00.000Z", "2026-01-02"],
  [
    "a date",
    "date",
    "with a time, for the rules to refuse",
    "2026-01-02T03:00:00.000Z",
    "2026-01-02T03:00:00.000Z",
  ],
  ["a date", "date", "from a number, for the rules to refuse", 45_000, 45_000],
  ["a timestamp", "timestamp", "from a date", "2026-01-02", "2026-01-02"],
  ["a uuid", "uuid", "without blanks around", " a ", "a"],
  ["JSON", "json", "from its text", '{"a":[1]}', { a: [1] }],
  ["JSON", "json", "from a plain text", "plain", "plain"],
  ["nothing", "text", "from an empty cell", null, undefined],
  ["nothing", "text", "from an empty text", "", undefined],
  ["nothing", "integer", "from blanks", "  ", undefined],
] as const)("%s (%s) %s", (_, type, __, cell, expected) => {
  expect(fieldValue(derivedColumn("field", type, { scale: 2 }), cell, words)).toEqual(expected);
});
