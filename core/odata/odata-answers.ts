/** The answers of OData: their context, which names what they show, and lists with the address of the next page. */
import type { Answer, AnswerForm } from "../calls/answer.ts";
import type { Entity } from "../plans/entity.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import { ReadyJson } from "../values/ready-json.ts";
import { anything } from "../values/json-schema.ts";
import { longNumber } from "./edm.ts";
import type { ODataPage, ReadPage } from "./list-pages.ts";
import { queryOf, selectedNames, type WriteRecord } from "./nested-records.ts";
import type { ReadOptions, SentOptions } from "./query-options.ts";
import type { ODataPlace } from "./places.ts";
import type { ProjectNames } from "./set-names.ts";

/** What the path and the query of a request say, as the body of the actions below. */
export interface ODataBody extends Record<string, unknown> {
  readonly options: SentOptions;
  /** As it stands between the parentheses; null: the whole set. */
  readonly key: string | null;
  /** The relation behind the key; null: the record itself. */
  readonly relation: string | null;
  /** Only the number of records. */
  readonly isCount: boolean;
  readonly longNumbersAsText: boolean;
  /** Null: the service decides. */
  readonly pageSize: number | null;
  /** See `RecordForm`. */
  readonly root: string;
  /** The address of the list without its query. */
  readonly address: string;
}

/** What all actions of OData have in common. */
export const sharedByActions = {
  mode: "reads",
  methods: ["GET"],
  requires: ["source"],
  errors: ["validationFailed", "invalidParameter", "invalidField", "notImplemented"],
  takesOptions: false,
  takesEmptyBody: true,
  needs: (entity: Entity) => entity.read,
  sourceOf: ({ source }: ReadPlan) => source,
  answer: (): AnswerForm => ({ status: 200, schema: anything, isBare: true }),
} as const;

/** The HTTP edge makes the body, so it needs no check. */
export const readBy = <Input>(read: (body: ODataBody) => Input) => ({
  read: (sent: unknown) => read(sent as ODataBody),
  schema: () => anything,
});

export const placeOf = (
  { named, key }: ReadPlan,
  entity: Entity,
  project: ProjectNames,
): ODataPlace => ({ project, names: project.endpoints.get(entity.name)!, columns: named, key });

/** `entity`: `/$entity` for a single record. */
export const contextOf = (
  { root }: ODataBody,
  { place, options, entity = "" }: { place: ODataPlace; options: ReadOptions; entity?: string },
): Record<string, string> => ({
  "@odata.context": `${root}$metadata#${place.names.set}${selectedNames(place, options)}${entity}`,
});

export const countAnswer = (count: number): Answer => ({
  status: 200,
  body: { count },
  isBare: true,
});

interface Writing {
  readonly page: ODataPage;
  readonly write: WriteRecord;
  readonly body: ODataBody;
}

/** The members of an answer with a list. */
export function pageMembers(
  { records, next, count }: ReadPage,
  { page, write, body }: Writing,
): Record<string, unknown> {
  return {
    ...(count !== null && { "@odata.count": new ReadyJson(longNumber(count, body)) }),
    value: new ReadyJson(`[${records.map(write).join(",")}]`),
    ...(next !== null && { "@odata.nextLink": nextLink(next, page, body) }),
  };
}

function nextLink(
  token: string,
  { top, size }: ODataPage,
  { options, address }: ODataBody,
): string {
  const { $skip: _, $top: __, $skiptoken: ___, ...others } = options;
  const rest = top === null ? {} : { $top: String(top - size) };
  return `${address}?${queryOf({ ...others, ...rest, $skiptoken: token })}`;
}
