/** datatables: one page of a grid, and how many rows there are, in the words of the DataTables library. */
import { defineAction } from "../action.ts";
import type { GridPlan } from "../entity.ts";
import { parseDraw, parseGrid } from "../grid.ts";

export const datatables = defineAction<GridPlan>({
  name: "datatables",
  methods: ["GET", "POST"],
  takesOptions: false,
  takesEmptyBody: true,
  takesForm: true,
  needs: (entity) => entity.grid,

  // The library reads these whatever the status is, and counts that are missing would become NaN.
  besideErrors: (body) => ({
    draw: drawOf(body),
    recordsTotal: 0,
    recordsFiltered: 0,
    data: [],
  }),

  async run({ body, session }, plan) {
    const { draw, start, length, filter, sort } = parseGrid(body, plan);
    const { source } = plan;
    const count = (where: typeof filter) => session.count({ kind: "count", source, where });
    const total = count(null);
    const [data, recordsTotal, recordsFiltered] = await Promise.all([
      session.all({
        kind: "select",
        source,
        columns: [...plan.columns.values()],
        where: filter,
        sort,
        limit: length,
        offset: start,
        lock: false,
      }),
      total,
      filter === null ? total : count(filter),
    ]);
    return { status: 200, body: { draw, recordsTotal, recordsFiltered, data }, isBare: true };
  },
});

/** 0 where the request has none that could be echoed. */
function drawOf(body: unknown): number {
  if (typeof body !== "object" || body === null) return 0;
  try {
    return parseDraw(body as Record<string, unknown>);
  } catch {
    return 0;
  }
}
