/** `rowgate client`: typed client code for one project, written into a file. No service has to run. */
import { writeFile } from "node:fs/promises";
import { describeProject } from "../../core/openapi/describe.ts";
import { clientCode } from "../clients/client-code.ts";
import { compiledProjects, documentOptions, projectNamed } from "./print-openapi.ts";

const usage = "Usage: rowgate client --out <file.ts> [--project <name>] [--env-file <file>]";

/**
 * Writes the client to the file that the arguments name, and returns what to print. Rejects with an Error for other arguments, an
 * unknown project, several projects of which none is named, and a configuration or database that cannot be used.
 */
export async function writeClient(
  args: readonly string[],
  env: Record<string, string | undefined>,
): Promise<string> {
  const { project: name, out } = documentOptions(args, { usage, env });
  if (out === undefined) throw new Error(`--out is required: the file to write\n${usage}`);
  const projects = await compiledProjects(env);
  const [only] = projects;
  if (name === undefined && projects.length !== 1) {
    const names = projects.map((one) => one.name).join(", ");
    throw new Error(`--project is required, because there are several: ${names}\n${usage}`);
  }
  const project = projectNamed(projects, { name: name ?? only!.name, usage });
  await writeFile(out, clientCode(await describeProject(project), `the project ${project.name}`));
  return `Wrote ${out}: a client for the project ${project.name}\n`;
}
