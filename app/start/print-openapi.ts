/** `rowgate openapi`: the OpenAPI document of the configuration, as somebody with every right would see it. No service has to run. */
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
import { checkConfig } from "./check-config.ts";
import { importFrom, readConfigFiles } from "./config-files.ts";
import { loadEnvFiles } from "./env-file.ts";
import { parseEnv } from "./env.ts";

const usage = "Usage: rowgate openapi [--project <name>] [--out <file>] [--env-file <file>]";

/**
 * Writes the document to the file that the arguments name, and returns what to print: the document itself, or where it is.
 * Rejects with an Error for other arguments, an unknown project, and a configuration or database that cannot be used.
 */
export async function printOpenApi(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<string> {
  const { project, out, "env-file": envFiles = [] } = optionsOf(args);
  loadEnvFiles(
    envFiles.map((file) => `--env-file=${file}`),
    env,
  );
  const projects = await compiledProjects(env);
  const document = await documentOf(projects, {
    name: project,
    serverUrl: `http://localhost:${parseEnv(env).port}`,
  });
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (out === undefined) return text;
  await writeFile(out, text);
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  return `Wrote ${out}: ${operations.length} operations\n`;
}

function optionsOf(args: readonly string[]) {
  try {
    const text = { type: "string" } as const;
    const options = { project: text, out: text, "env-file": { ...text, multiple: true } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${usage}`, { cause: error });
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
  const problems = [...(faults.length > 0 ? [formatFaults(faults)] : []), ...unreachable];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return projects.map((one) => ({ ...one, viewOf: wholeView }));
}

function documentOf(
  projects: readonly DescribedProject[],
  { name, serverUrl }: { readonly name: string | undefined; readonly serverUrl: string },
): Promise<OpenApiDocument> {
  if (name === undefined) return describeProjects(projects, { serverUrl });
  const project = projects.find((one) => one.name === name);
  if (project) return describeProject(project, { serverUrl });
  const names = projects.map((one) => one.name).join(", ");
  throw new Error(`There is no project ${JSON.stringify(name)}; there are: ${names}\n${usage}`);
}
