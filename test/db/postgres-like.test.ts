/**
 * Case-insensitive LIKE on PostgreSQL: two tests in one condition (`db/engines/postgres/like.ts`) find the rows that
 * ILIKE finds in every collation, and the planner estimates as many.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inOrder } from "../../core/lists/order.ts";
import { type Sort, sourceOf } from "../../core/query/statement.ts";
import { type Compiled, createCompiler } from "../../db/statements/compile.ts";
import type { Connection, Engine } from "../../db/engines/engine.ts";
import type { Folding } from "../../db/engines/postgres/like.ts";
import { open } from "../../db/engines/postgres/engine.ts";
import { readFolding } from "../../db/engines/postgres/catalog.ts";
import type { RawRow } from "../../db/statements/dialect.ts";
import { type FreshDatabase, freshDatabase } from "../servers/database.ts";
import { send } from "./send.ts";

const options = { connectionsMax: 2, statementTimeoutMs: 0, decimals: "number" } as const;

let database: FreshDatabase;
let engine: Engine;
let own: Connection;
/** How the database's own collation folds letters beyond ASCII: like the one that comparisons name, or not at all. */
let folding: Folding;

async function openDatabase(locale: string): Promise<void> {
  database = await freshDatabase("postgres", locale);
  engine = await open(database.url, options);
  own = await engine.connect("write");
  folding = (await readFolding(own))!;
}
async function closeDatabase(): Promise<void> {
  await own?.close();
  await database?.drop();
}

const rows = async (text: string, params: readonly unknown[] = []): Promise<RawRow[]> => [
  ...(await send(own, text, params)).rows,
];

/** Letters whose other case is non-ASCII, depends on the language or is longer, and characters special to patterns. */
const texts = [
  "kelvin",
  "KELVIN",
  "\u212Aelvin",
  "Å \u212B å",
  "İstanbul",
  "istanbul",
  "ISPARTA",
  "ısparta",
  "i\u0307stanbul",
  "\u00CDra",
  "\u0128ra",
  "J\u0301an",
  "j\u0307\u0301an",
  "Straße",
  "STRASSE",
  "ΣΊΣΥΦΟΣ",
  "σίσυφος",
  "Müller",
  "MÜLLER",
  "Mu\u0308ller",
  "ǅungla",
  "ﬁsch",
  "FISCH",
  "100%",
  "100 %",
  "a_b",
  "aXb",
  "a\\b",
  "A\\%b",
  "a%b",
  "_",
  "%",
  "\\",
  "",
  " ",
  "line\nbreak",
  "Item 42",
  "item 420",
  "İtem 42",
  "ITEM 421",
  "xItem 42",
  "tab\there",
  "😀 Kiki",
  "kiki 😀",
  "küche",
  "KÜCHE",
  "\u212Aüche",
  "İß",
  "ıß",
  "日本語",
  "日曜",
];
const patterns = [
  "k%",
  "K%",
  "%k%",
  "i%",
  "I%",
  "is%",
  "IS%",
  "%İ%",
  "%ı%",
  "_",
  "__",
  "__s%",
  "_t%",
  "%_%",
  "item 42%",
  "ITEM 42%",
  "%tem 42",
  "%m\\_42%",
  "i\\tem%",
  "\\i%",
  "\\\\i%",
  "\\k%",
  "%\\\\%",
  "100\\%",
  "100\\%%",
  "a\\_b",
  "a_b",
  "a\\\\b",
  "a\\\\\\%b",
  "%\\%%",
  "%",
  "",
  "%%",
  "\\%",
  "\\_",
  "mü%",
  "MÜ%",
  "m_ller",
  "%SS%",
  "%ß%",
  "Σ%",
  "%ς",
  "%σ",
  "j%",
  "j_an",
  "%é%",
  "å%",
  "%å",
  "ﬁ%",
  "%\u0307%",
  "line%",
  "line_break",
  "%\n%",
  "tab\t%",
  "%😀%",
  "kiki%",
  "%ki_%",
  "fi%",
  "%sch",
  "kü%",
  "KÜ_HE",
  "iß%",
  "ß%",
  "σίς%",
  "σίσυφος%",
  "ΣΊΣΥΦΟΣ",
  "日%",
  "日本_",
];
const isAscii = (text: string): boolean => [...text].every((letter) => letter < "\u0080");

/** Whether the pattern begins with a letter by which an index finds the matches in this database. */
function beginsIndexed(pattern: string): boolean {
  if (folding.isCommon) return /^[ a-z0-9åßσ日]/i.test(pattern);
  return (isAscii(pattern) ? /^[ a-z0-9]/i : /^[ a-hjl-z0-9]/i).test(pattern);
}

interface LikeOptions {
  readonly negated?: boolean;
  /** The first rows in the order of the folded index. */
  readonly limit?: number;
}

/** The compiled condition. */
async function likeIn(name: string): Promise<(pattern: string, options?: LikeOptions) => Compiled> {
  const table = (await engine.table({ connection: own, shared: new Map() }, null, name))!;
  const id = table.columns.get("id")!;
  const column = table.columns.get("c")!;
  const compile = createCompiler(engine.dialect);
  return (pattern, { negated = false, limit = null } = {}) => {
    const sorts = [...(limit === null ? [] : [inOrder(column, "foldedOf")]), id];
    return compile({
      kind: "select",
      source: sourceOf(table),
      columns: [id],
      where: { kind: "like", column, pattern, negated, ignoreCase: true, inOrder: limit !== null },
      sort: sorts.map((each): Sort => ({ column: each, direction: "asc" })),
      limit,
      offset: 0,
      lock: false,
    });
  };
}

/** Only an index in the collation of the database is used. */
const withIndex = "default";

describe.each(["C", "C.UTF-8"])("in a database with the letters of %s", (locale) => {
  beforeAll(() => openDatabase(locale));
  afterAll(closeDatabase);

  const names = ["C", "C.utf8", "und-x-icu", "tr-x-icu", "lt-x-icu", withIndex];
  describe.each(names)("in the collation %s", (name) => {
    let like: Awaited<ReturnType<typeof likeIn>>;
    beforeAll(async () => {
      await rows("drop table if exists folded");
      await rows(`create table folded (id serial primary key, c text collate "${name}")`);
      await rows("create index on folded (lower(c) text_pattern_ops)");
      const all = JSON.stringify([...texts, null]);
      await rows("insert into folded (c) select jsonb_array_elements_text($1::text::jsonb)", [all]);
      like = await likeIn("folded");
    });

    test.each([false, true])("finds what ILIKE finds; negated: %s", async (negated) => {
      const not = negated ? "not" : "";
      for (const pattern of patterns) {
        const collation = isAscii(pattern) ? `"${name}"` : folding.collation;
        const condition = `c collate ${collation} ${not} ilike $1::text`;
        const wanted = await rows(`select id from folded where ${condition} order by id`, [
          pattern,
        ]);
        const { text, params } = like(pattern, { negated });
        expect([pattern, await rows(text, params)]).toEqual([pattern, wanted]);
        const usesIndex = name === withIndex && beginsIndexed(pattern);
        expect([pattern, text.includes("~>=~")]).toEqual([pattern, usesIndex]);
        if (negated) continue;
        const sorted = like(pattern, { limit: 1000 });
        const found = await rows(sorted.text, sorted.params);
        expect([pattern, found.map(({ id }) => id).toSorted()]).toEqual([
          pattern,
          wanted.map(({ id }) => id).toSorted(),
        ]);
      }
    });
  });
});

describe("over many rows", () => {
  beforeAll(async () => {
    await openDatabase("C.UTF-8");
    await rows("create table goods (id serial primary key, c text not null)");
    await rows(
      "insert into goods (c) select case when n % 10 = 0 then 'Item ' else 'Thing ' end || n from generate_series(1, 20000) n",
    );
    await rows("analyze goods");
  });
  afterAll(closeDatabase);

  interface Plan {
    readonly "Node Type": string;
    readonly "Plan Rows": number;
    readonly "Relation Name"?: string;
    readonly Filter?: string;
    readonly Plans?: readonly Plan[];
  }
  /** From the last step to the one that reads the table. */
  const stepsOf = async (text: string, params: readonly unknown[]): Promise<readonly Plan[]> => {
    const [row] = await rows(`explain (format json) ${text}`, params);
    const told = row!["QUERY PLAN"] as string | [{ Plan: Plan }];
    const [{ Plan: last }] =
      typeof told === "string" ? (JSON.parse(told) as [{ Plan: Plan }]) : told;
    const steps = [last];
    while (steps.at(-1)!["Relation Name"] === undefined) steps.push(steps.at(-1)!.Plans!.at(-1)!);
    return steps;
  };
  const planOf = async (text: string, params: readonly unknown[]): Promise<Plan> =>
    (await stepsOf(text, params)).at(-1)!;

  test.each(["item%", "%item%", "item 42%", "%nothing%"])(
    "ASCII letters are tested first, and as many rows expected as of ILIKE alone: %s",
    async (pattern) => {
      const { text, params } = (await likeIn("goods"))(pattern);
      const plan = await planOf(text, params);
      const alone = await planOf("select id from goods where c ilike $1::text order by id", [
        pattern,
      ]);
      expect(plan.Filter).toMatch(/CASE.*~~\*/);
      expect(plan["Plan Rows"]).toBeGreaterThanOrEqual(alone["Plan Rows"] * 0.98 - 1);
      expect(plan["Plan Rows"]).toBeLessThanOrEqual(alone["Plan Rows"]);
    },
  );

  test.each(["i%", "item 12%", "item 19990%", "item 1_9%"])(
    "the first rows in the order of an index on the folded text alone are found without the others: %s",
    async (pattern) => {
      await rows("create index if not exists goods_c on goods (lower(c) text_pattern_ops)");
      const { text, params } = (await likeIn("goods"))(pattern, { limit: 20 });
      const steps = await stepsOf(text, params);
      expect(steps.map((step) => step["Node Type"])).toEqual([
        "Limit",
        "Incremental Sort",
        "Index Scan",
      ]);
    },
  );
});
