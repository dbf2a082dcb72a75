/**
 * Prints a statement as SQL for one engine, through Drizzle's `sql`. Names come only from columns and tables, and every
 * value is a parameter. Called by `compile.ts`, once per shape of statement.
 */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column, Source } from "../../core/values/column.ts";
import { AppError } from "../../core/values/errors.ts";
import type {
  Aggregate,
  Ask,
  Assignment,
  Calculate,
  Condition,
  Count,
  Delete,
  Estimate,
  Insert,
  Join,
  Select,
  Sort,
  UpdateMany,
  UpdateOne,
} from "../../core/query/statement.ts";
import type { Scalar } from "../../core/values/scalar.ts";
import { mustNarrow } from "./must-narrow.ts";
import { bareQuery, from, tableName } from "./source.ts";
import type { Dialect } from "./dialect.ts";
import {
  deltaOf,
  isAscii,
  isFirstRow,
  literalPattern,
  paddedCount,
  type Printable,
  type Shape,
} from "./shape.ts";

/** A text with what it takes to run it with other values. */
export interface Printed {
  readonly text: string;
  /** For each parameter of the text, the place of its value in the shape's walk. */
  readonly order: readonly number[];
}

/** Rejects what `createCompiler` says. */
export function print(dialect: Dialect, statement: Printable, shape: Shape): Printed {
  // Before anything is printed: a hundred thousand values take seconds.
  if (shape.values.length > dialect.paramsMax) throw tooManyValues();
  const printer = createPrinter(dialect, shape);
  const { sql: text, params } = printer.statement(statement).toQuery(renderConfig(dialect));
  const order = params.map((slot) => (slot as Slot).place);
  if (printer.placesUsed() !== shape.values.length) {
    throw new Error("The statement's shape and its text disagree");
  }
  if (order.length > dialect.paramsMax) throw tooManyValues();
  return { text, order };
}

const tooManyValues = (): AppError =>
  new AppError("invalidPayload", "The request holds too many values");

/** The query with a null of the parameter's type in each place, to be described and not to be run. */
export function describable(dialect: Dialect, texts: readonly string[], parameter: Column): string {
  const nothing = dialect.param(parameter, sql.raw("null")).toQuery(renderConfig(dialect)).sql;
  return bareQuery(texts.join(nothing));
}

/** One value's place in the printed statement. Drizzle hands these objects back in the order of the text. */
class Slot {
  readonly place: number;
  constructor(place: number) {
    this.place = place;
  }
}

function renderConfig({ quote, placeholder }: Dialect): Parameters<SQL["toQuery"]>[0] {
  return {
    // Only for Drizzle's own Column objects, which are never used here.
    casing: undefined as never,
    escapeName: (name) => {
      if (name.includes("\0")) throw new Error("A name holds a NUL character");
      return quote + name.replaceAll(quote, quote + quote) + quote;
    },
    escapeParam: placeholder,
    escapeString: () => {
      throw new Error("Values are parameters");
    },
  };
}

/** The functions that print one statement; they take the places of its values in turn. */
function createPrinter(dialect: Dialect, shape: Shape) {
  let place = 0;
  /** How columns are named: with the source's alias in a SELECT, where an output alias could be meant otherwise. */
  let qualifier: SQL = sql.empty();
  /** Columns that are not the source's own, with the alias of the table that has them. */
  const aliases = new Map<Column, SQL>();

  function nameOf(column: Column): SQL {
    const { parts, markOf } = column;
    if (markOf !== undefined) return dialect.marks.term(markOf, nameOf(markOf));
    return parts
      ? dialect.concat(parts.map((part) => (typeof part === "string" ? part : textOf(part))))
      : sql`${aliases.get(column) ?? qualifier}${sql.identifier(column.name)}`;
  }

  const textOf = (column: Column): SQL => dialect.textOf(column, nameOf(column)) ?? nameOf(column);

  /** The next value's placeholder. `column` and `value` show that both walks are at the same place. */
  function slot(column: Column | null, value: Scalar): SQL {
    if (shape.columns[place] !== column || !Object.is(shape.values[place], value)) {
      throw new Error("The statement's shape and its text disagree");
    }
    const placeholder = sql`${sql.param(new Slot(place++))}`;
    if (column === null) return placeholder;
    return column.markOf === undefined
      ? dialect.param(column, placeholder)
      : dialect.marks.param(column.markOf, placeholder);
  }

  const comparand = (column: Column, term: SQL, name: SQL): SQL =>
    column.markOf === undefined ? (dialect.comparand?.(column, term, name) ?? term) : term;

  function where(condition: Condition): SQL {
    switch (condition.kind) {
      case "and":
      case "or": {
        if (condition.members.length === 0)
          return condition.kind === "and" ? sql`1 = 1` : sql`1 = 0`;
        const joint = condition.kind === "and" ? sql` and ` : sql` or `;
        return sql`(${sql.join(condition.members.map(where), joint)})`;
      }
      case "null":
        return condition.negated
          ? sql`${nameOf(condition.column)} is not null`
          : sql`${nameOf(condition.column)} is null`;
      case "like":
        return like(condition.column, condition.pattern, condition.negated, condition.ignoreCase);
      case "contains":
        return like(condition.column, literalPattern(condition.text), false, true);
      default:
        return compare(condition);
    }
  }

  function compare(condition: Extract<Condition, { kind: "compare" | "in" | "between" }>): SQL {
    const { column } = condition;
    const name = nameOf(column);
    const left = comparand(column, name, name);
    const right = (value: Scalar): SQL => comparand(column, slot(column, value), name);
    if (condition.kind === "compare") {
      const operator = sql.raw(condition.operator === "!=" ? "<>" : condition.operator);
      return sql`${left} ${operator} ${right(condition.value)}`;
    }
    if (condition.kind === "between") {
      const low = right(condition.low);
      const high = right(condition.high);
      return sql`${left} ${condition.negated ? sql`not between` : sql`between`} ${low} and ${high}`;
    }
    const { values, negated } = condition;
    if (values.length === 0) return negated ? sql`${name} is not null` : sql`1 = 0`;
    const list = Array.from({ length: paddedCount(values.length) }, (_, at) =>
      right(values[Math.min(at, values.length - 1)]!),
    );
    return sql`${left} ${negated ? sql`not in` : sql`in`} (${sql.join(list, sql`, `)})`;
  }

  function like(column: Column, pattern: string, negated: boolean, ignoreCase: boolean): SQL {
    const placeholder = slot(null, pattern);
    const text = dialect.textOf(column, nameOf(column));
    if (text === null) return sql`1 = 0`;
    const matches = dialect.like(text, placeholder, {
      column,
      ignoreCase,
      ascii: isAscii(pattern),
    });
    return negated ? sql`not (${matches})` : sql`(${matches})`;
  }

  function assignment(change: Assignment): SQL {
    const { column } = change;
    const name = nameOf(column);
    switch (change.kind) {
      case "set":
        return sql`${name} = ${slot(column, change.value)}`;
      case "add":
        return sql`${name} = ${dialect.add(column, name, slot(column, deltaOf(column, change.delta)))}`;
      case "stamp": {
        const after = change.after === null ? null : nameOf(change.after);
        return sql`${name} = ${dialect.stamp(column, name, after, slot(column, change.now))}`;
      }
    }
  }

  const output = (column: Column): SQL =>
    column.markOf === undefined
      ? dialect.output(column, nameOf(column))
      : dialect.marks.output(column.markOf, nameOf(column));

  const shown = (columns: readonly Column[]): SQL =>
    sql.join(
      columns.map((column) => sql`${output(column)} as ${sql.identifier(column.name)}`),
      sql`, `,
    );

  const returning = (columns: readonly Column[]): SQL =>
    dialect.returning && columns.length > 0 ? sql` returning ${shown(columns)}` : sql.empty();

  const filter = (condition: Condition | null): SQL =>
    condition === null ? sql.empty() : sql` where ${where(condition)}`;

  function select(statement: Select): SQL {
    qualifier = sql`${sql.identifier("source")}.`;
    const columns = shown(statement.columns);
    const condition = filter(statement.where);
    const order = orderBy(statement.sort);
    const lock = statement.lock && dialect.rowLocks ? sql` for update` : sql.empty();
    return sql`select ${columns} from ${from(statement.source)}${condition}${order}${page(statement)}${lock}`;
  }

  function orderBy(sort: readonly Sort[]): SQL {
    const terms = sort.map(({ column, direction }) =>
      dialect.sort(column, nameOf(column), direction),
    );
    return terms.length === 0 ? sql.empty() : sql` order by ${sql.join(terms, sql`, `)}`;
  }

  function page({ limit, offset }: Pick<Select, "limit" | "offset">): SQL {
    if (limit === null && offset === 0) return sql.empty();
    if (isFirstRow(limit, offset)) return sql` limit 1`;
    const most = limit === null ? null : slot(null, BigInt(limit));
    return sql` ${dialect.limit(most, slot(null, BigInt(offset)))}`;
  }

  function count(statement: Count): SQL {
    qualifier = sql`${sql.identifier("source")}.`;
    return sql`select count(*) as ${sql.identifier("count")} from ${from(statement.source)}${filter(statement.where)}`;
  }

  function estimate(statement: Estimate): SQL {
    qualifier = sql`${sql.identifier("source")}.`;
    if (dialect.estimate === undefined) throw new Error("The engine has no estimates");
    return dialect.estimate.explain(
      sql`select 1 from ${from(statement.source)}${filter(statement.where)}`,
    );
  }

  /**
   * The groups are a subquery with names of our own (`v0`, `v1`), so that HAVING and the sort are plain conditions
   * and terms over columns, and no alias of a client gets into the text.
   */
  function aggregate(statement: Aggregate): SQL {
    qualifier = sql`${sql.identifier("source")}.`;
    statement.joins.forEach(({ columns }, at) => {
      for (const column of columns) aliases.set(column, sql`${sql.identifier(`join${at}`)}.`);
    });
    const values = statement.outputs.map((output) => {
      const { function: name, column, result } = output;
      const value =
        column === null ? sql`count(*)` : dialect.aggregate(name, column, nameOf(column), result);
      return sql`${value} as ${sql.identifier(result.name)}`;
    });
    const source = rowsFrom(statement.source, statement.rows);
    const joins = statement.joins.map(joined);
    const condition = filter(statement.where);
    const keys = statement.outputs.flatMap(({ function: name, column, result }) =>
      name === null && column !== null
        ? [dialect.aggregate(null, column, nameOf(column), result)]
        : [],
    );
    const by = keys.length === 0 ? sql.empty() : sql` group by ${sql.join(keys, sql`, `)}`;
    const groups = sql`select ${sql.join(values, sql`, `)} from ${source}${sql.join(joins)}${condition}${by}`;
    for (const { result } of statement.outputs)
      aliases.set(result, sql`${sql.identifier("groups")}.`);
    const answered = shown(statement.outputs.map(({ result }) => result));
    const having = filter(statement.having);
    const order = orderBy(statement.sort);
    return sql`select ${answered} from (${groups}) as ${sql.identifier("groups")}${having}${order}${page({ limit: statement.limit, offset: 0 })}`;
  }

  /** The rows that take part in a join. Narrowed before it, so that an outer join has no row more or less than without them. */
  function rowsFrom(source: Source, rows: Condition | null, alias = sql.identifier("source")): SQL {
    if (rows === null) return from(source, alias);
    return sql`(select * from ${from(source)} where ${where(rows)}) as ${alias}`;
  }

  function joined({ type, source, left, right, rows }: Join, at: number): SQL {
    const alias = sql.identifier(`join${at}`);
    const side = (column: Column): SQL =>
      left.labels === null && right.labels === null ? comparable(column) : textOf(column);
    return sql` ${sql.raw(type)} join ${rowsFrom(source, rows, alias)} on ${side(left)} = ${side(right)}`;
  }

  const comparable = (column: Column): SQL => comparand(column, nameOf(column), nameOf(column));

  function insert({ table, columns, rows, returning: answered }: Insert): SQL {
    const target = sql`insert into ${tableName(table.schema, table.name)}`;
    if (columns.length === 0) {
      // The engines that answer rows know DEFAULT VALUES, the others an empty list.
      return sql`${target} ${sql.raw(dialect.returning ? "default values" : "() values ()")}${returning(answered)}`;
    }
    const names = sql.join(
      columns.map((column) => nameOf(column)),
      sql`, `,
    );
    const tuples = rows.map(
      (row) =>
        sql`(${sql.join(
          columns.map((column, at) => slot(column, row[at] ?? null)),
          sql`, `,
        )})`,
    );
    return sql`${target} (${names}) values ${sql.join(tuples, sql`, `)}${returning(answered)}`;
  }

  function update(statement: UpdateOne): SQL {
    if (statement.keyValue === null) throw new Error("An UPDATE needs the key of its row");
    const changes = sql.join(statement.set.map(assignment), sql`, `);
    const name = nameOf(statement.key);
    const key = sql`${comparand(statement.key, name, name)} = ${comparand(statement.key, slot(statement.key, statement.keyValue), name)}`;
    const guard = statement.guard === null ? sql.empty() : sql` and ${where(statement.guard)}`;
    return sql`update ${tableName(statement.table.schema, statement.table.name)} set ${changes} where ${key}${guard}${returning(statement.returning)}`;
  }

  function calculate({ table, column, formula, operands, where: rows }: Calculate): SQL {
    const target = tableName(table.schema, table.name);
    const byName = new Map(operands.map((operand) => [operand.name, operand]));
    const result = dialect.formula(formula, column, (name) => {
      const operand = byName.get(name)!;
      return { column: operand, term: nameOf(operand) };
    });
    return sql`update ${target} set ${nameOf(column)} = ${result} where ${where(rows)}`;
  }

  /**
   * Where no column needs an expression around it, the text runs as it stands: as a subquery, not every engine keeps its
   * order of rows.
   */
  function ask({ query, value }: Ask): SQL {
    const { texts, parameter, columns } = query;
    const pieces = texts.flatMap((text, at) =>
      at === 0 ? [sql.raw(text)] : [slot(parameter, value), sql.raw(text)],
    );
    const text = sql.join(pieces);
    const isBare = columns.every((column) => {
      const name = nameOf(column);
      return dialect.output(column, name) === name;
    });
    return isBare ? text : sql`select ${shown(columns)} from (\n${text}\n) as source`;
  }

  /** A list of values to join with has no types on one engine and no collation on another; a CASE takes those of its column. */
  function updateMany({ table, key, columns, rows, set, guard }: UpdateMany): SQL {
    const name = nameOf(key);
    const left = comparand(key, name, name);
    const keySlot = (keyValue: Scalar): SQL => comparand(key, slot(key, keyValue), name);
    const changes = columns.map((column, at) => {
      const branches = rows.map(
        ({ keyValue, values }) =>
          sql`when ${keySlot(keyValue)} then ${slot(column, values[at] ?? null)}`,
      );
      return sql`${nameOf(column)} = case ${left} ${sql.join(branches, sql` `)} else ${nameOf(column)} end`;
    });
    changes.push(...set.map(assignment));
    const keys = rows.map(({ keyValue }) => keySlot(keyValue));
    const guarded = guard === null ? sql.empty() : sql` and ${where(guard)}`;
    return sql`update ${tableName(table.schema, table.name)} set ${sql.join(changes, sql`, `)} where ${left} in (${sql.join(keys, sql`, `)})${guarded}`;
  }

  function remove(statement: Delete): SQL {
    mustNarrow(statement);
    const target = tableName(statement.table.schema, statement.table.name);
    return sql`delete from ${target} where ${where(statement.where)}${returning(statement.returning)}`;
  }

  return {
    placesUsed: () => place,
    statement(statement: Printable): SQL {
      switch (statement.kind) {
        case "select":
          return select(statement);
        case "count":
          return count(statement);
        case "estimate":
          return estimate(statement);
        case "aggregate":
          return aggregate(statement);
        case "insert":
          return insert(statement);
        case "update":
          return update(statement);
        case "calculate":
          return calculate(statement);
        case "ask":
          return ask(statement);
        case "updateMany":
          return updateMany(statement);
        case "delete":
          return remove(statement);
      }
    },
  };
}
