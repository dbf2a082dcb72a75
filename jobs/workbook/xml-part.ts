/** Reads a whole XML part of a workbook with one handler. */
import type { FileHandle } from "node:fs/promises";
import { InvalidWorkbook } from "./invalid-workbook.ts";
import { type XmlHandler, XmlScanner } from "./xml-scanner.ts";
import { partName, type ZipDirectory, type ZipEntry } from "./zip-directory.ts";
import { type InflateLimits, partText } from "./zip-member.ts";

/** An open file with what it holds. */
export interface Archive {
  readonly file: FileHandle;
  readonly directory: ZipDirectory;
}

/** The part that is read, and what reads it. */
export interface PartReading {
  /** The name of the outermost tag. */
  readonly root: string;
  readonly limits: InflateLimits;
  readonly handler: Partial<XmlHandler>;
}

/** Rejects with `InvalidWorkbook` when the part is missing, damaged or no XML with that root. */
export async function readPart(
  archive: Archive,
  path: string,
  reading: PartReading,
): Promise<void> {
  const { root, limits, handler } = reading;
  const entry = entryOf(archive.directory, path);
  const whole: XmlHandler = { open: nothing, close: nothing, text: nothing, ...handler };
  const scanner = new XmlScanner(whole, { part: root, root });
  for await (const text of partText(archive.file, { entry, limits })) scanner.write(text);
  scanner.end();
}

/** The member of that name; throws `InvalidWorkbook` when there is none. */
export function entryOf(directory: ZipDirectory, path: string): ZipEntry {
  const entry = directory.get(partName(path));
  if (!entry)
    throw new InvalidWorkbook("The file is not an xlsx workbook, or parts of it are missing");
  return entry;
}

const nothing = (): void => {};
