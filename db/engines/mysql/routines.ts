/**
 * Procedures of MySQL and MariaDB. Output parameters are variables of the session, which the transaction holds; they are
 * selected after the call, in the type of the parameter.
 */
import { quoted, quotedTable } from "../../statements/quoted.ts";
import type { Routine, RoutineParameter } from "../../../core/plans/database-catalog.ts";
import { type Connection, rowsFor } from "../engine.ts";
import { inBrackets, RoutineText } from "../routine-text.ts";

/** Parameters: schema (null = that of the connection), name. A procedure without parameters has one row of nulls. */
const routinesQuery = `
  select r.ROUTINE_SCHEMA as home, p.PARAMETER_NAME as name, p.PARAMETER_MODE as mode, p.DTD_IDENTIFIER as native
  from information_schema.ROUTINES r
  left join information_schema.PARAMETERS p on p.SPECIFIC_SCHEMA = r.ROUTINE_SCHEMA
    and p.SPECIFIC_NAME = r.SPECIFIC_NAME and p.ROUTINE_TYPE = 'PROCEDURE'
  where r.ROUTINE_SCHEMA = coalesce(?, database()) and r.ROUTINE_NAME = ? and r.ROUTINE_TYPE = 'PROCEDURE'
  order by p.ORDINAL_POSITION`;

interface Parameter extends RoutineParameter {
  readonly name: string;
  readonly native: string;
}

export async function readRoutines(
  connection: Connection,
  schema: string | null,
  name: string,
): Promise<readonly Routine[]> {
  const rows = await rowsFor(connection, routinesQuery, [schema, name]);
  const [first] = rows;
  if (first === undefined) return [];
  const parameters = rows
    .filter((row) => row["name"] !== null)
    .map((row): Parameter => {
      const mode = String(row["mode"]).toLowerCase();
      return {
        name: String(row["name"]),
        mode: mode === "out" || mode === "inout" ? mode : "in",
        native: String(row["native"]),
        hasDefault: false,
      };
    });
  const target = quotedTable({ schema: String(first["home"]), name }, "`");
  return [{ parameters, callTexts: (given) => textsOf(target, parameters, given) }];
}

function textsOf(target: string, parameters: readonly Parameter[], given: readonly string[]) {
  const variables = parameters.map(({ mode }, at) => (mode === "in" ? null : `@rowgate_${at}`));
  const before = parameters.flatMap(({ name, mode }, at) =>
    mode === "inout"
      ? [new RoutineText().add("select ").value(given.indexOf(name)).add(` into ${variables[at]}`)]
      : [],
  );
  const call = new RoutineText().add(`call ${target}`);
  inBrackets(
    call,
    parameters.map(({ name }, at) => (to) => {
      const variable = variables[at];
      if (variable) to.add(variable);
      else to.value(given.indexOf(name));
    }),
  );
  const outs = parameters.flatMap(({ name, native }, at) =>
    variables[at] ? [`${inItsType(variables[at]!, native)} as ${quoted(name, "`")}`] : [],
  );
  const behind = outs.length === 0 ? [] : [new RoutineText().add(`select ${outs.join(", ")}`)];
  return [...before, call, ...behind].map((text) => text.done());
}

/** A variable holds dates and times as texts. */
function inItsType(variable: string, native: string): string {
  const [, kind = ""] = /^(\w+)/.exec(native.toLowerCase()) ?? [];
  if (kind === "date") return `cast(${variable} as date)`;
  if (kind === "datetime" || kind === "timestamp") return `cast(${variable} as datetime(6))`;
  return kind === "time" ? `cast(${variable} as time(6))` : variable;
}
