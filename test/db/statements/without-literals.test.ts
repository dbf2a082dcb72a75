/** SQL from others, as logs and traces show it. */
import { expect, test } from "vitest";
import { withoutLiterals } from "../../../db/connections/sender.ts";

const named = { quote: '"' } as const;
const ticked = { quote: "`" } as const;

test.each([
  ["select a from t where b = 'secret'", "select a from t where b = ?"],
  ["select 'it''s secret', c1, t2.d", "select ?, c1, t2.d"],
  [
    "select a from t where b in (1, 2.50, 1e9) limit 10",
    "select a from t where b in (?, ?, ?) limit ?",
  ],
  ["select $1, :name, ? from t", "select $1, :name, ? from t"],
  ["select $$secret$$, $tag$it's secret$tag$", "select ?, ?"],
  ["select a -- secret\n, b /* secret */ from t", "select a  \n, b   from t"],
  ["select 'never ends: secret", "select ?"],
  ["select E'a\\' secret' from t", "select E…"],
  ["select a /* never ends: secret", "select a  "],
])("%s is shown without its literals", (text, shown) => {
  expect(withoutLiterals(text, named)).toBe(shown);
});

test("quoted names stay, and what is no name to the engine does not", () => {
  const text = 'select "a", `b`';
  expect(withoutLiterals(text, named)).toBe('select "a", `b`');
  expect(withoutLiterals(text, ticked)).toBe("select ?, `b`");
});
