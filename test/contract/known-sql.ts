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
export type Figure = readonly [name: "count" | "sum" | "min" | "max", of: Path | null];

export interface Oracle {
  /** The values of the paths, in the order of the list. */
  rows(endpoint: KnownEndpoint, paths: readonly Path[], listed: Listed): Promise<Value[][]>;
  /** The figures of each group of these paths, with its values before them; without groups those of all rows. */
  figures(
    endpoint: KnownEndpoint,
    asked: { readonly by: readonly Path[]; readonly figures: readonly Figure[] },
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
      const paths = [...by, ...figures.flatMap(([, of]) => (of === null ? [] : [of]))];
      const inner = paths.map((path, at) => `${valueOf(path, alias)} as v${at}`);
      let next = by.length;
      const kinds = by.map(({ column }) => column.kind);
      const outer = by.map(({ column }, at) => shown(column.kind, `v${at}`));
      for (const [name, of] of figures) {
        const value = of === null ? "*" : `v${next++}`;
        const kind = name === "count" || of === null ? "int" : of.column.kind;
        kinds.push(kind);
        outer.push(shown(kind, `${name}(${value})`));
      }
      const groups = by.map((_, at) => `v${at}`).join(", ");
      const found = await session.run(
        `select ${outer.map((value, at) => `${value} as c${at}`).join(", ")} from (select ${["1 as one", ...inner].join(", ")} from ${source(endpoint, alias)} where ${filter(listed, alias)}) whole${groups && ` group by ${groups}`}`,
      );
      return found.map((row) => kinds.map((kind, at) => asJson(kind, row[`c${at}`])));
    },
  };
}

/** A value of a driver as the service answers it. */
function asJson(kind: ColumnKind, value: unknown): Value {
  if (value === null || value === undefined) return null;
  if (kind === "bool") return Boolean(value);
  if (kind === "timestamp") return instantOf(String(value));
  return kind === "text" || kind === "date" ? String(value) : Number(Number(value).toFixed(6));
}

export const instantOf = (stored: string): string => `${stored.replace(" ", "T")}.000Z`;
