/** The files of the service's own pages. Their names contain a hash of their content, so they can be cached forever. */
import { hashOf } from "../../core/values/hash.ts";
import { mark, styleSheet } from "./style.ts";

export interface PageFile {
  readonly mediaType: string;
  readonly content: string;
}

const nameOf = (stem: string, { content }: PageFile, ending: string): string =>
  `${stem}-${hashOf(content)}.${ending}`;

const style: PageFile = { mediaType: "text/css; charset=utf-8", content: styleSheet };
const icon: PageFile = { mediaType: "image/svg+xml; charset=utf-8", content: mark };

/** Relative to the root of the service. */
export const stylePath = `assets/${nameOf("rowgate", style, "css")}`;
export const iconPath = `assets/${nameOf("rowgate", icon, "svg")}`;

/** By path, without a slash before it. */
export const pageFiles: ReadonlyMap<string, PageFile> = new Map([
  [stylePath, style],
  [iconPath, icon],
]);
