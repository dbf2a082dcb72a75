/** The paths of one endpoint, as a caller may use it. */
import type { BoundAction } from "../dispatch.ts";
import type { Entity } from "../plans/entity.ts";
import type { JsonSchema } from "../values/json-schema.ts";
import { recordSchema, selectedRecordSchema } from "../lists/shown-schema.ts";
import {
  collectSchemas,
  type DraftOperation,
  draftOperation,
  type OperationPlace,
} from "./draft-operation.ts";
import { type Paths, printOperation } from "./operation.ts";
import { createSchemaPrinter } from "./schema-printer.ts";

/** The entity as it shows itself in an action; null: the action may not be used. */
export type ViewOf = (bound: BoundAction) => Entity | null;

export interface EndpointPlace extends Omit<OperationPlace, "printer"> {
  /** As in the URL: `/api/shop/suppliers`. */
  readonly path: string;
}

export interface DescribedEndpoint {
  /** By path; empty where the caller may use no action. */
  readonly paths: Paths;
  /** The endpoint as each usable action shows it. */
  readonly views: readonly ActionView[];
}

export interface ActionView {
  readonly action: string;
  readonly entity: Entity;
}

export function describeEndpoint(
  actions: Iterable<BoundAction>,
  viewOf: ViewOf,
  place: EndpointPlace,
): DescribedEndpoint {
  const drafts = [...actions].flatMap((bound) => draftsOf(bound, viewOf));
  const printer = createSchemaPrinter(place.parts.schemas, place.base);
  for (const draft of drafts) collectSchemas(draft, printer);
  for (const { entity } of drafts)
    for (const [name, schema] of recordsOf(entity)) printer.name(schema, place.base + name);
  const byAction = Map.groupBy(drafts, ({ action }) => action.name);
  const paths = Object.fromEntries(
    [...byAction].map(([action, operations]) => [
      `${place.path}/${action}`,
      Object.fromEntries(
        operations.map((draft) => [
          draft.method.toLowerCase(),
          printOperation(draft, { ...place, printer }),
        ]),
      ),
    ]),
  );
  return { paths, views: drafts.map(({ action, entity }) => ({ action: action.name, entity })) };
}

function draftsOf(bound: BoundAction, viewOf: ViewOf): DraftOperation[] {
  const entity = viewOf(bound);
  if (entity === null) return [];
  const { action } = bound;
  return action.methods.flatMap((method) => draftOperation(bound, { entity, method }) ?? []);
}

/** The forms in which answers show a record, each with the suffix of its name. */
function recordsOf({ read, write, grid, settings }: Entity): [string, JsonSchema][] {
  const records: [string, JsonSchema][] = [];
  if (read) {
    records.push(["", recordSchema(read.columns, settings)]);
    records.push(["Selected", selectedRecordSchema(read.columns, settings)]);
  }
  if (write) records.push(["Stored", recordSchema(write.shown, settings)]);
  if (grid) records.push(["Row", recordSchema(grid.columns, settings)]);
  return records;
}
