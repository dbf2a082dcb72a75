/**
 * Procedures and functions of PostgreSQL. A procedure is called with CALL and answers its output parameters as one row;
 * a function is selected from, and answers rows.
 */
import { quoted } from "../../statements/quoted.ts";
import type { Routine, RoutineParameter } from "../../../core/plans/database-catalog.ts";
import { type Connection, rowsFor } from "../engine.ts";
import { inBrackets, RoutineText } from "../routine-text.ts";

/**
 * Parameters: schema (null = what the search path finds), name. The output parameters of a function that returns a set
 * are the columns of its rows.
 */
const routinesQuery = `
  select n.nspname::text as schema, p.prokind::text as kind, p.pronargdefaults::int as defaults, (
    select coalesce(json_agg(json_build_object('name', nullif(p.proargnames[a.at], ''),
      'mode', translate(coalesce(p.proargmodes[a.at]::text, 'i'), case when p.proretset then 'ob' else '' end, 'ti'),
      'native', pg_catalog.format_type(a.type, null)) order by a.at), '[]')
    from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality as a(type, at)
  )::text as parameters
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  where p.proname = $2 and p.prokind in ('p', 'f')
    and case when $1::text is null then pg_catalog.pg_function_is_visible(p.oid) else n.nspname = $1 end`;

interface Argument {
  readonly name: string | null;
  /** `i`, `o`, `b`, `v` (the rest of the arguments) or `t` (a column of the answered table). */
  readonly mode: string;
  readonly native: string;
}

export async function readRoutines(
  connection: Connection,
  schema: string | null,
  name: string,
): Promise<readonly Routine[]> {
  const rows = await rowsFor(connection, routinesQuery, [schema, name]);
  return rows.map((row) => {
    const found = JSON.parse(String(row["parameters"])) as Argument[];
    const isFunction = row["kind"] === "f";
    const inputs = found.filter(({ mode }) => mode !== "t" && mode !== "o");
    const defaulted = new Set(inputs.slice(inputs.length - Number(row["defaults"])));
    const parameters = found
      .filter(({ mode }) => mode !== "t")
      .map((one): Argument & RoutineParameter => ({
        ...one,
        mode: one.mode === "o" ? "out" : one.mode === "b" ? "inout" : "in",
        hasDefault: defaulted.has(one),
      }));
    const target = `${quoted(String(row["schema"]))}.${quoted(name)}`;
    return {
      parameters,
      callTexts(given) {
        const text = new RoutineText().add(isFunction ? "select * from " : "call ").add(target);
        const passed = parameters.filter(
          (one) => given.includes(one.name ?? "") || (one.mode === "out" && !isFunction),
        );
        inBrackets(
          text,
          passed.map((one) => (to) => {
            to.add(`${quoted(one.name ?? "")} => `);
            if (one.mode === "out") to.add("null");
            else to.value(given.indexOf(one.name ?? ""));
            to.add(`::${one.native}`);
          }),
        );
        return [text.done()];
      },
    };
  });
}
