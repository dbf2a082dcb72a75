/**
 * One record of a set by its key, with the rights of first (else read), and the related ones behind it: the one record
 * or the list to which a relation leads.
 */
import { type Action, type CallOf, defineAction } from "../calls/action.ts";
import type { Answer } from "../calls/answer.ts";
import { scopeAt } from "../callers/narrow.ts";
import { rescoped } from "../callers/scoped-session.ts";
import { relatedTo } from "../lists/expanded-rows.ts";
import { orderedBy } from "../lists/order.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import { equalTo } from "../query/comparisons.ts";
import type { ReadQueries } from "../query/session.ts";
import { allOf, type Condition, selectFrom } from "../query/statement.ts";
import { etagOf } from "../records/etag.ts";
import { recordsOf, showingOf } from "../records/shown-records.ts";
import { invalidParameter, notFound } from "../values/errors.ts";
import { jsonOf } from "../values/ready-json.ts";
import type { Row } from "../values/row.ts";
import { columnList } from "../values/types/column.ts";
import {
  contextOf,
  countAnswer,
  type ODataBody,
  pageMembers,
  placeOf,
  readBy,
  sharedByActions,
} from "./odata-answers.ts";
import { valueOf } from "./edm.ts";
import { readKeyValues } from "./expressions.ts";
import { countOf, type RecordList, listName, pageOfOptions, readODataPage } from "./list-pages.ts";
import { expandedBy, recordWriter, relationOption } from "./nested-records.ts";
import { type ReadOptions, readOptions } from "./query-options.ts";
import type { ODataPlace } from "./places.ts";
import type { ProjectNames } from "./set-names.ts";

interface RecordInput {
  readonly where: Condition;
  readonly place: ODataPlace;
  readonly options: ReadOptions;
  /** Null: the record itself. */
  readonly relation: ReturnType<typeof relationOption> | null;
}

export const recordAction = (name: "first" | "read", project: ProjectNames): Action =>
  defineAction<ReadPlan, RecordInput>({
    ...sharedByActions,
    name,
    summary: "Finds one record of an entity set by its key, and the records to which it leads.",
    grammar: (plan, { entity }) => {
      const place = placeOf(plan, entity, project);
      return readBy((body) => recordInput(body, place));
    },
    async run(call, plan) {
      const { input } = call;
      const body = call.body as ODataBody;
      if (input.relation === null) return recordAnswer(call, plan, body);
      return input.relation.isMany
        ? relatedListAnswer(call, plan, body)
        : relatedRecordAnswer(call, plan, body);
    },
  });

function recordInput(body: ODataBody, place: ODataPlace): RecordInput {
  const where = keyCondition(body.key!, place);
  const { relation: name } = body;
  if (name === null)
    return { where, place, options: readOptions(body.options, place, "record"), relation: null };
  const relation = relationOption(name, place, noOptions);
  const purpose = body.isCount ? "count" : relation.isMany ? "list" : "record";
  if (body.isCount && !relation.isMany)
    throw invalidParameter(`"${name}" leads to one record, which is not counted`);
  const options = readOptions(body.options, relation.place, purpose);
  return { where, place, options, relation: { ...relation, options } };
}

const noOptions: ReadOptions = {
  where: null,
  sort: [],
  select: null,
  expand: [],
  search: [],
  top: null,
  skip: 0,
  isCounted: false,
  token: null,
};

/** Rejects with `notFound` where the records have no key that the caller sees. */
function keyCondition(text: string, { names, columns, key }: ODataPlace): Condition {
  if (key.length === 0 || !key.every(({ name }) => columns.has(name)))
    throw notFound(`The records of ${names.set} have no key here; use $filter`);
  const values = readKeyValues(text);
  const alone = values.get("");
  const expected = key.map(({ name }) => names.properties.get(name)!);
  if (alone !== undefined && key.length === 1) values.set(expected[0]!, alone).delete("");
  const isWhole = values.size === key.length && expected.every((name) => values.has(name));
  if (!isWhole)
    throw invalidParameter(
      `The key of ${names.set} is ${expected.map((name) => `${name}=…`).join(",")}`,
    );
  return allOf(
    ...key.map((column, at): Condition => {
      const value = values.get(expected[at]!)!;
      if (value.form === "null") return { kind: "null", column, negated: false };
      return equalTo(column, "=", valueOf(value, column));
    }),
  )!;
}

const noSuch = ({ names }: ODataPlace) => notFound(`${names.set} has no such record`);

type RecordCall = CallOf<RecordInput>;

async function recordAnswer(
  { input, session }: RecordCall,
  plan: ReadPlan,
  body: ODataBody,
): Promise<Answer> {
  const { place, options, where } = input;
  const expanded = expandedBy(options.expand, plan.named);
  const own = columnList(plan.columns);
  const showing = showingOf({ select: own, expand: expanded, versions: false }, plan);
  const read = async (queries: ReadQueries): Promise<Answer> => {
    // All own columns, because the ETag may be a hash of the whole record.
    const row = await queries.one(
      selectFrom(plan.source, {
        columns: showing?.columns ?? own,
        where,
        sort: orderedBy([], plan),
        limit: 1,
      }),
    );
    if (row === null) throw noSuch(place);
    const found = showing && (await recordsOf(queries, [row], { ...showing, source: plan.source }));
    const etag = etagOf(row, plan);
    const text = recordWriter(place, options, body)(found?.records[0] ?? row);
    const head = {
      ...contextOf(body, { place, options, entity: "/$entity" }),
      "@odata.etag": etag,
    };
    return { status: 200, body: head, rest: text, isBare: true, etag };
  };
  return expanded.many.length === 0 ? read(session) : session.snapshot(read);
}

/** One record of a relation to one; an answer without members where there is none. */
async function relatedRecordAnswer(
  { input, session }: RecordCall,
  plan: ReadPlan,
  body: ODataBody,
): Promise<Answer> {
  const { place, where } = input;
  const relation = input.relation!;
  const expanded = expandedBy([relation], plan.named);
  const showing = showingOf({ select: plan.key, expand: expanded, versions: false }, plan)!;
  const read = async (queries: ReadQueries): Promise<Answer> => {
    const row = await queries.one(
      selectFrom(plan.source, {
        columns: showing.columns,
        where,
        sort: orderedBy([], plan),
        limit: 1,
      }),
    );
    if (row === null) throw noSuch(place);
    const { records } = await recordsOf(queries, [row], { ...showing, source: plan.source });
    const one = (records[0]![relation.name] ?? null) as Row | null;
    if (one === null) return { status: 200, body: {}, isBare: true };
    const text = recordWriter(relation.place, relation.options, body)(one);
    const head = contextOf(body, { ...relation, entity: "/$entity" });
    return { status: 200, body: head, rest: text, isBare: true };
  };
  return expanded.many.length === 0 ? read(session) : session.snapshot(read);
}

/** A page of a relation to many. */
async function relatedListAnswer(
  { input, session, entity }: RecordCall,
  plan: ReadPlan,
  body: ODataBody,
): Promise<Answer> {
  const { place, where, options } = input;
  const relation = input.relation!;
  const { many } = expandedBy([{ ...relation, options: noOptions }], plan.named);
  const { from, steps } = many[0]!;
  const last = steps.at(-1)!;
  return session.snapshot(async (queries) => {
    const columns = [...new Set([...plan.key, ...from])];
    const row = await queries.one(
      selectFrom(plan.source, { columns, where, sort: orderedBy([], plan), limit: 1 }),
    );
    if (row === null) throw noSuch(place);
    const listed: RecordList = {
      source: last.source,
      place: relation.place,
      scope: relatedTo(row, { from, steps }, plan.source),
      name: listName(entity, relation.name),
      settings: entity.settings,
    };
    const page = pageOfOptions(options, listed, body.pageSize);
    const theirs = rescoped(queries, scopeAt(last.endpoint));
    if (body.isCount) return countAnswer(await countOf(theirs, page));
    const found = await readODataPage(theirs, page);
    const write = recordWriter(relation.place, options, body);
    const members = pageMembers(found, { page, write, body });
    return { status: 200, body: contextOf(body, relation), rest: jsonOf(members), isBare: true };
  });
}
