/**
 * The reading actions of an endpoint in the language of OData: lists with the rights of read, single records and what
 * they lead to with those of first (else read). `bind.ts` binds them as any other action.
 */
import { type Action, defineAction } from "../calls/action.ts";
import { namedIn } from "../lists/expand.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import { relatedDependencies } from "../query/hops.ts";
import type { ReadQueries } from "../query/session.ts";
import {
  contextOf,
  countAnswer,
  type ODataBody,
  pageMembers,
  placeOf,
  readBy,
  sharedByActions,
} from "./odata-answers.ts";
import {
  countOf,
  isOfOneMoment,
  listName,
  type ODataPage,
  pageOfOptions,
  readODataPage,
} from "./list-pages.ts";
import { recordWriter, type WriteRecord } from "./nested-records.ts";
import { type ReadOptions, readOptions } from "./query-options.ts";
import type { ODataPlace } from "./places.ts";
import { recordAction } from "./record-action.ts";
import type { ProjectNames } from "./set-names.ts";
import { parsed } from "../values/ready-json.ts";

/** The three actions of an endpoint; null: it lacks what they need, or the caller's rights are of another one. */
export interface SetActions {
  readonly list: Action;
  /** With the rights of first, and with those of read. */
  readonly first: Action;
  readonly read: Action;
}

export const setActions = (project: ProjectNames): SetActions => ({
  list: listAction(project),
  first: recordAction("first", project),
  read: recordAction("read", project),
});

interface ListInput {
  readonly page: ODataPage;
  readonly write: WriteRecord;
  readonly place: ODataPlace;
  readonly options: ReadOptions;
}

const listAction = (project: ProjectNames): Action =>
  defineAction<ReadPlan, ListInput>({
    ...sharedByActions,
    name: "read",
    summary: "Lists the records of an entity set.",
    grammar: (plan, { entity }) => {
      const place = placeOf(plan, entity, project);
      const { source, scope } = plan;
      const listed = { source, place, scope, name: listName(entity), settings: entity.settings };
      return readBy((body) => {
        const options = readOptions(body.options, place, body.isCount ? "count" : "list");
        const page = pageOfOptions(options, listed, body.pageSize);
        return { page, write: recordWriter(place, options, body), place, options };
      });
    },
    async run({ input, body: sent, session, cache, entity }, plan) {
      const body = sent as ODataBody;
      const { page, write } = input;
      const { list, showing } = page;
      const dependsOn = relatedDependencies(plan.dependsOn, list, ...namedIn(showing?.many ?? []));
      const keep = cache.keeping({ entity, kind: "list", dependsOn });
      const { $filter: filter, $search: search } = body.options;
      const counted = ["OData count", { filter, search, params: body["params"] }];
      const count = async (): Promise<number> =>
        parsed(await keep(counted, () => countOf(session, page))) as number;
      if (body.isCount) return countAnswer(await count());
      const read = (queries: ReadQueries, counting?: () => Promise<number>) =>
        readODataPage(queries, page, counting);
      const kept = await keep(["OData rows", body], async () => {
        const found = await (isOfOneMoment(page)
          ? session.snapshot((queries) => read(queries))
          : read(session, count));
        return pageMembers(found, { page, write, body });
      });
      return { status: 200, body: contextOf(body, input), rest: kept, isBare: true };
    },
  });
