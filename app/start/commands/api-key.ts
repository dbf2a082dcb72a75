/** `rowgate key`: creates an API key, which is shown once, and the entry for project.json that accepts it. */
import { createHash, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { type JsonText, readJsonText } from "../../../core/config/reading/json-text.ts";
import { isObject } from "../../../core/values/json.ts";

const usage = `Usage: rowgate key --id <user> --roles <role,role> [--claims '<JSON object>']`;

/** The output of the command. Throws an Error that says what is wrong with the arguments. */
export function newApiKey(args: readonly string[]): string {
  const { id, roles, claims } = read(args);
  // 256 random bits cannot be guessed, so a fast hash is sufficient.
  const key = `rgk_${randomBytes(32).toString("base64url")}`;
  const sha256 = createHash("sha256").update(key).digest("hex");
  const entry = { id, sha256, roles, ...(claims && { claims }) };
  return `The key, which is shown this once:

  ${key}

Clients send it in the header X-Api-Key. The entry for "auth": {"apiKeys": [ … ]} in project.json:

  ${JSON.stringify(entry)}
${roles.length === 0 ? withoutRoles : ""}`;
}

const withoutRoles = `
The key has no roles, so it may only use what "access" allows to "*". Name its roles with --roles.
`;

interface KeyOptions {
  readonly id: string;
  readonly roles: readonly string[];
  readonly claims: Record<string, unknown> | null;
}

function read(args: readonly string[]): KeyOptions {
  const { id, roles = "", claims } = optionsOf(args);
  if (id === undefined || id === "") throw new Error(`--id is missing\n${usage}`);
  const names = roles.split(",").map((role) => role.trim());
  return {
    id,
    roles: names.filter((role) => role !== ""),
    claims: claims === undefined ? null : claimsOf(claims),
  };
}

function optionsOf(args: readonly string[]) {
  try {
    const text = { type: "string" } as const;
    return parseArgs({ args: [...args], options: { id: text, roles: text, claims: text } }).values;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${usage}`, { cause: error });
  }
}

/** Parsed like project.json, which the entry is for: a number that would lose digits is refused, not rounded. */
function claimsOf(text: string): Record<string, unknown> {
  let slip: JsonText["slips"][number] | undefined;
  try {
    const { value, slips } = readJsonText(text);
    slip = slips[0];
    if (slip === undefined && isObject(value)) return value;
  } catch {
    // Reported below.
  }
  if (slip) throw new Error(`--claims: found ${slip.found}, expected ${slip.expected}\n${usage}`);
  throw new Error(`--claims must be a JSON object, as {"tenant": "t1"}\n${usage}`);
}
