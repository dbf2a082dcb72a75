/**
 * Imports the components of projects, and imports them again after their files have changed. Runtimes keep every module
 * they loaded, so a changed module gets another address (`code.ts?version=…`). Earlier versions stay in memory.
 */
import { hash } from "node:crypto";
import module from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ImportComponent } from "../../../core/config/compiling/components-plan.ts";
import type { ConfigFiles } from "../../../core/config/reading/read-config.ts";

/** Imports the components of a folder as they are in these files. */
export type OpenComponents = (files: ConfigFiles) => ImportComponent;

interface Versions {
  /** What the modules without a version in their address were loaded from. */
  readonly first: string;
  /** By content: how often it could not be loaded. Runtimes keep failures, too. */
  readonly failures: Map<string, number>;
  /** The version that was imported last. */
  current: string;
}

/** `folder`: the configuration folder. */
export function createComponents(folder: string): OpenComponents {
  const projects = new Map<string, Versions>();
  let isHooked = false;

  return (files) => {
    const contents = new Map<string, string>();
    return async (path) => {
      const [project = ""] = path.split("/", 1);
      const content = contents.get(project) ?? contentOf(files, project);
      contents.set(project, content);
      const known = projects.get(project) ?? newVersions(content);
      projects.set(project, known);
      const failures = known.failures.get(content) ?? 0;
      const url = pathToFileURL(resolve(folder, path));
      if (content !== known.first || failures > 0) {
        url.searchParams.set("version", `${content}.${failures}`);
        isHooked ||= versionImports(folder);
        if (known.current !== url.search) forgetModules(resolve(folder, project));
        known.current = url.search;
      }
      try {
        return (await import(url.href)) as Readonly<Record<string, unknown>>;
      } catch (error) {
        known.failures.set(content, failures + 1);
        throw error;
      }
    };
  };
}

const newVersions = (first: string): Versions => ({ first, failures: new Map(), current: "" });

/** On Bun, module addresses have no version, but a module that is removed from the cache is loaded again. */
function forgetModules(folder: string): void {
  if (!("Bun" in globalThis)) return;
  const { cache } = module.createRequire(import.meta.url);
  for (const path of Object.keys(cache)) if (path.startsWith(folder)) delete cache[path];
}

/** Changes with every component of the project, because each can import the others. */
function contentOf(files: ConfigFiles, project: string): string {
  const own = [...files].filter(([path]) => path.startsWith(`${project}/components/`));
  return hash("sha256", JSON.stringify(own.toSorted(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 12);
}

/** Gives a component's imports from the folder the component's version. True: the hook is set, or does not exist. */
function versionImports(folder: string): true {
  const home = pathToFileURL(resolve(folder)).href;
  // Only Node has these hooks.
  (module as Partial<typeof module>).registerHooks?.({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const { parentURL = "" } = context;
      const version = parentURL.startsWith(home) ? new URL(parentURL).search : "";
      const isOwn = found.url.startsWith(`${home}/`) && !found.url.includes("/node_modules/");
      return version === "" || !isOwn ? found : { ...found, url: found.url + version };
    },
  });
  return true;
}

/** Imports a component by its path below the folder, as it is when it is first imported. */
export const importFrom =
  (folder: string): ImportComponent =>
  (path) =>
    import(pathToFileURL(resolve(folder, path)).href);
