/**
 * What the database itself says about related records, in SQL of another kind than the product's: a path is a scalar
 * subquery, a condition on many counts nothing and joins nothing, and the list of each record is a query of its own.
 */
import type { EngineName, PlainSession } from "../servers/session.ts";
import {
  type ColumnKind,
  type KnownColumn,
  type KnownTable,
  literal,
  quoteOf,
  type Value,
} from "./known-schemas.ts";

export interface KnownStep {
  readonly endpoint: KnownEndpoint;
  /** Columns before the step and behind it. */
  readonly on: readonly (readonly [left: string, right: string])[];
}

export interface KnownRelation {
  readonly name: string;
  readonly isMany: boolean;
  readonly endpoint: KnownEndpoint;
  readonly steps: readonly KnownStep[];
}

export interface KnownEndpoint {
  readonly name: string;
  readonly table: KnownTable;
  readonly relations: readonly KnownRelation[];
}

/** A column at the end of relations to one. */
export interface Path {
  readonly over: readonly KnownRelation[];
  readonly column: KnownColumn;
}

export type Question =
  | {
      readonly kind: "compare";
      readonly of: Path;
      readonly operator: string;
      readonly values: readonly Value[];
    }
  | {
      readonly kind: "related";
      /** The last one is what is asked about. */
      readonly over: readonly KnownRelation[];
      readonly quantifier: "ANY" | "NONE" | "ALL";
      readonly where: Question | null;
    }
  | { readonly kind: "group"; readonly logic: "AND" | "OR"; readonly members: readonly Question[] };

export interface Sorted {
  readonly of: Path;
  readonly direction: "ASC" | "DESC";
}

/** The records that have these keys in their relation to many. */
export interface OfRecord {
  readonly relation: KnownRelation;
  readonly row: Readonly<Record<string, Value>>;
}

export interface Listed {
  readonly where?: Question | null;
  readonly sort?: readonly Sorted[];
  readonly of?: OfRecord;
}

export type Json = Value | readonly Json[] | { readonly [name: string]: Json };

/** What records are grouped by: a value, or the span, the part or the bin that it lies in. */
export interface Group {
  readonly of: Path;
  readonly span?: Span;
  readonly part?: Part;
  readonly bin?: number;
}
export type Span = "year" | "quarter" | "month" | "week" | "day";
export type Part = "month" | "weekday" | "hour" | "day";

/** `of` null: records. `times`: the sum is that of products. `where`: of those records alone. */
export interface Figure {
  readonly name: "count" | "countDistinct" | "sum" | "avg" | "min" | "max";
  readonly of: Path | null;
  readonly times?: Path;
  readonly where?: Question;
}

export interface Oracle {
  /** The values of the paths, in the order of the list. */
  rows(endpoint: KnownEndpoint, paths: readonly Path[], listed: Listed): Promise<Value[][]>;
  /** The figures of each of these groups, with its values before them; without groups those of all rows. */
  figures(
    endpoint: KnownEndpoint,
    asked: { readonly by: readonly Group[]; readonly figures: readonly Figure[] },
    listed: Listed,
  ): Promise<Value[][]>;
}

export function oracleOf(engine: EngineName, session: PlainSession): Oracle {
  const q = quoteOf(engine);
  const put = literal(engine);
  let aliases = 0;
  const fresh = (): string => `t${++aliases}`;
  const equal = (on: KnownStep["on"], left: string, right: string): string =>
    on.map(([one, other]) => `${left}.${q(one)} = ${right}.${q(other)}`).join(" and ");
  const source = ({ table }: KnownEndpoint, alias: string): string => `${q(table.name)} ${alias}`;

  function valueOf({ over, column }: Path, alias: string): string {
    const [relation, ...rest] = over;
    if (relation === undefined) return `${alias}.${q(column.name)}`;
    const inner = fresh();
    const [step] = relation.steps as [KnownStep];
    return `(select ${valueOf({ over: rest, column }, inner)} from ${source(step.endpoint, inner)} where ${equal(step.on, alias, inner)})`;
  }

  /** Whether there is a record behind the steps for which the condition holds. */
  function exists(
    steps: readonly KnownStep[],
    alias: string,
    holds: (alias: string) => string,
  ): string {
    const [step, ...rest] = steps;
    if (step === undefined) return holds(alias);
    const inner = fresh();
    return `exists (select 1 from ${source(step.endpoint, inner)} where ${equal(step.on, alias, inner)} and ${exists(rest, inner, holds)})`;
  }

  function compared(
    { of, operator, values }: Question & { kind: "compare" },
    alias: string,
  ): string {
    const left = valueOf(of, alias);
    if (operator.startsWith("IS")) return `${left} ${operator}`;
    const [first, second] = values.map(put);
    if (operator.endsWith("BETWEEN")) return `${left} ${operator} ${first} and ${second}`;
    return operator.endsWith("IN")
      ? `${left} ${operator} (${values.map(put).join(", ")})`
      : `${left} ${operator} ${first}`;
  }

  function condition(question: Question, alias: string): string {
    if (question.kind === "compare") return `(${compared(question, alias)})`;
    if (question.kind === "group") {
      const members = question.members.map((member) => condition(member, alias));
      return `(${members.join(` ${question.logic} `)})`;
    }
    const { where, quantifier } = question;
    const steps = question.over.flatMap((relation) => relation.steps);
    const truth = (at: string): string => (where === null ? "1 = 1" : condition(where, at));
    if (quantifier === "ALL")
      return `not ${exists(steps, alias, (at) => `(${truth(at)}) is not true`)}`;
    return `${quantifier === "NONE" ? "not " : ""}${exists(steps, alias, truth)}`;
  }

  function belongs({ relation, row }: OfRecord, alias: string): string {
    const [first, second] = relation.steps as [KnownStep, KnownStep | undefined];
    const link = (at: string): string =>
      first.on.map(([left, right]) => `${at}.${q(right)} = ${put(row[left]!)}`).join(" and ");
    if (second === undefined) return link(alias);
    const between = fresh();
    return `exists (select 1 from ${source(first.endpoint, between)} where ${link(between)} and ${equal(second.on, between, alias)})`;
  }

  const filter = ({ where = null, of }: Listed, alias: string): string =>
    [
      ...(where === null ? [] : [condition(where, alias)]),
      ...(of === undefined ? [] : [belongs(of, alias)]),
      "1 = 1",
    ].join(" and ");

  const text = { sqlite: "text", postgres: "varchar", mysql: "char" }[engine];
  const shown = (kind: ColumnKind, value: string): string =>
    kind === "date" || kind === "timestamp" ? `cast(${value} as ${text})` : value;

  return {
    async rows(endpoint, paths, listed) {
      const alias = fresh();
      const keys = endpoint.table.key.map((column): Sorted => ({
        of: { over: [], column },
        direction: "ASC",
      }));
      const sort = [...(listed.sort ?? []), ...keys].flatMap(({ of, direction }) => [
        `case when ${valueOf(of, alias)} is null then 0 else 1 end ${direction}`,
        `${valueOf(of, alias)} ${direction}`,
      ]);
      const columns = paths.map(
        (path, at) => `${shown(path.column.kind, valueOf(path, alias))} as c${at}`,
      );
      const found = await session.run(
        `select ${columns.join(", ")} from ${source(endpoint, alias)} where ${filter(listed, alias)} order by ${sort.join(", ")}`,
      );
      return found.map((row) => paths.map(({ column }, at) => asJson(column.kind, row[`c${at}`])));
    },

    async figures(endpoint, { by, figures }, listed) {
      const alias = fresh();
      const inner: string[] = [];
      const outer: { sql: string; kind: ColumnKind }[] = [];
      const add = (text: string): string => `v${inner.push(`${text} as v${inner.length}`) - 1}`;
      for (const group of by) {
        const value = add(valueOf(group.of, alias));
        const kind = kindOf(group);
        const isPlain = kind === group.of.column.kind && group.bin === undefined;
        outer.push({ sql: isPlain ? shown(kind, value) : groupSql(engine, group, value), kind });
      }
      for (const { name, of, times, where } of figures) {
        const own = of && valueOf(of, alias);
        const value = own && add(times ? `(${own} * ${valueOf(times, alias)})` : own);
        const meant = where && add(`case when ${condition(where, alias)} then 1 end`);
        const counted = meant ? `case when ${meant} = 1 then ${value ?? 1} end` : (value ?? "*");
        if (name === "count" || of === null) outer.push({ sql: `count(${counted})`, kind: "int" });
        else if (name === "countDistinct")
          outer.push({ sql: `count(distinct ${counted})`, kind: "int" });
        else if (name === "avg")
          outer.push(
            { sql: `sum(${counted})`, kind: "decimal" },
            { sql: `count(${counted})`, kind: "int" },
          );
        else
          outer.push({ sql: shown(of.column.kind, `${name}(${counted})`), kind: of.column.kind });
      }
      const groups = by.map((_, at) => at + 1).join(", ");
      // MariaDB loses values of scalar subqueries when it merges them into groups with a DISTINCT.
      const apart = engine === "mysql" ? " limit 1000000" : "";
      const columns = outer.map(({ sql }, at) => `${sql} as c${at}`).join(", ");
      const found = await session.run(
        `select ${columns} from (select ${["1 as one", ...inner].join(", ")} from ${source(endpoint, alias)} where ${filter(listed, alias)}${apart}) whole${groups && ` group by ${groups}`}`,
      );
      return found.map((row) => {
        const values = outer.map(({ kind }, at) => asJson(kind, row[`c${at}`]));
        for (const [at, { name, of }] of figures.entries()) {
          const place = by.length + at;
          if (name === "avg" && of !== null)
            values.splice(place, 2, average(of.column, values[place]!, values[place + 1]!));
        }
        return values;
      });
    },
  };
}

/** With four digits more than the column has. */
function average({ type }: KnownColumn, sum: Value, count: Value): Value {
  if (sum === null) return null;
  const [, scale = 0] = /,(\d+)/.exec(type) ?? [];
  return Number((Number(sum) / Number(count)).toFixed(4 + Number(scale)));
}

const kindOf = ({ of, span, part, bin }: Group): ColumnKind => {
  if (span) return "text";
  if (part) return "int";
  return bin === undefined ? of.column.kind : "decimal";
};

/** The first day of a span, the number of a part, or the lower bound of a bin. */
function groupSql(engine: EngineName, { span, part, bin }: Group, value: string): string {
  if (bin !== undefined) return `floor(${value} / ${bin}.0) * ${bin}`;
  const [sqlite, postgres, mysql] = span ? spanSql[span] : partSql[part!];
  return { sqlite, postgres, mysql }[engine].replaceAll("?", value);
}

type Sqls = readonly [sqlite: string, postgres: string, mysql: string];

const dayOf = (sql: string): string => `to_char(${sql}, 'YYYY-MM-DD')`;
const spanSql: Readonly<Record<Span, Sqls>> = {
  year: ["strftime('%Y-01-01', ?)", dayOf("date_trunc('year', ?)"), "date_format(?, '%Y-01-01')"],
  quarter: [
    "strftime('%Y-', ?) || printf('%02d-01', (strftime('%m', ?) - 1) / 3 * 3 + 1)",
    dayOf("date_trunc('quarter', ?)"),
    "concat(year(?), '-', lpad(quarter(?) * 3 - 2, 2, '0'), '-01')",
  ],
  month: ["strftime('%Y-%m-01', ?)", dayOf("date_trunc('month', ?)"), "date_format(?, '%Y-%m-01')"],
  week: [
    "date(?, 'weekday 0', '-6 days')",
    dayOf("date_trunc('week', ?)"),
    "cast(date(?) - interval weekday(?) day as char)",
  ],
  day: ["date(?)", dayOf("?"), "cast(date(?) as char)"],
};
const partSql: Readonly<Record<Part, Sqls>> = {
  month: ["cast(strftime('%m', ?) as integer)", "extract(month from ?)", "month(?)"],
  weekday: ["(strftime('%w', ?) + 6) % 7 + 1", "extract(isodow from ?)", "weekday(?) + 1"],
  hour: ["cast(strftime('%H', ?) as integer)", "extract(hour from ?)", "hour(?)"],
  day: ["cast(strftime('%d', ?) as integer)", "extract(day from ?)", "day(?)"],
};

/** A value of a driver as the service answers it. */
function asJson(kind: ColumnKind, value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (kind === "bool") return Boolean(value);
  if (kind === "timestamp") return instantOf(String(value));
  return kind === "text" || kind === "date" ? String(value) : Number(Number(value).toFixed(6));
}

export const instantOf = (stored: string): string => `${stored.replace(" ", "T")}.000Z`;
