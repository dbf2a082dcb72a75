/**
 * The small parts of a workbook besides its sheets: its contents, the names of the sheets, and the styles (a bold
 * heading, and one per number format).
 */
import { escapeText } from "./sheet-text.ts";

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageRelations = "http://schemas.openxmlformats.org/package/2006/relationships";
const types = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/** A sheet that was written: `filter` is the area of its autofilter, such as `$A$1:$C$10`. */
export interface WrittenSheet {
  readonly name: string;
  readonly filter: string;
}

/** The style of the heading row; the styles of number formats follow it, 0 is the usual one. */
export const headingStyle = 1;
/** The first style of a number format. */
export const firstFormatStyle = 2;

/** Path in the archive of the sheet with this index, from 0. */
export const sheetPath = (index: number): string => `xl/worksheets/sheet${index + 1}.xml`;

/** The location of the workbook. */
export const rootRelationsXml = (): string =>
  `${head}<Relationships xmlns="${packageRelations}">${relation(1, "officeDocument", "xl/workbook.xml")}</Relationships>`;

/** The locations of sheets and styles. */
export function workbookRelationsXml(sheetCount: number): string {
  const sheets = Array.from({ length: sheetCount }, (_, at) =>
    relation(at + 2, "worksheet", sheetPath(at).slice("xl/".length)),
  );
  return `${head}<Relationships xmlns="${packageRelations}">${relation(1, "styles", "styles.xml")}${sheets.join("")}</Relationships>`;
}

const relation = (id: number, type: string, target: string): string =>
  `<Relationship Id="rId${id}" Type="${relations}/${type}" Target="${target}"/>`;

/** The type of each part. */
export function contentTypesXml(sheetCount: number): string {
  const part = (path: string, type: string): string =>
    `<Override PartName="/${path}" ContentType="${types}.${type}+xml"/>`;
  const sheets = Array.from({ length: sheetCount }, (_, at) => part(sheetPath(at), "worksheet"));
  return (
    `${head}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Default Extension="xml" ContentType="application/xml"/>' +
    `${part("xl/workbook.xml", "sheet.main")}${part("xl/styles.xml", "styles")}${sheets.join("")}</Types>`
  );
}

/** The list of the sheets. */
export function workbookXml(sheets: readonly WrittenSheet[]): string {
  const list = sheets.map(
    ({ name }, at) => `<sheet name="${escapeText(name)}" sheetId="${at + 1}" r:id="rId${at + 2}"/>`,
  );
  // Excel requires the area of an autofilter as a hidden name too.
  const names = sheets.map(
    ({ name, filter }, at) =>
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${at}" hidden="1">` +
      `'${escapeText(name.replaceAll("'", "''"))}'!${filter}</definedName>`,
  );
  return (
    `${head}<workbook xmlns="${main}" xmlns:r="${relations}"><bookViews><workbookView/></bookViews>` +
    `<sheets>${list.join("")}</sheets><definedNames>${names.join("")}</definedNames></workbook>`
  );
}

/** `codes`: the number formats in the order of their styles. */
export function stylesXml(codes: readonly string[]): string {
  const firstId = 164;
  const formats = codes.map(
    (code, at) => `<numFmt numFmtId="${firstId + at}" formatCode="${escapeText(code)}"/>`,
  );
  const style = (format: number, font: number): string =>
    `<xf numFmtId="${format}" fontId="${font}" fillId="0" borderId="0" xfId="0"` +
    `${format > 0 ? ' applyNumberFormat="1"' : ""}${font > 0 ? ' applyFont="1"' : ""}/>`;
  const styles = [style(0, 0), style(0, 1), ...codes.map((_, at) => style(firstId + at, 0))];
  const font = '<sz val="11"/><name val="Calibri"/><family val="2"/>';
  const numFmts = formats.length
    ? `<numFmts count="${formats.length}">${formats.join("")}</numFmts>`
    : "";
  return (
    `${head}<styleSheet xmlns="${main}">${numFmts}` +
    `<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts>` +
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="${styles.length}">${styles.join("")}</cellXfs>` +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>'
  );
}
