/**
 * Views of generated expressions: the service shows, finds, adds up and groups the values that SQLite computes. Shown
 * values are compared with stored ones. They can be true, false or a time only where the expression's text says so.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Answer, openFixture, openForTests } from "../contract/harness.ts";

/** `VIEW_SEED=… VIEWS=500` for a long run. */
const seed = Number(process.env["VIEW_SEED"] ?? 27);
const viewCount = Number(process.env["VIEWS"] ?? 40);

/** The forms in which an expression can be shown besides its stored value. */
type Kind = "boolean" | "timestamp" | "plain";
interface Expression {
  readonly text: string;
  readonly kind: Kind;
}

const plain = (text: string): Expression => ({ text, kind: "plain" });
const isTrue = (text: string): Expression => ({ text: `(${text})`, kind: "boolean" });

/** Names that are operators elsewhere. */
const owner = ["i", "r", "s", "n", "j", "match", "end", "nil"] as const;
const child = ["q", "w", "name"] as const;

function expressions(table: "t" | "c"): (depth: number) => fc.Arbitrary<Expression> {
  const names = (table === "t" ? owner : child).map((name) =>
    name === "match" ? name : `${table}.${name}`,
  );
  const leaf = fc.oneof(
    fc.constantFrom(...names).map(plain),
    fc
      .constantFrom("0", "1", "2.5", "-3", "'x'", "'7'", "NULL", "''", "9007199254740993")
      .map(plain),
    ...(table === "t"
      ? [
          fc.constant<Expression>({ text: "t.b", kind: "boolean" }),
          fc.constant<Expression>({ text: "t.at", kind: "timestamp" }),
          fc.constant<Expression>({ text: "datetime(t.at, '+1 day')", kind: "timestamp" }),
          fc
            .constantFrom("date(t.at)", "time(t.at)", "CURRENT_DATE", "strftime('%Y', t.at)")
            .map(plain),
        ]
      : []),
  );
  const of = (depth: number): fc.Arbitrary<Expression> => {
    if (depth === 0) return leaf;
    const one = of(depth - 1);
    const two = fc.tuple(one, one);
    const calls = "abs length upper typeof hex round".split(" ");
    const branches: fc.Arbitrary<Expression>[] = [
      leaf,
      fc
        .tuple(fc.constantFrom("+", "-", "*", "/", "%", "&"), two)
        .map(([mark, [a, b]]) => plain(`${a.text} ${mark} ${b.text}`)),
      two.map(([a, b]) => plain(`${a.text} || ${b.text}`)),
      fc
        .tuple(
          fc.constantFrom("=", "<", ">=", "<>", "IS", "IS NOT", "AND", "OR", "LIKE", "NOT LIKE"),
          two,
        )
        .map(([mark, [a, b]]) => isTrue(`${a.text} ${mark} ${b.text}`)),
      fc.tuple(one, two).map(([a, [b, c]]) => isTrue(`${a.text} BETWEEN ${b.text} AND ${c.text}`)),
      fc
        .tuple(fc.constantFrom("IS NULL", "NOTNULL", "IN (1, 'x', 2.5)", "NOT IN (0)"), one)
        .map(([mark, a]) => isTrue(`${a.text} ${mark}`)),
      one.map((a) => isTrue(`NOT ${a.text}`)),
      one.map((a) => plain(`(${a.text} IN (1, 2)) + 1`)),
      one.map((a) => plain(`-(${a.text})`)),
      fc
        .tuple(fc.constantFrom("INTEGER", "TEXT", "REAL", "NUMERIC", "BLOB"), one)
        .map(([type, a]) => plain(`CAST(${a.text} AS ${type})`)),
      fc.tuple(fc.constantFrom(...calls), one).map(([name, a]) => plain(`${name}(${a.text})`)),
      two.map(([a, b]): Expression => ({
        text: `coalesce(${a.text}, ${b.text})`,
        kind:
          a.kind === b.kind || b.text === "NULL" ? a.kind : a.text === "NULL" ? b.kind : "plain",
      })),
      fc
        .tuple(one, two)
        .map(([a, [b, c]]): Expression => ({
          text: `CASE WHEN ${a.text} THEN ${b.text} ELSE ${c.text} END`,
          kind:
            b.kind === c.kind || c.text === "NULL" ? b.kind : b.text === "NULL" ? c.kind : "plain",
        })),
      fc
        .tuple(one, two)
        .map(([a, [b, c]]): Expression => ({
          text: `CASE ${a.text} WHEN ${b.text} THEN ${c.text} END`,
          kind: c.kind,
        })),
    ];
    if (table === "t") {
      const inner = expressions("c")(depth - 1);
      const where = fc
        .tuple(inner, one)
        .map(([a, b]) => `c.owner = t.id AND (${a.text} = ${b.text} OR c.q > 2)`);
      branches.push(
        fc
          .tuple(fc.constantFrom("COUNT", "SUM", "MIN", "MAX", "AVG", "GROUP_CONCAT"), inner, where)
          .map(([name, a, text]) => plain(`(SELECT ${name}(${a.text}) FROM c WHERE ${text})`)),
        where.map((text) => plain(`(SELECT COUNT(*) FROM c WHERE ${text})`)),
        fc
          .tuple(inner, where)
          .map(([a, text]): Expression => ({
            text: `(SELECT ${a.text} FROM c WHERE ${text} ORDER BY c.id LIMIT 1)`,
            kind: a.kind,
          })),
        where.map((text) => isTrue(`EXISTS (SELECT 1 FROM c WHERE ${text})`)),
        fc
          .tuple(one, where)
          .map(([a, text]) => isTrue(`${a.text} IN (SELECT q FROM c WHERE ${text})`)),
      );
    }
    return fc.oneof(...branches);
  };
  return of;
}

interface View {
  readonly text: string;
  readonly kinds: readonly Kind[];
  /** The expressions, for the report. */
  readonly said: readonly string[];
}

const columnsMax = 5;
const views: fc.Arbitrary<View> = fc
  .tuple(
    fc.array(expressions("t")(3), { minLength: columnsMax, maxLength: columnsMax }),
    fc.array(expressions("c")(2), { minLength: columnsMax, maxLength: columnsMax }),
    fc.constantFrom("plain", "plain", "plain", "union", "nested", "with", "named"),
  )
  .map(([items, others, form]) => {
    const kinds = items.map(({ kind }, at) =>
      form === "union" && others[at]!.kind !== kind ? "plain" : kind,
    );
    const list = (from: readonly Expression[], as: string) =>
      from.map(({ text }, at) => `${text} ${as} v${at}`).join(", ");
    const base = `SELECT t.id AS id, ${list(items, form === "plain" ? "" : "AS")} FROM t`;
    const names = items.map((_, at) => `v${at}`).join(", ");
    const said = items.map(({ text }, at) =>
      form === "union" ? `${text} UNION ALL ${others[at]!.text}` : `${form}: ${text}`,
    );
    if (form === "union")
      return {
        text: `${base} UNION ALL SELECT 'c' || c.id, ${list(others, "AS")} FROM c`,
        kinds,
        said,
      };
    if (form === "nested") return { text: `SELECT id, ${names} FROM (${base})`, kinds, said };
    if (form === "with")
      return { text: `WITH w AS (${base}) SELECT id, ${names} FROM w`, kinds, said };
    return { text: base, kinds, said };
  });

const made = fc.sample(views, { seed, numRuns: viewCount });
const columns = made[0]!.kinds.map((_, at) => `v${at}`);

const fixture = openForTests(openFixture, {
  engine: "sqlite",
  project: { cache: { enabled: false } },
  tables: [],
  setUp: () => [
    `CREATE TABLE t (id TEXT PRIMARY KEY, i INTEGER, r REAL, s TEXT, n DECIMAL(10, 2), j, "match" INTEGER, "end" REAL, b BOOLEAN, at DATETIME, nil TEXT)`,
    "CREATE TABLE c (id INTEGER PRIMARY KEY, owner TEXT, q INTEGER, w REAL, name TEXT)",
    "INSERT INTO t VALUES ('a', 1, 1.5, 'x', 2.25, 7, 4, 2.5, 1, '2026-01-01 10:00:00', NULL), ('b', 0, -2.0, '7', 0, 'j', 0, 1, 0, NULL, NULL), ('d', NULL, 0.1, 'Abc', 1, 1.5, 1, NULL, NULL, '2026-01-02 00:00:00', NULL)",
    "INSERT INTO c VALUES (1, 'a', 1, 0.5, 'x'), (2, 'a', 3, 2.0, 'y'), (3, 'b', 3, NULL, NULL)",
    ...made.map(({ text }, at) => `CREATE VIEW view${at} AS ${text}`),
  ],
  endpoints: Object.fromEntries(
    made.map((_, at) => [
      `view${at}`,
      { viewName: `view${at}`, primaryKey: "id", action: { read: true, aggregate: true } },
    ]),
  ),
});

interface Stored {
  readonly id: string;
  /** For each column: its class, and its value as a text. */
  readonly values: readonly { readonly type: string; readonly text: string | null }[];
}

async function storedRows(view: number): Promise<Stored[]> {
  const list = columns.map(
    (name) =>
      `typeof(${name}) AS t_${name}, CASE typeof(${name}) WHEN 'blob' THEN hex(${name}) WHEN 'real' THEN printf('%!.17g', ${name}) ELSE CAST(${name} AS TEXT) END AS x_${name}`,
  );
  const rows = await fixture.sql(`SELECT id, ${list.join(", ")} FROM view${view} ORDER BY id`);
  return rows.map((row) => ({
    id: String(row["id"]),
    values: columns.map((name) => ({
      type: String(row[`t_${name}`]),
      text: row[`x_${name}`] as string | null,
    })),
  }));
}

/** All forms in which an answer can show it. */
function shownForms({ type, text }: Stored["values"][number], kind: Kind): unknown[] {
  if (text === null) return [null];
  if (type === "blob") return [Buffer.from(text, "hex").toString("base64")];
  if (type === "text") {
    const isTime = kind === "timestamp" && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text);
    return isTime ? [text, `${text.replace(" ", "T")}.000Z`] : [text];
  }
  const number = Number(text);
  const shown = Number.isFinite(number)
    ? type === "integer" && !Number.isSafeInteger(number)
      ? text
      : number + 0
    : null;
  return kind === "boolean" && (number === 0 || number === 1) ? [shown, number === 1] : [shown];
}

const where = (key: string, shown: unknown): object => ({
  limit: 1000,
  where: {
    conditions: [
      shown === null ? { key, operator: "IS NULL" } : { key, operator: "=", value: shown },
    ],
  },
});
/** Where numbers and texts mix, each can be found by the other. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (one !== null &&
    other !== null &&
    one !== "" &&
    other !== "" &&
    typeof one !== typeof other &&
    Number(one) === Number(other));
const idsOf = ({ body }: Answer): string[] =>
  (body.data ?? []).map(({ id }: { id: string }) => id).sort();

async function faultsOf(view: number, isLater: boolean): Promise<string[]> {
  const { kinds, text, said } = made[view]!;
  const stored = await storedRows(view);
  const { status, body } = await fixture.post(`view${view}/read`, {
    limit: 1000,
    sort_columns: [{ column: "id", direction: "ASC" }],
  });
  if (status !== 200) return [`${text}\n  read: ${status} ${JSON.stringify(body)}`];
  const faults: string[] = [];
  const tell = (name: string, what: string) =>
    faults.push(`${said[columns.indexOf(name)]}\n     ${what}`);
  for (const [at, name] of columns.entries()) {
    const shown: unknown[] = body.data.map((row: Record<string, unknown>) => row[name]);
    for (const [row, { id, values }] of stored.entries()) {
      const forms = shownForms(values[at]!, kinds[at]!);
      if (!forms.includes(shown[row]))
        tell(name, `${id} shows ${JSON.stringify(shown[row])} for ${JSON.stringify(values[at])}`);
    }
    for (const value of new Set(shown)) {
      const answer = await fixture.post(`view${view}/read`, where(name, value));
      // A text that came later is none that a column of numbers takes.
      if (
        isLater &&
        answer.status === 400 &&
        typeof value === "number" &&
        shown.some((other) => typeof other === "string")
      )
        continue;
      if (
        isLater &&
        typeof value === "string" &&
        (answer.status === 400 || shown.some((other) => typeof other === "number"))
      )
        continue;
      const found = idsOf(answer);
      const idsWhere = (holds: (other: unknown) => boolean): string[] =>
        stored
          .filter(
            ({ values }, row) => holds(shown[row]) && (value !== null || values[at]!.text === null),
          )
          .map(({ id }) => id);
      const missed = idsWhere((other) => other === value).filter((id) => !found.includes(id));
      const allowed = idsWhere((other) => isSame(other, value));
      if (missed.length > 0 || found.some((id) => !allowed.includes(id)))
        tell(
          name,
          `= ${JSON.stringify(value)} finds ${found} for ${allowed} (${answer.status} ${JSON.stringify(answer.body.errors ?? answer.body.message)})`,
        );
    }
    const all = stored.map(({ values }) => values[at]!);
    const numbers = all.filter(({ type }) => type === "integer" || type === "real");
    const sums = await fixture.post(`view${view}/aggregate`, {
      operations: [
        { function: "sum", field: name, alias: "sum" },
        { function: "max", field: name, alias: "max" },
      ],
    });
    const isNumber =
      numbers.length > 0 &&
      all.every(({ type }) => type === "integer" || type === "real" || type === "null");
    if (sums.status === 200) {
      const total = numbers.reduce((sum, { text: digits }) => sum + Number(digits), 0);
      const got = Number(sums.body.data.sum ?? 0);
      if (
        isNumber &&
        Number.isFinite(total) &&
        Math.abs(got - total) > 1e-9 * Math.max(1, Math.abs(total))
      )
        tell(name, `sum is ${got} for ${total}`);
      const most = Math.max(...numbers.map(({ text: digits }) => Number(digits)));
      if (isNumber && Number.isFinite(most) && Number(sums.body.data.max) !== most)
        tell(name, `max is ${sums.body.data.max} for ${most}`);
    } else if (sums.status !== 400) tell(name, `sum: ${sums.status}`);
    const groups = await fixture.post(`view${view}/aggregate`, {
      group_by: [name],
      operations: [{ function: "count", alias: "n" }],
    });
    if (groups.status === 200) {
      const got = groups.body.data
        .map((row: Record<string, unknown>) => `${JSON.stringify(row[name])} ${row["n"]}`)
        .sort();
      const counts = Map.groupBy(shown, (value) => JSON.stringify(value));
      const expected = [...counts].map(([value, rows]) => `${value} ${rows.length}`).sort();
      if (got.join() !== expected.join()) tell(name, `groups ${got} for ${expected}`);
    } else if (groups.status !== 400)
      tell(name, `groups: ${groups.status} ${JSON.stringify(groups.body)}`);
  }
  return faults;
}

async function allFaults(isLater: boolean): Promise<string[]> {
  const faults: string[] = [];
  for (const [view] of made.entries()) faults.push(...(await faultsOf(view, isLater)));
  return faults;
}

test("computed columns are shown, found, added up and grouped as SQLite computes them", async () => {
  expect(await allFaults(false)).toEqual([]);
}, 600_000);

test("values of another kind that are stored later are so too", async () => {
  await fixture.sql(
    "INSERT INTO t VALUES ('e', 5, 5, 'later', 3.5, NULL, 2, 3.25, 1, '2026-03-01 08:00:00', NULL), ('f', 9007199254740993, 3, NULL, 1, 2, 1, 1, 0, NULL, NULL)",
  );
  await fixture.sql("INSERT INTO c VALUES (4, 'e', 4, 3.25, '1'), (5, 'd', 0, 1, 'z')");
  expect(await allFaults(true)).toEqual([]);
}, 600_000);
