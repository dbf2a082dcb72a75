/** The list of the console's files, and their addresses, which change with the content of the files. */
import type { ConsolePaths } from "./console-page.ts";

/** Packages whose files the console sends, by the name under which its modules import them. */
export const vendorFiles: Readonly<Record<string, { package: string; file: string }>> = {
  "vendor/datatables.js": { package: "datatables.net", file: "js/dataTables.min.mjs" },
  "vendor/tom-select.js": { package: "tom-select", file: "dist/js/tom-select.complete.min.js" },
};

/** In this order, because later styles override earlier ones. */
const styles: readonly string[] = [
  "base",
  "frame",
  "controls",
  "lists",
  "grid",
  "drop-downs",
  "records",
  "editing",
  "views",
  "home",
  "narrow",
  "charts",
];

/** Modules that are loaded with the first view that needs them. */
const isLater = (name: string): boolean =>
  /^(?:vendor|views|charts|editing|grid|records)\//.test(name);

/** Of the console's files, those of its folder. */
export const clientPatterns: readonly string[] = ["**/*.{js,css}", "words/*.json"];

/** The language of a file of texts: `words/de.json`. */
const languageOf = (name: string): string[] => /^words\/([\w-]+)\.json$/.exec(name)?.slice(1) ?? [];

/** The name of the media type of a file. */
export const mediaKindOf = (name: string): "css" | "js" | "json" =>
  name.endsWith(".css") ? "css" : name.endsWith(".json") ? "json" : "js";

/** `names`: of all files, relative to `folder`. */
export const pathsOf = (folder: string, names: readonly string[]): ConsolePaths => ({
  styles: styles.map((name) => `${folder}styles/${name}.css`),
  start: `${folder}main.js`,
  modules: names
    .filter((name) => name.endsWith(".js") && !isLater(name))
    .toSorted()
    .map((name) => folder + name),
  languages: names.flatMap(languageOf).toSorted(),
});
