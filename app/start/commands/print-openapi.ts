/**
 * `rowgate openapi`: the OpenAPI document of the configuration, as a caller with every permission sees it, or a
 * collection of requests made from it. `rowgate client`: typed client code for one project. Both work without a running
 * service.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { formatFaults } from "../../../core/config/reading/faults.ts";
import type { ConfigFiles } from "../../../core/config/reading/read-config.ts";
import {
  type DescribedProject,
  describeProject,
  describeProjects,
  wholeView,
} from "../../../core/openapi/describe.ts";
import { postmanCollection } from "../../clients/postman.ts";
import { inVersion } from "../../../core/openapi/openapi-30.ts";
import { checkConfig } from "./check-config.ts";
import { importFrom } from "../settings/component-modules.ts";
import { readConfigFiles } from "../settings/config-files.ts";
import { createEnvFiles } from "../settings/env-file.ts";
import { parseEnv } from "../settings/env.ts";
import { clientCode } from "../../clients/client-code.ts";

const usage =
  "Usage: rowgate openapi [--project <name>] [--format openapi|postman] [--version 3.1|3.0] [--out <file>] [--env-file <file>]";

/**
 * Writes the document to the file of `--out` and returns a confirmation, or without `--out` returns the document.
 * Rejects with an Error for other arguments, an unknown project, and a configuration or database that cannot be used.
 */
export async function printOpenApi(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<string> {
  const { project, out, format = "openapi", version } = documentOptions(args, { usage, env });
  if (!["openapi", "postman"].includes(format))
    throw new Error(`There is no format ${JSON.stringify(format)}\n${usage}`);
  if (version !== undefined && !["3.1", "3.0"].includes(version))
    throw new Error(`There is no version ${JSON.stringify(version)}\n${usage}`);
  if (version !== undefined && format !== "openapi")
    throw new Error(`--version is of OpenAPI documents\n${usage}`);
  const projects = await compiledProjects(env, { name: project, usage });
  const serverUrl = `http://localhost:${parseEnv(env).port}`;
  const document =
    project === undefined
      ? await describeProjects(projects, { serverUrl })
      : await describeProject(projects[0]!, { serverUrl });
  const printed =
    format === "postman"
      ? postmanCollection(document, project ?? "Rowgate")
      : await inVersion(document, version);
  const text = `${JSON.stringify(printed, null, 2)}\n`;
  if (out === undefined) return text;
  await writeOut(out, text);
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  return `Wrote ${out}: ${operations.length} operations\n`;
}

interface Arguments {
  readonly project?: string;
  readonly out?: string;
  readonly format?: string;
  readonly version?: string;
}

/** Parses the arguments, and adds the variables of their files to `env`. Throws an Error with the usage. */
function documentOptions(
  args: readonly string[],
  {
    usage: help,
    env,
  }: { readonly usage: string; readonly env: Record<string, string | undefined> },
): Arguments {
  try {
    const text = { type: "string" } as const;
    const options = { project: text, out: text, format: text, version: text } as const;
    const envFile = { ...text, multiple: true } as const;
    const { values } = parseArgs({ args: [...args], options: { ...options, "env-file": envFile } });
    const { "env-file": files = [], ...others } = values;
    createEnvFiles(files, env)().apply();
    return others;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${help}`, { cause: error });
  }
}

/**
 * The projects of the configuration, compiled against their databases; with a name that one alone, whatever is wrong
 * with the others.
 */
async function compiledProjects(
  env: Readonly<Record<string, string | undefined>>,
  { name, usage: help }: { readonly name: string | undefined; readonly usage: string },
): Promise<readonly DescribedProject[]> {
  const { configDir } = parseEnv(env);
  const all = await readConfigFiles(configDir);
  const files = name === undefined ? all : filesOf(all, { name, usage: help });
  const importComponent = importFrom(configDir);
  const { projects, faults, unreachable } = await checkConfig({ files, env, importComponent });
  const problems = [
    ...(faults.length > 0 ? [formatFaults(faults)] : []),
    ...unreachable.map(({ sentence }) => sentence),
  ];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return projects.map((one) => ({ ...one, viewOf: wholeView }));
}

/** Throws an Error with the names of the projects that there are. */
function filesOf(
  files: ConfigFiles,
  { name, usage: help }: { readonly name: string; readonly usage: string },
): ConfigFiles {
  const projectOf = (path: string): string => path.slice(0, path.indexOf("/"));
  const own = new Map([...files].filter(([path]) => projectOf(path) === name));
  if (own.size > 0) return own;
  const names = [...new Set([...files.keys()].map(projectOf))].toSorted().join(", ");
  throw new Error(`There is no project ${JSON.stringify(name)}; there are: ${names}\n${help}`);
}

/** Rejects with an Error that says what to do if the file cannot be written. */
const writeOut = (out: string, text: string): Promise<void> =>
  writeFile(out, text).catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      `${out} cannot be written (${error.code}); name a file in a folder that exists after --out`,
      { cause: error },
    );
  });

const clientUsage = "Usage: rowgate client --out <file.ts> [--project <name>] [--env-file <file>]";

/**
 * Writes the client to the file of `--out` and returns what to print. Rejects with an Error for other arguments, an
 * unknown project, no named project where there are several, and a configuration or database that cannot be used.
 */
export async function writeClient(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<string> {
  const { project: name, out } = documentOptions(args, { usage: clientUsage, env });
  if (out === undefined) throw new Error(`--out is required: the file to write\n${clientUsage}`);
  const projects = await compiledProjects(env, { name, usage: clientUsage });
  const [project, ...others] = projects;
  if (!project || others.length > 0) {
    const names = projects.map((one) => one.name).join(", ");
    throw new Error(`--project is required, because there are several: ${names}\n${clientUsage}`);
  }
  await writeOut(out, clientCode(await describeProject(project), `the project ${project.name}`));
  return `Wrote ${out}: a client for the project ${project.name}\n`;
}
