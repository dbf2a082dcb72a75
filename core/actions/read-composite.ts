/**
 * read-composite: one header, found by equality, with its details. All are read from one snapshot, so that totals match
 * the details. The answer is never cached, and the default scope is not applied.
 */
import { defineAction } from "../calls/action.ts";
import { object } from "../grammar/grammar.ts";
import { expand, type Expanded } from "../lists/expand.ts";
import { recordsOf, showingOf } from "../records/shown-records.ts";
import { type Column, columnList } from "../values/types/column.ts";
import { headerKeyFor } from "../documents/detail-writes.ts";
import type { CompositePlan, DetailPlan } from "../plans/composite-plan.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import { etagOf } from "../records/etag.ts";
import { past } from "../callers/scoped-session.ts";
import { seenLines } from "../callers/seen-lines.ts";
import type { ReadQueries } from "../query/session.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";
import { allOf, type Condition, equals, sourceOf, selectFrom } from "../query/statement.ts";
import { comparand } from "../query/comparisons.ts";
import { equalities } from "../query/where.ts";
import { readCompositeSchema } from "../documents/composite-schema.ts";

interface ReadNeeds {
  readonly read: ReadPlan;
  readonly key: Column;
  readonly composite: CompositePlan;
}

interface ReadRequest {
  readonly where: readonly Condition[];
  readonly expand: Expanded;
}

export const readComposite = defineAction<ReadNeeds, ReadRequest>({
  name: "read-composite",
  summary: "Finds one header with its details, all as they were at one moment.",
  mode: "reads",
  methods: ["POST"],
  requires: ["source", "masterDetail"],
  errors: ["invalidParameter", "invalidField"],

  needs({ read, composite }) {
    const [key, ...others] = read?.key ?? [];
    return read && key && others.length === 0 && composite ? { read, key, composite } : null;
  },
  grammar: ({ read: { named } }) =>
    object({ where: equalities(named), expand: expand(named) }, { required: ["where"] }),
  answer: (plan, { entity }) => ({
    status: 200,
    schema: readCompositeSchema(plan, entity),
    hasEtag: true,
  }),

  async run({ input, session }, { read, key, composite }) {
    const own = columnList(read.columns);
    const showing = showingOf({ select: own, expand: input.expand, versions: false }, read);
    const found = await session.snapshot(async (queries) => {
      const header = await queries.one(
        selectFrom(read.source, {
          columns: [...new Set([...own, key, ...(showing?.columns ?? [])])],
          where: allOf(...input.where),
          sort: [{ column: key, direction: "asc" }],
          limit: 1,
        }),
      );
      if (header === null) return null;
      const lists: Record<string, Row[]> = {};
      for (const detail of composite.details)
        lists[detail.table.name] = await detailsOf(detail, header[key.name], queries);
      if (showing === null) return { header, shown: header, lists };
      const { source } = read;
      const { records, more } = await recordsOf(queries, [header], { ...showing, source });
      return { header, shown: records[0]!, lists, ...(more && { more }) };
    });
    if (found === null) return { status: 200, body: { data: null } };
    const { header, shown, lists, more } = found;
    const etag = etagOf(header, read);
    if (!read.columns.has(key.name)) delete shown[key.name];
    // A relation may have the name of the details; who expands it asks for its records.
    for (const name of Object.keys(shown)) if (!read.columns.has(name)) delete lists[name];
    return { status: 200, body: { data: { ...shown, ...lists }, ...(more && { more }) }, etag };
  },
});

async function detailsOf(
  detail: DetailPlan,
  shownKey: Json | undefined,
  queries: ReadQueries,
): Promise<Row[]> {
  const { table, foreignKey, shown, sort, query, queryShown } = detail;
  const headerKey = headerKeyFor(detail, shownKey);
  const lines = past(queries, "readLines");
  if (query === null) {
    return lines.all(
      selectFrom(sourceOf(table), {
        columns: [...shown.values()],
        where: equals(foreignKey, headerKey),
        sort,
      }),
    );
  }
  const value = comparand(query.parameter, shownKey);
  const rows = await lines.ask({ kind: "ask", about: table, query, value });
  const seen = await seenLines(rows, { detail, headerKey }, queries);
  return seen.map((row) => Object.fromEntries(queryShown.map((name) => [name, row[name] ?? null])));
}
