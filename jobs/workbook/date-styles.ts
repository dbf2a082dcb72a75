/** Which styles of a workbook show a number as a date. */
import type { DateKind } from "./serial-date.ts";
import { type Archive, readPart } from "./xml-part.ts";
import { readAttributes } from "./xml-scanner.ts";
import type { InflateLimits } from "./zip-member.ts";

/** By the number of the style; null: shows no date. */
export type DateStyles = readonly (DateKind | null)[];

/** More styles than a workbook can have. */
const stylesMax = 70_000;

/** By the number of the style. Rejects with `InvalidWorkbook`. */
export async function readDateStyles(
  archive: Archive,
  { path, limits }: { path: string; limits: InflateLimits },
): Promise<DateStyles> {
  const kinds = new Map<string, DateKind | null>();
  const formats: string[] = [];
  let isInCells = false;
  await readPart(archive, path, {
    root: "styleSheet",
    limits,
    handler: {
      open(name, attributes) {
        if (name === "cellXfs") isInCells = true;
        if (name !== "numFmt" && !(name === "xf" && isInCells)) return;
        const found = readAttributes(attributes);
        const id = found.get("numFmtId") ?? "0";
        if (name === "xf" && formats.length < stylesMax) formats.push(id);
        // Once, not for each style that names it: formats may be long.
        if (name === "numFmt" && kinds.size < stylesMax)
          kinds.set(id, dateKindOf(found.get("formatCode") ?? ""));
      },
      close(name) {
        if (name === "cellXfs") isInCells = false;
      },
    },
  });
  return formats.map((id) => {
    const kind = kinds.get(id);
    return kind === undefined ? builtInKind(Number(id)) : kind;
  });
}

/** What a number format shows of a date; null when it shows a number. */
export function dateKindOf(code: string): DateKind | null {
  // The first section is for positive numbers. Texts, escapes, fillers and conditions are irrelevant.
  const plain = code.replace(/"[^"]*"|\\.|[_*]./g, "").split(";")[0]!;
  const isDuration = /\[(?:h+|m+|s+)\]/i.test(plain);
  const letters = plain.replace(/\[[^\]]*(?:\]|$)|general/gi, "").toLowerCase();
  if (isDuration) return "duration";
  const hasTime = /[hs]/.test(letters);
  const hasDate = /[yd]/.test(letters) || (!hasTime && letters.includes("m"));
  if (hasDate) return hasTime ? "datetime" : "date";
  return hasTime ? "time" : null;
}

/** Formats that files name only by number; those from 27 on are the dates of East Asian versions. */
function builtInKind(id: number): DateKind | null {
  if (id === 22) return "datetime";
  if (id === 46) return "duration";
  if ((id >= 18 && id <= 21) || (id >= 32 && id <= 35) || id === 45 || id === 47) return "time";
  if ((id >= 14 && id <= 17) || (id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return "date";
  return null;
}
