/**
 * file-upload: stores a file for a field of a record. It is a claim of the caller's, for this field, until a record gets
 * it or it expires.
 */
import { defineAction, type Upload } from "../calls/action.ts";
import { claimOwner } from "../files/claiming-session.ts";
import { countClaims, fileKey, forgetFile, noteArrival, noteClaim } from "../files/file-ledger.ts";
import { mediaTypeIn, matchesType } from "../files/file-kind.ts";
import type { RecordFiles } from "../files/record-files.ts";
import { type Grammar, whatever } from "../grammar/grammar.ts";
import type { FilesColumn } from "../plans/file-tables.ts";
import { closest } from "../values/closest.ts";
import {
  AppError,
  invalidFile,
  invalidParameter,
  invalidPayload,
  unavailable,
} from "../values/errors.ts";
import { wholeObject } from "../values/json-shapes.ts";
import { fileLimits } from "../values/file-limits.ts";
import { type FileEntry, fileEntrySchema } from "../values/types/file-type.ts";

interface UploadPlan {
  /** The identity of the table. */
  readonly table: string;
  /** Those that the caller may write; at least one. */
  readonly fields: ReadonlyMap<string, FilesColumn>;
}

export const fileUpload = defineAction<UploadPlan>({
  name: "file-upload",
  summary: "Stores a file, which a record can have from then on.",
  mode: "reads",
  methods: ["POST"],
  requires: ["key", "files"],
  errors: ["invalidFile", "invalidParameter", "tooManyRequests", "clientClosed"],
  takesEmptyBody: true,
  takesUpload: true,
  uploadFields: ["field"],

  needs({ write, files }) {
    const own = write && files.get(write.table.identity);
    if (!own) return null;
    const fields = new Map([...own.columns].filter(([name]) => write.writable.has(name)));
    return fields.size === 0 ? null : { table: write.table.identity, fields };
  },
  grammar: ({ fields }) => uploadBody([...fields.keys()]),
  answer: () => ({ status: 201, schema: fileEntrySchema }),

  async run({ upload, entity, files, caller, newId, now, digest }, { table, fields }) {
    if (!upload) throw invalidPayload("The file is missing");
    // The text may follow the file.
    const early = upload.fields.has("field") ? fieldOf(upload, fields) : null;
    const owner = claimOwner(caller, digest);
    const arrived = now();
    const ledger = await files.open();
    if ((await countClaims(ledger, { owner, now: arrived })) >= fileLimits.claimsMax)
      throw new AppError(
        "tooManyRequests",
        `You have ${fileLimits.claimsMax} uploaded files that belong to no record; give them to records, or wait until they expire`,
      );
    const id = newId();
    const name = fileNameOf(upload.name);
    const { project } = entity;
    const expiresAt = new Date(Date.parse(arrived) + fileLimits.claimMs).toISOString();
    const place = { id, project, table, column: early?.column.name ?? "", name };
    // Before the file, so that one whose upload ends in the middle is found and removed.
    await noteArrival(ledger, { ...place, now: arrived, expiresAt });
    try {
      const takers = early === null ? [...fields.values()] : [early];
      const stored = await store(upload, { key: fileKey(place), name, takers, files });
      const taker = early ?? fieldOf(upload, fields);
      if (stored.bytes > taker.bytesMax)
        throw new AppError("payloadTooLarge", `The file must have at most ${taker.bytesMax} bytes`);
      mustTake(taker, stored.type);
      const entry: FileEntry = { id, name, ...stored };
      const column = taker.column.name;
      if (!(await noteClaim(await files.open(), { ...entry, column, owner })))
        throw unavailable("The file could not be stored; send it again");
      files.report({ outcome: "uploaded", bytes: entry.bytes });
      return { status: 201, body: { ...entry } };
    } catch (error) {
      await discard(files, place).catch(() => undefined);
      throw error;
    }
  },
});

/** The multipart body; its file is read separately. */
const uploadBody = (fields: readonly string[]): Grammar<unknown> => ({
  ...whatever,
  schema: () =>
    wholeObject({ field: { enum: [...fields] }, file: { type: "string", format: "binary" } }),
});

/** Rejects for a name that is none of the caller's. */
function fieldOf({ fields: sent }: Upload, fields: UploadPlan["fields"]): FilesColumn {
  const name = sent.get("field");
  if (name === undefined || name === "")
    throw invalidPayload("field is required, the name of a field for files");
  const column = fields.get(name);
  if (column) return column;
  const near = closest(name, fields.keys());
  throw invalidParameter(
    `field must be a field for files${near === null ? "" : `; did you mean ${JSON.stringify(near)}?`}`,
  );
}

/**
 * What the client calls the file, without what could mislead a person or a program. Never empty, at most
 * `fileLimits.nameLengthMax` characters; the end of a long name, with its extension, is kept.
 */
function fileNameOf(sent: string): string {
  const last = sent.toWellFormed().split(/[/\\]/).at(-1) ?? "";
  const plain = last
    // Control characters, and those that turn the direction of a text: `gpj.exe` would read `exe.jpg`.
    .replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, "")
    .replace(/\s+/g, " ")
    .replace(/^[ .]+|(?<![ .])[ .]+$/g, "");
  const letters = [...plain];
  const excess = letters.length - fileLimits.nameLengthMax;
  const name = excess > 0 ? letters.slice(excess).join("") : plain;
  return name === "" ? "file" : name;
}

interface Storing {
  readonly key: string;
  readonly name: string;
  /** The columns that it may be for. */
  readonly takers: readonly FilesColumn[];
  readonly files: RecordFiles;
}

/** Rejects for a type that the column does not take. */
function mustTake({ column, types }: FilesColumn, type: string): void {
  if (types !== null && !matchesType(type, types))
    throw invalidFile(
      `The file is ${type} by its content; ${column.name} takes ${types.join(", ")}`,
    );
}

/** Rejects, and leaves nothing, if none of the columns takes so large a file, or the only one not its type. */
async function store(
  { bytes }: Upload,
  { key, name, takers, files }: Storing,
): Promise<Omit<FileEntry, "id" | "name">> {
  const hash = files.hashing();
  let type = "";
  let size = 0;
  async function* checked(): AsyncGenerator<Uint8Array> {
    const source = bytes[Symbol.asyncIterator]();
    try {
      const head: Uint8Array[] = [];
      let headBytes = 0;
      let step = await source.next();
      while (!step.done && headBytes < fileLimits.headBytes) {
        head.push(step.value);
        headBytes += step.value.byteLength;
        if (headBytes < fileLimits.headBytes) step = await source.next();
      }
      type = mediaTypeIn(joined(head, headBytes).subarray(0, fileLimits.headBytes), name);
      if (takers.length === 1) mustTake(takers[0]!, type);
      yield* head.map(counted);
      if (!step.done)
        for (;;) {
          const next = await source.next();
          if (next.done) return;
          yield counted(next.value);
        }
    } finally {
      await source.return?.();
    }
  }
  function counted(chunk: Uint8Array): Uint8Array {
    size += chunk.byteLength;
    hash.update(chunk);
    return chunk;
  }
  const maxBytes = Math.max(...takers.map(({ bytesMax }) => bytesMax));
  await files.storage.write(key, checked(), { maxBytes });
  return { type, bytes: size, sha256: hash.hex() };
}

function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

async function discard(
  files: RecordFiles,
  place: { readonly id: string; readonly project: string },
): Promise<void> {
  await files.storage.remove(fileKey(place));
  await forgetFile(await files.open(), place.id);
}
