/**
 * Which part of the file is what: from the package's relations to the workbook, and from its list of sheets to the
 * first visible one. Names of parts are arbitrary, so none is guessed.
 */
import { InvalidWorkbook } from "./invalid-workbook.ts";
import { type Archive, readPart } from "./xml-part.ts";
import { readAttributes } from "./xml-scanner.ts";
import { partName } from "./zip-directory.ts";
import type { InflateLimits } from "./zip-member.ts";

/** Where the parts of a workbook are. */
export interface WorkbookMap {
  readonly sheetName: string;
  /** Paths of parts; null: the workbook has none. */
  readonly sheet: string;
  readonly styles: string | null;
  readonly strings: string | null;
  /** Whether days are counted from 1904. */
  readonly is1904: boolean;
}

/** Rejects with `InvalidWorkbook` when there is no sheet to read. */
export async function mapWorkbook(archive: Archive, limits: InflateLimits): Promise<WorkbookMap> {
  const packageRelations = await readRelations(archive, { path: "_rels/.rels", limits });
  const workbook = packageRelations.find(({ type }) => type === "officeDocument")?.target;
  if (workbook === undefined) throw noWorkbook();
  if (workbook.endsWith(".bin"))
    throw new InvalidWorkbook("The file is in the binary xlsb format; save it as xlsx");
  const relations = await readRelations(archive, { path: relationsOf(workbook), limits });
  const { sheets, is1904 } = await readWorkbook(archive, { path: workbook, limits });
  const targetOf = (type: string): string | null =>
    relations.find((relation) => relation.type === type)?.target ?? null;
  for (const { name, id, isVisible } of sheets) {
    const relation = relations.find((one) => one.id === id);
    if (!isVisible || relation?.type !== "worksheet") continue;
    return {
      sheetName: name,
      sheet: relation.target,
      styles: targetOf("styles"),
      strings: targetOf("sharedStrings"),
      is1904,
    };
  }
  throw new InvalidWorkbook("The workbook has no visible sheet");
}

interface Relation {
  readonly id: string;
  /** The last word of its type: strict and usual files differ in the part before it. */
  readonly type: string;
  readonly target: string;
}

const relationsMax = 10_000;

async function readRelations(
  archive: Archive,
  { path, limits }: { path: string; limits: InflateLimits },
): Promise<Relation[]> {
  const relations: Relation[] = [];
  const base = path.slice(0, path.lastIndexOf("_rels/"));
  await readPart(archive, path, {
    root: "Relationships",
    limits,
    handler: {
      open(name, attributes) {
        if (name !== "Relationship" || relations.length >= relationsMax) return;
        const found = readAttributes(attributes);
        const type = found.get("Type") ?? "";
        relations.push({
          id: found.get("Id") ?? "",
          type: type.slice(type.lastIndexOf("/") + 1),
          target: resolveTarget(base, found.get("Target") ?? ""),
        });
      },
    },
  });
  return relations;
}

/** A target is relative to the folder of its source, or begins with a slash. */
function resolveTarget(base: string, target: string): string {
  const path = target.startsWith("/") ? target : base + target;
  const steps: string[] = [];
  for (const step of partName(path).split("/")) {
    if (step === "..") steps.pop();
    else if (step !== "." && step !== "") steps.push(step);
  }
  return steps.join("/");
}

function relationsOf(part: string): string {
  const folderEnd = part.lastIndexOf("/") + 1;
  return `${part.slice(0, folderEnd)}_rels/${part.slice(folderEnd)}.rels`;
}

interface Sheet {
  readonly name: string;
  readonly id: string;
  readonly isVisible: boolean;
}

async function readWorkbook(
  archive: Archive,
  { path, limits }: { path: string; limits: InflateLimits },
): Promise<{ sheets: Sheet[]; is1904: boolean }> {
  const sheets: Sheet[] = [];
  let is1904 = false;
  await readPart(archive, path, {
    root: "workbook",
    limits,
    handler: {
      open(name, attributes) {
        if (name === "workbookPr")
          is1904 = /^(?:1|true)$/.test(readAttributes(attributes).get("date1904") ?? "");
        if (name !== "sheet" || sheets.length >= relationsMax) return;
        const found = readAttributes(attributes);
        sheets.push({
          name: found.get("name") ?? "",
          id: found.get("id") ?? "",
          isVisible: (found.get("state") ?? "visible") === "visible",
        });
      },
    },
  });
  return { sheets, is1904 };
}

const noWorkbook = (): InvalidWorkbook => new InvalidWorkbook("The file is not an xlsx workbook");
