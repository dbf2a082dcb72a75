/**
 * read-composite: one header, found by equality, with its details. All are read from one snapshot, so that totals match
 * the details. The answer is never cached, and the default scope is not applied.
 */
import { defineAction } from "../calls/action.ts";
import type { Column } from "../values/column.ts";
import { headerKeyFor } from "../documents/detail-writes.ts";
import type { CompositePlan, DetailPlan, ReadPlan } from "../plans/entity.ts";
import { etagOf } from "../records/etag.ts";
import { past } from "../callers/scoped-session.ts";
import type { ReadQueries } from "../callers/session.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../plans/ports.ts";
import { allOf, equals, sourceOf } from "../query/statement.ts";
import { comparand, parseEqualities } from "../query/where.ts";
import { readCompositeSchema } from "../documents/composite-schema.ts";
import { closedObject } from "../values/json-shapes.ts";
import { equalitiesSchema } from "../lists/where-schema.ts";

interface ReadNeeds {
  readonly read: ReadPlan;
  readonly key: Column;
  readonly composite: CompositePlan;
}

export const readComposite = defineAction<ReadNeeds>({
  name: "read-composite",
  summary: "Finds one header with its details, all as they were at one moment.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source", "masterDetail"],
  errors: ["invalidParameter", "invalidField"],
  takesOptions: false,
  takesEmptyBody: false,

  needs({ read, composite }) {
    const [key, ...others] = read?.key ?? [];
    return read && key && others.length === 0 && composite ? { read, key, composite } : null;
  },
  input: ({ read: { columns } }) => closedObject({ where: equalitiesSchema(columns) }, ["where"]),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: readCompositeSchema(plan, entity),
    hasEtag: true,
  }),

  async run({ body, session }, { read, key, composite }) {
    const conditions = parseEqualities(body["where"], read.columns, false);
    const found = await session.snapshot(async (queries) => {
      const header = await queries.one({
        kind: "select",
        source: read.source,
        columns: [...new Set([...read.columns.values(), key])],
        where: allOf(...conditions),
        sort: [{ column: key, direction: "asc" }],
        limit: 1,
        offset: 0,
        lock: false,
      });
      if (header === null) return null;
      const lists: Record<string, Row[]> = {};
      for (const detail of composite.details)
        lists[detail.table.name] = await detailsOf(detail, header[key.name], queries);
      return { header, lists };
    });
    if (found === null) return { status: 200, body: { data: null } };
    const { header, lists } = found;
    const etag = etagOf(header, read);
    if (!read.columns.has(key.name)) delete header[key.name];
    return { status: 200, body: { data: { ...header, ...lists } }, etag };
  },
});

async function detailsOf(
  detail: DetailPlan,
  headerKey: Json | undefined,
  queries: ReadQueries,
): Promise<Row[]> {
  const { table, foreignKey, shown, sort, query, queryShown } = detail;
  if (query === null) {
    return past(queries, "details").all({
      kind: "select",
      source: sourceOf(table),
      columns: [...shown.values()],
      where: equals(foreignKey, headerKeyFor(detail, headerKey)),
      sort,
      limit: null,
      offset: 0,
      lock: false,
    });
  }
  const value = comparand(query.parameter, headerKey);
  const rows = await past(queries, "details").ask({ kind: "ask", about: table, query, value });
  return rows.map((row) => Object.fromEntries(queryShown.map((name) => [name, row[name] ?? null])));
}
