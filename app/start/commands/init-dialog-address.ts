/** The questions about a database's address. A URL is hidden while it is typed, because it can contain a password. */
import * as prompts from "@clack/prompts";
import { type DatabaseKind, databaseKinds } from "../../../db/open.ts";

/** The answers given before a connection failed, to be offered again. No password is kept. */
export interface Known {
  /** Scheme of its URLs; null = the whole URL was typed. */
  readonly scheme?: string | null;
  readonly host?: string;
  readonly port?: string;
  readonly user?: string;
  readonly database?: string;
  readonly file?: string;
}

/** The URL, and the answers to offer if it is wrong. */
export async function askAddress(known: Known): Promise<{ url: string; next: Known }> {
  const kinds = databaseKinds();
  const examples = kinds.map(({ scheme, port }) => `${scheme}:${port === null ? "" : "//"}…`);
  const chosen = await answered(
    prompts.select({
      message: "Which database?",
      options: [
        ...kinds.map(({ scheme, title }) => ({ value: scheme, label: title })),
        { value: wholeUrl, label: "I have a URL", hint: examples.join(", ") },
      ],
      ...(known.scheme !== undefined && { initialValue: known.scheme ?? wholeUrl }),
    }),
  );
  const kind = kinds.find(({ scheme }) => scheme === chosen);
  if (kind === undefined) {
    const message = "URL of the database; it is not shown, because it may hold a password";
    const url = await answered(prompts.password({ message, validate: isGiven }));
    return { url: url.trim(), next: { scheme: null } };
  }
  const same = known.scheme === kind.scheme ? known : {};
  if (kind.port === null) {
    const file = await ask("Path of the file", same.file ?? "");
    return { url: `${kind.scheme}:${file}`, next: { scheme: kind.scheme, file } };
  }
  return askServer(kind, same);
}

/** The user ended the dialog. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** Rejects with Cancelled when the prompt was left with Ctrl+C. */
export async function answered<Answer>(prompt: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await prompt;
  if (prompts.isCancel(answer)) throw new Cancelled();
  return answer as Exclude<Answer, symbol>;
}

/** The choice for people who have the address as one text. */
const wholeUrl = "url";

async function askServer(
  { scheme, port: usual }: DatabaseKind,
  known: Known,
): Promise<{ url: string; next: Known }> {
  const host = await ask("Host", known.host ?? "localhost");
  const port = await ask("Port", known.port ?? String(usual));
  const user = await ask("User", known.user ?? "");
  const password = await answered(prompts.password({ message: "Password; empty for none" }));
  const database = await ask("Database", known.database ?? "");
  const secret = password ? `:${encodeURIComponent(password)}` : "";
  const place = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
  return {
    url: `${scheme}://${encodeURIComponent(user)}${secret}@${place}:${port}/${encodeURIComponent(database)}`,
    next: { scheme, host, port, user, database },
  };
}

async function ask(message: string, initialValue: string): Promise<string> {
  const answer = await answered(prompts.text({ message, initialValue, validate: isGiven }));
  return answer.trim();
}

const isGiven = (value: string | undefined): string | undefined =>
  (value ?? "").trim() === "" ? "Please give a value" : undefined;
