/** Filters of a field by the operators of react-admin and Refine, as conditions of read. */
import { type FieldCondition, conditionOnIds, type Keyed } from "./record-ids.ts";

type Compare = (key: string, value: unknown) => FieldCondition;

const compared =
  (operator: string): Compare =>
  (key, value) => ({ key, operator, value });
const listed =
  (operator: string): Compare =>
  (key, value) => ({ key, operator, value: [value].flat() });
const emptied =
  (ifTrue: string, ifFalse: string): Compare =>
  (key, value) => ({ key, operator: value === false ? ifFalse : ifTrue });
const elements =
  (logic: "AND" | "OR"): Compare =>
  (key, value) => {
    const conditions = [value].flat().map((one) => ({ key, operator: "CONTAINS", value: one }));
    return { logic, conditions };
  };

/** `contains` ignores case, `containss` leaves it to the database, and `ncontains` and `ncontainss` negate them. */
function patterns(name: string, patternOf: (literal: string) => string): [string, Compare][] {
  const like =
    (operator: string, others: { sensitive?: false }): Compare =>
    (key, value) => {
      const literal = String(value).replace(/[\\%_]/g, "\\$&");
      return { key, operator, value: patternOf(literal), ...others };
    };
  return [
    [name, like("LIKE", { sensitive: false })],
    [`n${name}`, like("NOT LIKE", { sensitive: false })],
    [`${name}s`, like("LIKE", {})],
    [`n${name}s`, like("NOT LIKE", {})],
  ];
}

const operators: ReadonlyMap<string, Compare> = new Map([
  ["eq", compared("=")],
  ["eqs", compared("=")],
  ["ne", compared("!=")],
  ["nes", compared("!=")],
  ["lt", compared("<")],
  ["gt", compared(">")],
  ["lte", compared("<=")],
  ["gte", compared(">=")],
  ["in", listed("IN")],
  ["nin", listed("NOT IN")],
  ["between", compared("BETWEEN")],
  ["nbetween", compared("NOT BETWEEN")],
  ["null", emptied("IS NULL", "IS NOT NULL")],
  ["nnull", emptied("IS NOT NULL", "IS NULL")],
  /** Of columns that hold lists: all of the values, or one of them. */
  ["ina", elements("AND")],
  ["anya", elements("OR")],
  ...patterns("contains", (literal) => `%${literal}%`),
  ...patterns("startswith", (literal) => `${literal}%`),
  ...patterns("endswith", (literal) => `%${literal}`),
]);

export const isOperator = (name: string): boolean => operators.has(name);

/** `field`: a column, a path, or `id`. Throws an Error for an operator that the service does not have. */
export function conditionOn(
  { field, operator, value }: { field: string; operator: string; value: unknown },
  keyed: Keyed,
): FieldCondition {
  const compare = operators.get(operator);
  if (!compare)
    throw new Error(
      `The operator ${operator} is not possible; use ${[...operators.keys()].join(", ")}`,
    );
  if (field !== "id" || keyed.key.includes("id")) return compare(field, value);
  const [column = ""] = keyed.key;
  if (keyed.key.length === 1) return compare(column, value);
  if (operator === "eq" || operator === "in") return conditionOnIds([value].flat(), keyed);
  throw new Error(
    `An id of ${keyed.name} has several columns: compare it by eq or in, not by ${operator}`,
  );
}
