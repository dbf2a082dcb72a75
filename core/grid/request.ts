/**
 * Parses the request of the DataTables grid. All client errors are found here, before a statement runs. What the
 * library sends about its own columns (`columns`, `order`, `searchPanes`) may name columns that are not fields, which
 * are ignored unless they are searched; explicit requests (`where`, `sort_columns`, `searchBy`, `searchBuilder`) must name fields.
 */
import {
  absentOr,
  type Grammar,
  list,
  type Meaning,
  meaning,
  object,
  optional,
  value,
} from "../grammar/grammar.ts";
import { countMode, type CountMode } from "../lists/count.ts";
import { onlyPage, orderedBy } from "../lists/order.ts";
import { type PageBeginning, beginningAt } from "../lists/page.ts";
import type { Entity } from "../plans/entity.ts";
import type { GridPlan } from "../plans/grid-plan.ts";
import { byRank } from "../query/full-text.ts";
import { sortColumns } from "../query/sort.ts";
import { allOf, type Condition, type Sort } from "../query/statement.ts";
import { logicSchema, where } from "../query/where.ts";
import type { Column, Columns } from "../values/types/column.ts";
import type { TextSearch } from "../values/types/text-index.ts";
import { columnTypes } from "../values/types/column-types.ts";
import { invalidPayload } from "../values/errors.ts";
import { isObject } from "../values/json.ts";
import { closedObject } from "../values/json-shapes.ts";
import { limits } from "../values/limits.ts";
import { parseColumnControl } from "./column-control.ts";
import {
  blankOr,
  inPayload,
  isFalse,
  isTrue,
  listOf,
  maybeByPlace,
  notAList,
  type Sent,
  wholeParameter,
} from "./grid-parameters.ts";
import { type MemberPath, missingPaths } from "./missing-columns.ts";
import { gridSearch, searchMembers } from "./search.ts";
import { parseSearchBuilder } from "./search-builder.ts";
import { type Panes, parsePanes, selectionOf } from "./search-panes.ts";
import { type SentColumn, sentColumns } from "./sent-columns.ts";

export interface GridRequest {
  /** 0 when the request has none. */
  readonly draw: number;
  readonly start: PageBeginning;
  /** Rows of the page. */
  readonly length: number;
  readonly count: CountMode;
  /** All that filters; null when nothing does. */
  readonly filter: Condition | null;
  /** The filter without the panes. */
  readonly rest: Condition | null;
  readonly panes: Panes;
  readonly sort: readonly Sort[];
  /** The columns of related records that rows show in addition to the own ones: those that the grid has. */
  readonly related: readonly Column[];
  /** Where rows are to have null, unless there is a member. */
  readonly missing: readonly MemberPath[];
  /** Each row shows its version. */
  readonly versions: boolean;
}

/**
 * The parameters that filter, sort and page. The library and its extensions send much besides that concerns only the
 * page. Rejects with Invalid payload, with Invalid field (unknown column), or, for a value in `where`, with Invalid
 * parameter.
 */
export function gridGrammar(
  plan: GridPlan,
  { entity: { settings } }: { readonly entity: Pick<Entity, "settings"> },
): Grammar<GridRequest> {
  const parts = object(
    {
      columns: sentColumns(plan.named),
      where: gridWhere(plan.named),
      ...searchMembers(plan),
      draw,
      start: start(plan, settings.offsetMax),
      length: length(plan),
      count: inPayload(countMode),
      versions: blankOr(versions, false),
      sort_columns: sortTerms(plan.named),
      order: blankOr(
        maybeByPlace(list(orderTerm, { fault: notAList("order") }), Object.values),
        [],
      ),
    },
    { isOpen: true },
  );
  return {
    ...parts,
    read(sent) {
      const own = parts.read(sent);
      const body = sent as Sent;
      const search = gridSearch(own, plan);
      const rest = allOf(
        own.where,
        search.filter,
        parseSearchBuilder(body["searchBuilder"], plan.named),
        parseColumnControl(own.columns, plan),
      );
      const panes = parsePanes(body, plan);
      return {
        ...own,
        filter: allOf(rest, selectionOf(panes)),
        rest,
        panes,
        related: [
          ...new Set(
            own.columns.flatMap(({ column }) => (column?.via === undefined ? [] : [column])),
          ),
        ],
        missing: missingPaths(own.columns, plan),
        sort: sortOf(own, orderOf(own.order, plan, own.columns), { plan, words: search.words }),
      };
    },
  };
}

const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number;

/** Only a whole number: the page compares it with its own counter. */
export const draw = absentOr(
  wholeParameter("draw", { min: MIN_SAFE_INTEGER, max: MAX_SAFE_INTEGER }),
  0,
);

function start(plan: GridPlan, offsetMax: number): Grammar<PageBeginning> {
  const page = onlyPage(plan);
  return meaning(
    absentOr(wholeParameter("start", { min: 0, max: MAX_SAFE_INTEGER }), 0),
    (rows) => {
      if (rows > 0 && page) throw invalidPayload(page.message);
      const fault = () =>
        invalidPayload(
          `start lies beyond the first ${offsetMax} records; narrow the grid with a search, or page through read with a cursor`,
        );
      return beginningAt(rows, { offsetMax, fault });
    },
    () =>
      page ? { enum: [0, "0", null] } : { type: "integer", minimum: 0, maximum: MAX_SAFE_INTEGER },
  );
}

/** The library sends -1 for all rows; if the configuration allows it, this means the largest page. */
function length({ clampsLength }: GridPlan): Grammar<number> {
  const [max, byDefault] = [limits.gridLengthMax, limits.gridLengthDefault];
  if (!clampsLength) return absentOr(wholeParameter("length", { min: 1, max }), byDefault);
  return meaning(
    absentOr(wholeParameter("length", { min: -1, max: Infinity }), byDefault),
    (rows) => {
      if (rows === 0) throw invalidPayload("length must be -1, or a whole number from 1");
      return rows === -1 ? max : Math.min(rows, max);
    },
    () => ({ anyOf: [{ const: -1 }, { type: "integer", minimum: 1, maximum: MAX_SAFE_INTEGER }] }),
  );
}

/** As in read, or the texts of a form. */
const versions = meaning(
  value(
    (sent): sent is boolean | string => isTrue(sent) || isFalse(sent),
    () => invalidPayload("versions must be true or false"),
    () => ({ enum: [true, false, "true", "false"] }),
  ),
  isTrue,
);

/** read's sort terms, or the empty values of forms. */
function sortTerms(columns: Columns): Grammar<Sort[]> {
  const terms = inPayload(sortColumns(columns));
  return { ...terms, read: (sent) => terms.read(listOf(sent, "sort_columns")) };
}

const notATerm = () => invalidPayload("order must be an array of {column, dir}");

const direction = value(
  (sent): sent is string => typeof sent === "string" && /^(asc|desc)?$/i.test(sent),
  () => invalidPayload("The dir of order must be asc or desc"),
  () => ({ enum: ["asc", "desc", ""] }),
);

const orderTerm = object(
  {
    column: wholeParameter("column", { min: 0, max: MAX_SAFE_INTEGER }),
    dir: optional(direction, "asc"),
  },
  { fault: notATerm, required: ["column"], isOpen: true },
);

/**
 * `sort_columns`, then the library's `order`, or else the rank in a full-text search; then what makes it total. The first
 * mention of a column decides.
 */
function sortOf(
  { sort_columns: first }: { readonly sort_columns: readonly Sort[] },
  then: readonly Sort[],
  { plan, words }: { plan: GridPlan; words: TextSearch | null },
): Sort[] {
  const asked = [...first, ...then];
  const sort = new Map<Column, Sort>();
  for (const term of asked.length > 0 ? asked : byRank(words))
    if (!sort.has(term.column)) sort.set(term.column, term);
  return orderedBy([...sort.values()], plan);
}

/** The index refers to `columns` if these were sent, else it is a position in the source. */
function orderOf(
  order: readonly Meaning<typeof orderTerm>[],
  plan: GridPlan,
  sent: readonly SentColumn[],
): Sort[] {
  const byPosition = sent.length > 0 ? [] : [...plan.columns.values()];
  return order.flatMap(({ column: index, dir }): Sort[] => {
    const named = sent[index]?.isOrderable ? sent[index].column : null;
    const column = byPosition[index] ?? named;
    // The library removes an order by an empty direction.
    if (!column || dir === "" || !columnTypes[column.type].isSorted) return [];
    return [{ column, direction: dir.toLowerCase() as Sort["direction"] }];
  });
}

/** read's filter. A form cannot send false or an empty list, so an empty group arrives with its logic only. */
function gridWhere(columns: Columns): Grammar<Condition | null> {
  const tree = where(columns);
  return {
    ...tree,
    read: (sent) => (sent === "" ? null : tree.read(isObject(sent) ? spelledOut(sent) : sent)),
    schema: () => ({
      anyOf: [tree.schema(), closedObject({ logic: logicSchema }, ["logic"]), { const: "" }],
    }),
  };
}

function spelledOut(group: Sent): Sent {
  const isEmpty = Object.keys(group).join() === "logic";
  const conditions = isEmpty ? [] : group["conditions"];
  if (!Array.isArray(conditions)) return group;
  const members = conditions.map((member: unknown) => {
    if (!isObject(member)) return member;
    if (Object.hasOwn(member, "conditions")) return spelledOut(member);
    const { sensitive } = member;
    return sensitive === "true" || sensitive === "false"
      ? { ...member, sensitive: sensitive === "true" }
      : member;
  });
  return { ...group, conditions: members };
}
