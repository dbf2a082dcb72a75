/** Keeps the address of a database in a file for `--env-file`. */
import { appendFile, readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import type { Address } from "./init-address.ts";

/** In the working folder. */
export const envPath = ".env";

/** Adds a line; a variable that the file has already is replaced by the later line. Nobody but the owner may read a new file. */
export async function keepInEnvFile({ variable, url }: Address): Promise<void> {
  const before = await readFile(envPath, "utf8").catch(() => "");
  if (variable === null || parseEnv(before)[variable] === url) return;
  const start = before === "" || before.endsWith("\n") ? "" : "\n";
  // Between single quotes nothing has a meaning of its own, and a URL can do without them.
  const line = `${variable}='${url.replaceAll("'", "%27")}'\n`;
  await appendFile(envPath, `${start}${line}`, { mode: 0o600 });
}
