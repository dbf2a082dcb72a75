/** The texts that a workbook's cells share. Their size is limited, as they stay in memory while rows are read. */
import { unescapeText } from "./sheet-text.ts";
import { InvalidWorkbook } from "./invalid-workbook.ts";
import { type Archive, readPart } from "./xml-part.ts";
import type { InflateLimits } from "./zip-member.ts";

/** Beside its characters each takes some 40 bytes. */
const stringsMax = 3_000_000;

/** The texts by their number. */
export async function readSharedStrings(
  archive: Archive,
  { path, limits }: { path: string; limits: InflateLimits },
): Promise<readonly string[]> {
  const strings: string[] = [];
  const collector = collectText();
  await readPart(archive, path, {
    root: "sst",
    limits,
    handler: {
      open(name) {
        if (name === "si") collector.begin();
        else collector.open(name);
      },
      text: collector.text,
      close(name) {
        if (name !== "si") return collector.close(name);
        if (strings.length >= stringsMax)
          throw new InvalidWorkbook(`The workbook has more than ${stringsMax} different texts`);
        strings.push(ownText(unescapeText(collector.take())));
      },
    },
  });
  return strings;
}

/** Joins the texts of a string and of its runs; the phonetic ones (`rPh`) are not part of it. */
export function collectText(): {
  begin(): void;
  open(name: string): void;
  text(text: string): void;
  close(name: string): void;
  take(): string;
} {
  let joined = "";
  let isText = false;
  let phonetic = 0;
  return {
    begin() {
      joined = "";
      isText = false;
      phonetic = 0;
    },
    open(name) {
      if (name === "rPh") phonetic++;
      if (name === "t") isText = phonetic === 0;
    },
    text(text) {
      if (isText) joined += text;
    },
    close(name) {
      if (name === "rPh") phonetic--;
      if (name === "t") isText = false;
    },
    take: () => joined,
  };
}

/** A copy of the text with its own memory: a substring would keep the whole piece of the file alive. */
export function ownText(text: string): string {
  // Shorter ones are copied anyway.
  return text.length < 13 ? text : ` ${text}`.slice(1);
}
