/**
 * Files of a record (`files` of an endpoint): a column that holds the description of a file, or a list of them. A body
 * names a file by its id; `core/files` puts what the service knows of it in its place.
 */
import { closest } from "../closest.ts";
import { isObject, type Json } from "../json.ts";
import type { JsonSchema } from "../json-schema.ts";
import { closedObject, wholeObject } from "../json-shapes.ts";
import { fileLimits } from "../file-limits.ts";
import type { Column } from "./column.ts";
import { showJson } from "./json-types.ts";
import { type Accepted, accepted, defineType, opaque, refused } from "./type-definition.ts";

/** A file as answers show it, and as its column stores it. */
export interface FileEntry {
  readonly id: string;
  readonly name: string;
  /** The media type, found out from the content. */
  readonly type: string;
  readonly bytes: number;
  readonly sha256: string;
}

export const fileIdPattern = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
const idShape = new RegExp(fileIdPattern);

/** Whether a file can have this id. */
export const isFileId = (id: unknown): id is string => typeof id === "string" && idShape.test(id);

const idSchema: JsonSchema = { type: "string", pattern: fileIdPattern };

const entryMembers = {
  id: idSchema,
  name: { type: "string" },
  type: { type: "string" },
  bytes: { type: "integer", minimum: 0 },
  sha256: { type: "string", pattern: "^[0-9a-f]{64}$" },
} satisfies Record<keyof FileEntry, JsonSchema>;

export const fileEntrySchema = wholeObject(entryMembers);

const sentSchema = closedObject(
  { ...Object.fromEntries(Object.keys(entryMembers).map((name) => [name, {}])), id: idSchema },
  ["id"],
);

const oneOrMany = ({ holdsMany }: Column, schema: JsonSchema): JsonSchema =>
  holdsMany ? { type: "array", items: schema, maxItems: fileLimits.ofFieldMax } : schema;

export const fileType = defineType(opaque, {
  accept: acceptFiles,
  shownSchema: (column) => oneOrMany(column, fileEntrySchema),
  acceptedSchema: (column) => oneOrMany(column, sentSchema),
  ruleNames: [],
  cellForm: () => ({ words: "Name of a file", format: null, width: 30 }),
  fromShown: (shown) => JSON.stringify(shown),
  isCompared: false,
  inTables: (shown) =>
    entriesIn(shown)
      .map(({ name }) => name)
      .join(", "),
});

/** The files in a stored or shown value; what is no file is left out. */
export function entriesIn(value: unknown): FileEntry[] {
  const shown = typeof value === "string" ? showJson(value) : value;
  return [shown].flat().filter(isEntry);
}

const isEntry = (value: unknown): value is FileEntry =>
  isObject(value) && isFileId(value["id"]) && typeof value["name"] === "string";

/**
 * What a body sends, without what only answers tell: `{"id": …}`, of a column of many a list of them. The members that
 * answers show may be sent back, and do not count.
 */
function acceptFiles({ holdsMany }: Column, value: unknown): Accepted {
  if (!holdsMany) {
    const fault = faultOf(value);
    return fault === null ? accepted(JSON.stringify(sentOf(value))) : refused(fault);
  }
  if (!Array.isArray(value)) return refused('must be a list of files: [{"id": …}]');
  if (value.length > fileLimits.ofFieldMax)
    return refused(`must have at most ${fileLimits.ofFieldMax} files`);
  for (const [at, one] of value.entries()) {
    const fault = faultOf(one);
    if (fault !== null) return refused(`[${at}] ${fault}`);
  }
  const ids = value.map((one) => sentOf(one).id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  return twice === undefined
    ? accepted(JSON.stringify(value.map(sentOf)))
    : refused(`must not name the file ${twice} twice`);
}

const sentOf = (value: unknown): { id: string } => ({ id: (value as { id: string }).id });

function faultOf(value: Json | unknown): string | null {
  if (!isObject(value)) return 'must be a file: {"id": …}, with the id that file-upload answered';
  const known = Object.keys(entryMembers);
  const other = Object.keys(value).find((name) => !known.includes(name));
  if (other !== undefined) {
    const near = closest(other, known);
    return `must not have a member ${JSON.stringify(other)}${near ? `; did you mean ${JSON.stringify(near)}?` : ""}`;
  }
  return Object.hasOwn(value, "id") && isFileId(value["id"])
    ? null
    : "must have an id that file-upload answered";
}
