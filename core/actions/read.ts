/** read: a list of records, filtered, searched, sorted, and either paginated or cut at a limit. */
import { defineAction } from "../action.ts";
import type { Column, Columns } from "../column.ts";
import type { ReadPlan } from "../entity.ts";
import { invalidParameter, invalidPayload } from "../errors.ts";
import { paginationOf, parsePage } from "../page.ts";
import { parseSort } from "../sort.ts";
import { allOf, type Condition, type Select } from "../statement.ts";
import { columnOf, parseWhere, patternText } from "../where.ts";

export const read = defineAction<ReadPlan>({
  name: "read",
  methods: ["POST"],
  takesOptions: false,
  takesEmptyBody: false,
  needs: (entity) => entity.read,

  async run({ body, session }, plan) {
    const { page, size, offset } = parsePage(body);
    const select: Select = {
      kind: "select",
      source: plan.source,
      columns: parseSelect(body["select"], plan.columns),
      where: allOf(
        plan.scope,
        parseWhere(body["where"], plan.columns),
        parseSearch(body, plan.columns),
      ),
      sort: parseSort(body["sort_columns"], plan.columns, plan.key),
      limit: size,
      offset,
      lock: false,
    };
    if (page === null) {
      const data = await session.all(select);
      return { status: 200, body: { data, count: data.length } };
    }
    const count = session.count({ kind: "count", source: select.source, where: select.where });
    const [data, total] = await Promise.all([session.all(select), count]);
    return {
      status: 200,
      body: { data, count: data.length, pagination: paginationOf(page, size, total) },
    };
  },
});

/** The columns that the request names, in its order; all of them when it names none. */
export function parseSelect(select: unknown, columns: Columns): Column[] {
  if (select === undefined || select === null) return [...columns.values()];
  if (!Array.isArray(select) || !select.every((name) => typeof name === "string")) {
    throw invalidPayload("select must be an array of column names");
  }
  if (select.length === 0) return [...columns.values()];
  return [...new Set(select.map((name: string) => columnOf(name, columns, "select")))];
}

/** `search_value` in the column that `search_by` names, or in any column; null when there is nothing to search for. */
function parseSearch(body: Record<string, unknown>, columns: Columns): Condition | null {
  const by = body["search_by"] ?? "all";
  if (typeof by !== "string") throw invalidParameter("search_by must be a column name or all");
  // A column that is really called "all" can still be searched: by name it wins over the word.
  const searched =
    by === "all" && !columns.has(by) ? [...columns.values()] : [columnOf(by, columns, "search_by")];
  const value = body["search_value"];
  if (value === undefined || value === null || value === "") return null;
  const text = patternText(value, "search_value");
  return { kind: "or", members: searched.map((column) => ({ kind: "contains", column, text })) };
}
