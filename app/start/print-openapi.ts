/**
 * `rowgate openapi`: the OpenAPI document of the configuration, as somebody with every right would see it, or a collection of
 * requests made from it. No service has to run.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { formatFaults } from "../../core/config/faults.ts";
import {
  type DescribedProject,
  describeProject,
  describeProjects,
  type OpenApiDocument,
  wholeView,
} from "../../core/openapi/describe.ts";
import { postmanCollection } from "../clients/postman.ts";
import { checkConfig } from "./check-config.ts";
import { importFrom } from "./component-modules.ts";
import { readConfigFiles } from "./config-files.ts";
import { createEnvFiles } from "./env-file.ts";
import { parseEnv } from "./env.ts";

const usage =
  "Usage: rowgate openapi [--project <name>] [--format openapi|postman] [--out <file>] [--env-file <file>]";

/**
 * Writes the document to the file that the arguments name, and returns what to print: the document itself, or where it is.
 * Rejects with an Error for other arguments, an unknown project, and a configuration or database that cannot be used.
 */
export async function printOpenApi(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<string> {
  const { project, out, format = "openapi" } = documentOptions(args, { usage, env });
  if (!["openapi", "postman"].includes(format))
    throw new Error(`There is no format ${JSON.stringify(format)}\n${usage}`);
  const projects = await compiledProjects(env);
  const document = await documentOf(projects, {
    name: project,
    serverUrl: `http://localhost:${parseEnv(env).port}`,
  });
  const printed =
    format === "postman" ? postmanCollection(document, project ?? "Rowgate") : document;
  const text = `${JSON.stringify(printed, null, 2)}\n`;
  if (out === undefined) return text;
  await writeFile(out, text);
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  return `Wrote ${out}: ${operations.length} operations\n`;
}

interface Arguments {
  readonly project?: string;
  readonly out?: string;
  readonly format?: string;
}

/** Parses the arguments, and adds the variables of their files to `env`. Throws an Error with the usage. */
export function documentOptions(
  args: readonly string[],
  {
    usage: help,
    env,
  }: { readonly usage: string; readonly env: Record<string, string | undefined> },
): Arguments {
  try {
    const text = { type: "string" } as const;
    const options = { project: text, out: text, format: text } as const;
    const envFile = { ...text, multiple: true } as const;
    const { values } = parseArgs({ args: [...args], options: { ...options, "env-file": envFile } });
    const { "env-file": files = [], ...others } = values;
    createEnvFiles(files, env)().apply();
    return others;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${help}`, { cause: error });
  }
}

/** The projects of the configuration, compiled against their databases. */
export async function compiledProjects(
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly DescribedProject[]> {
  const { configDir } = parseEnv(env);
  const { projects, faults, unreachable } = await checkConfig({
    files: await readConfigFiles(configDir),
    env,
    importComponent: importFrom(configDir),
  });
  const problems = [
    ...(faults.length > 0 ? [formatFaults(faults)] : []),
    ...unreachable.map(({ sentence }) => sentence),
  ];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return projects.map((one) => ({ ...one, viewOf: wholeView }));
}

function documentOf(
  projects: readonly DescribedProject[],
  { name, serverUrl }: { readonly name: string | undefined; readonly serverUrl: string },
): Promise<OpenApiDocument> {
  if (name === undefined) return describeProjects(projects, { serverUrl });
  return describeProject(projectNamed(projects, { name, usage }), { serverUrl });
}

/** Throws an Error with the names that there are. */
export function projectNamed(
  projects: readonly DescribedProject[],
  { name, usage: help }: { readonly name: string; readonly usage: string },
): DescribedProject {
  const project = projects.find((one) => one.name === name);
  if (project) return project;
  const names = projects.map((one) => one.name).join(", ");
  throw new Error(`There is no project ${JSON.stringify(name)}; there are: ${names}\n${help}`);
}
