/** How an UPDATE on PostgreSQL tells what it changes: the JSON values that `value-forms.ts` would make of its columns. */
import { sql, type SQL } from "drizzle-orm/sql/sql";
import type { Column } from "../../../core/values/types/column.ts";
import type { Decimals } from "../../../core/values/types/type-definition.ts";
import type { ChangeLogging, ToldValue } from "../../statements/dialect.ts";
import { valueForms } from "./value-forms.ts";

/** Most digits of a decimal whose text, with sign, point and a zero before it, is a number in every form. */
const shortDigits = 12;

export function createLogging(decimals: Decimals): ChangeLogging {
  /** Null: the values of the type have several forms. */
  function jsonOf(column: Column, name: SQL): SQL | null {
    const isKnown = !column.isDomain && !column.isOpaque && isPlain(column.name);
    if (!isKnown) return null;
    const text = valueForms[column.type].textOf?.(column, name) ?? name;
    switch (column.type) {
      case "text":
      case "uuid":
        return quoted(text);
      case "boolean":
        return sql`${name}::text`;
      case "integer":
        if (/^(smallint|integer)$/.test(column.native)) return text;
        if (column.native !== "bigint") return null;
        return decimals === "string"
          ? quoted(text)
          : sql`case when ${name} between -9007199254740991 and 9007199254740991 then ${text} else ${quoted(text)} end`;
      case "decimal": {
        const digits = Math.max(column.precision ?? Infinity, column.scale ?? 0);
        const number = compared(column, name);
        if (decimals === "number") return digits <= shortDigits ? sql`${number}::text` : null;
        return digits === Infinity ? null : quoted(sql`trim_scale(${number})::text`);
      }
      case "date":
        return sql`case when isfinite(${name}) then ${quoted(text)} end`;
      case "timestamp":
        // Answers show other years as the server writes them.
        return sql`case when ${name} >= '0001-01-01' and ${name} < '10000-01-01' then ${quoted(text)} when isfinite(${name}) then ${quoted(sql`${name}::text`)} end`;
      default:
        return null;
    }
  }

  const differs = ({ column, before, after }: ToldValue): SQL =>
    sql`${compared(column, before)} is distinct from ${compared(column, after)}`;

  return {
    columnsMax: 1_600,
    takes: (column) => jsonOf(column, sql`name`) !== null,
    differs,
    object(values, side) {
      // Not one call with a value for each: a function takes a hundred at most.
      const members = values.map((value) => {
        const { column, before, after } = value;
        const json = jsonOf(column, side === "before" || side === "was" ? before : after)!;
        const member = sql`${nameOf(column)} || coalesce(${json}, 'null')`;
        return side === "was" || side === "is"
          ? member
          : sql`case when ${differs(value)} then ${member} else '' end`;
      });
      return sql`'{' || substr(${sql.join(members, sql` || `)}, 2) || '}'`;
    },
  };
}

const quoted = (text: SQL): SQL => sql`to_json(${text})::text`;

/** What differs exactly where answers do: a collation can take different texts for the same, and some values are no JSON. */
function compared({ type }: Column, term: SQL): SQL {
  switch (type) {
    case "text":
      return sql`${term}::text collate "C"`;
    case "decimal":
      return sql`nullif(${term}, 'NaN')`;
    case "date":
    case "timestamp":
      return sql`case when isfinite(${term}) then ${term} end`;
    default:
      return term;
  }
}

/** Whether the name is the same within a JSON text and within a literal of SQL. */
const isPlain = (name: string): boolean =>
  JSON.stringify(name) === `"${name}"` && !name.includes("'");

/** The beginning of a member, after another one. */
const nameOf = ({ name }: Column): SQL => sql.raw(`',"${name}":'`);
