/** `dateTimeFields`: forms of dates in bodies, as part of the rules of their fields. */
import type { Columns } from "../values/column.ts";
import { readDateForm } from "../rules/date-form.ts";
import type { FieldRule } from "../rules/rule-definition.ts";
import type { Survey } from "./survey.ts";

const dateTypes: ReadonlySet<string> = new Set(["date", "timestamp", "time"]);

/** The rules, with those of fields that have a form; a form of a column that holds no dates is a fault. `columns`: those that are written or read. */
export function withDateForms(
  survey: Survey,
  rules: readonly FieldRule[],
  { columns, of }: { columns: Columns; of: string },
): FieldRule[] {
  const written = survey.payload.dateTimeFields ?? {};
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  for (const [name, { format }] of Object.entries(written)) {
    const path = ["dateTimeFields", name];
    const column = survey.column(name, columns, path, of);
    if (column === null) continue;
    const rule = byName.get(name) ?? { name };
    const dateForm = readDateForm(format);
    const type = rule.type ?? column.type;
    if (dateForm === null)
      survey.fault([...path, "format"], {
        expected:
          "a date, a time or both, of the parts yyyy, MM, dd, HH, mm and ss, such as dd/MM/yyyy HH:mm",
      });
    else if (!dateTypes.has(type))
      survey.fault(path, { found: `a ${type} column`, expected: "a column of dates or times" });
    else byName.set(name, { ...rule, dateForm });
  }
  return [...byName.values()];
}
