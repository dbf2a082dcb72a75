/**
 * A workbook as LibreOffice opens it: LibreOffice writes the document as one XML file with each cell's value, type and
 * displayed text.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { inject } from "vitest";
import { runAside } from "../running/run-aside.ts";

export interface OpenedCell {
  readonly type: "string" | "float" | "date";
  /** The text itself, the number's digits, `YYYY-MM-DD[THH:mm:ss.ss]`. */
  readonly value: string;
  /** What a person sees. */
  readonly shown: string;
  readonly formula: string | null;
  /** What pops up beside it. */
  readonly note: string | null;
}

export interface OpenedSheet {
  readonly name: string;
  /** Rows and cells that are empty stand as null where something follows them. */
  readonly rows: readonly (readonly (OpenedCell | null)[])[];
  /** What its cells are restricted to; of all sheets. */
  readonly lists: readonly string[];
}

/** Every sheet, with the rows down to the last one that holds something. */
export async function openInLibreOffice(workbook: Uint8Array): Promise<OpenedSheet[]> {
  const program = inject("soffice");
  if (!program) throw new Error('LibreOffice was not looked for: use "npm run test:office".');
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-office-"));
  try {
    await writeFile(join(folder, "book.xlsx"), workbook);
    // A separate profile: a LibreOffice that already runs with the same one would take or refuse the request.
    const profile = `-env:UserInstallation=${pathToFileURL(join(folder, "profile"))}`;
    const args = [profile, "--headless", "--convert-to", "fods", "--outdir", folder];
    const { stdout, stderr } = await runAside(program, [...args, join(folder, "book.xlsx")]);
    const xml = await readFile(join(folder, "book.fods"), "utf8").catch(() => null);
    if (xml === null) throw new Error(`LibreOffice does not open it:\n${stdout}\n${stderr}`);
    return sheetsOf(xml);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function sheetsOf(xml: string): OpenedSheet[] {
  const lists = [...xml.matchAll(/<table:content-validation [^>]*?table:condition="([^"]*)"/g)];
  return [...xml.matchAll(/<table:table ([^>]*)>([^]*?)<\/table:table>/g)].map(
    ([, attributes = "", content = ""]) => ({
      name: attribute(attributes, "table:name") ?? "",
      rows: rowsOf(content),
      lists: lists.map(([, condition]) => unescape(condition!)),
    }),
  );
}

/** What is repeated up to the edge of the sheet is empty. */
const repeatedMax = 1_000;

function rowsOf(sheet: string): (OpenedCell | null)[][] {
  const rows: (OpenedCell | null)[][] = [];
  for (const [, attributes = "", content = ""] of sheet.matchAll(
    /<table:table-row( [^>]*)?>([^]*?)<\/table:table-row>/g,
  )) {
    const times = Number(attribute(attributes, "table:number-rows-repeated") ?? 1);
    if (times > repeatedMax) continue;
    const row = cellsOf(content);
    for (let count = 0; count < times; count++) rows.push(row);
  }
  while (rows.at(-1)?.length === 0) rows.pop();
  return rows;
}

function cellsOf(row: string): (OpenedCell | null)[] {
  const cells: (OpenedCell | null)[] = [];
  for (const [, attributes = "", content = ""] of row.matchAll(
    /<table:table-cell((?: [^>]*?)?)(?:\/>|>([^]*?)<\/table:table-cell>)/g,
  )) {
    const times = Number(attribute(attributes, "table:number-columns-repeated") ?? 1);
    const cell = cellOf(attributes, content);
    if (cell === null && times > repeatedMax) continue;
    for (let count = 0; count < times; count++) cells.push(cell);
  }
  while (cells.at(-1) === null) cells.pop();
  return cells;
}

function cellOf(attributes: string, content: string): OpenedCell | null {
  const type = attribute(attributes, "office:value-type") as OpenedCell["type"] | null;
  if (type === null) return null;
  const [annotation = ""] = /<office:annotation [^]*?<\/office:annotation>/.exec(content) ?? [];
  const shown = textOf(content.replace(annotation, ""));
  const names = { string: "office:string-value", float: "office:value", date: "office:date-value" };
  const value = attribute(attributes, names[type]) ?? shown;
  const note = annotation === "" ? null : textOf(annotation);
  return { type, value, shown, formula: attribute(attributes, "table:formula"), note };
}

function attribute(attributes: string, name: string): string | null {
  const found = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes);
  return found ? unescape(found[1]!) : null;
}

/** Paragraphs are lines; blanks that XML would lose have elements. */
function textOf(content: string): string {
  const paragraphs = [...content.matchAll(/<text:p(?:\/>|[^>]*>([^]*?)<\/text:p>)/g)];
  const lines = paragraphs.map(([, text = ""]) =>
    text
      .replace(/<text:s(?: text:c="(\d+)")?\/>/g, (_, count = "1") => " ".repeat(Number(count)))
      .replaceAll("<text:tab/>", "\t")
      .replaceAll("<text:line-break/>", "\n")
      .replace(/<[^>]*>/g, ""),
  );
  return unescape(lines.join("\n"));
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

const unescape = (text: string): string =>
  text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (_, hex, decimal, name) =>
    name ? entities[name]! : String.fromCodePoint(hex ? parseInt(hex, 16) : Number(decimal)),
  );
