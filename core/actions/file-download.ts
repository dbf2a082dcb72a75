/** file-download: a file of a record, for callers who may see the field of the record that names it. */
import { defineAction } from "../calls/action.ts";
import { fileKey, findFiles } from "../files/file-ledger.ts";
import { isShownInline } from "../files/file-kind.ts";
import { type Grammar, meaning, object, unread } from "../grammar/grammar.ts";
import type { ReadPlan } from "../plans/read-plan.ts";
import type { WritePlan } from "../plans/write-plan.ts";
import { keyIs } from "../query/key-conditions.ts";
import { selectFrom } from "../query/statement.ts";
import { keyMembers } from "../records/record-grammar.ts";
import { keyOf } from "../records/record-key.ts";
import { closest } from "../values/closest.ts";
import { invalidParameter, invalidPayload, noSuchRecord, notFound } from "../values/errors.ts";
import type { Column, Columns } from "../values/types/column.ts";
import { entriesIn, fileIdPattern } from "../values/types/file-type.ts";
import type { Key } from "../values/types/key.ts";

interface DownloadPlan {
  readonly write: WritePlan;
  readonly read: ReadPlan;
  /** Columns of what is read that hold files; at least one. */
  readonly fields: Columns;
  /** The key's columns in what is read. */
  readonly key: Key;
}

interface DownloadRequest {
  readonly field: string;
  /** Null: the only one of the field. */
  readonly id: string | null;
}

export const fileDownload = defineAction<DownloadPlan, DownloadRequest>({
  name: "file-download",
  summary: "Answers a file of a record.",
  mode: "reads",
  methods: ["GET"],
  requires: ["key", "files"],
  errors: ["invalidParameter", "validationFailed"],

  needs({ write, read, files }) {
    const own = write && files.get(write.table.identity);
    if (!own || !read || !write.namesRecords) return null;
    const { source, columns } = read;
    const fields = new Map(
      [...columns].filter(([name, { type }]) => own.columns.has(name) && type === "file"),
    );
    const key = write.key.flatMap(({ name }) => source.columns.get(name) ?? []);
    return fields.size === 0 || key.length < write.key.length ? null : { write, read, fields, key };
  },
  sourceOf: ({ read }) => read.source,
  grammar: downloadRequest,
  answer: () => ({ status: 200, mediaTypes: ["*/*"], hasEtag: true }),

  async run({ input, body, entity, session, files }, { write, read, fields, key }) {
    const { field, id } = input;
    const column = fields.get(field)!;
    const keyValue = keyOf({ body, entity }, write.key);
    const row = await session.one(
      selectFrom(read.source, { columns: [column], where: keyIs(key, keyValue), limit: 1 }),
    );
    if (row === null) throw noSuchRecord(entity);
    const entries = entriesIn(row[field]);
    if (id === null && entries.length > 1)
      throw invalidPayload(`${parameterNames(write).id} is required: the field has several files`);
    const entry = id === null ? entries[0] : entries.find((one) => one.id === id);
    if (!entry) throw unknownFile();
    const { ledger, own } = await files.open();
    const file = (await findFiles({ ledger, own }, [entry.id], { lock: false })).get(entry.id);
    const isOfField = file?.table === write.table.identity && file.column === field;
    if (!file?.isWhole || !isOfField) throw unknownFile();
    const stored = await files.storage.info(fileKey(file));
    if (!stored) throw unknownFile();
    files.report({ outcome: "downloaded", bytes: stored.bytes });
    return {
      status: 200,
      body: {},
      file: {
        name: file.name,
        mediaType: mediaTypeOf(file.type),
        bytes: stored.bytes,
        etag: `"${file.sha256}"`,
        isInline: isShownInline(file.type),
        read: (range) => files.storage.read(stored.key, range),
      },
    };
  },
});

const unknownFile = () => notFound("The record has no such file");

/** Texts are UTF-8 wherever they are no UTF-16, whose byte order mark tells. Pages say it themselves. */
const mediaTypeOf = (type: string): string =>
  type.startsWith("text/") && type !== "text/html" ? `${type}; charset=utf-8` : type;

/** The names of the two parameters: others where a column of the key has the usual ones. */
export function parameterNames({ keyColumns }: Pick<WritePlan, "keyColumns">): {
  readonly field: string;
  readonly id: string;
} {
  return {
    field: keyColumns.has("field") ? "file_field" : "field",
    id: keyColumns.has("id") ? "file_id" : "id",
  };
}

function downloadRequest({ write, fields }: DownloadPlan): Grammar<DownloadRequest> {
  const names = parameterNames(write);
  const known = [...fields.keys()];
  const isSingle = [...fields.values()].some(({ holdsMany }: Column) => !holdsMany);
  const field: Grammar<unknown> = unread(() => ({ enum: known }));
  const id: Grammar<unknown> = unread(() => ({ type: "string", pattern: fileIdPattern }));
  const parts = object(
    { ...keyMembers(write.key), [names.field]: field, [names.id]: id },
    { required: [...write.keyColumns.keys(), names.field, ...(isSingle ? [] : [names.id])] },
  );
  return meaning(parts, (sent) => {
    const asked = (sent as Record<string, unknown>)[names.field];
    if (asked === undefined || asked === "") throw invalidPayload(`${names.field} is required`);
    if (typeof asked !== "string" || !fields.has(asked)) {
      const near = typeof asked === "string" ? closest(asked, known) : null;
      throw invalidParameter(
        `${names.field} must be a field for files${near === null ? "" : `; did you mean ${JSON.stringify(near)}?`}`,
      );
    }
    const given = (sent as Record<string, unknown>)[names.id];
    if (given === undefined || given === "") return { field: asked, id: null };
    if (typeof given !== "string") throw invalidPayload(`${names.id} must be text`);
    return { field: asked, id: given };
  });
}
