/** How `rowgate init` names the database and its project. Passwords are not written to the files. */
import { plainName } from "../../../core/init/file-names.ts";

/** How project.json names the database, and which variable the environment needs. */
export interface Address {
  readonly url: string;
  readonly inFile: string;
  /** Null: the file holds the whole address. */
  readonly variable: string | null;
  /** True: the environment has the variable already. */
  readonly isSet?: boolean;
}

/** A password stays out of the files. */
export function databaseAddress(url: string, project: string): Address {
  const hasPassword =
    /^[a-z]+:\/\/[^/@]*:[^/@]+@/i.test(url) || /[?&](?:password|sslpassword)=/i.test(url);
  if (!hasPassword) return { url, inFile: url, variable: null };
  const name = project
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, "_")
    .replace(/^(?=\d)/, "_");
  const variable = `${name}_DATABASE_URL`;
  return { url, inFile: `\${${variable}}`, variable };
}

/** The last part of the address: `postgres://…/shop?sslmode=require` -> `shop`, `sqlite:./data/shop.db` -> `shop`. */
export function projectNameOf(url: string): string {
  const [path = ""] = url.replace(/^[a-z]+:(?:\/\/[^/]*\/?)?/i, "").split(/[?#]/);
  const last = path.split(/[/\\]/).at(-1) ?? "";
  const plain = plainName(decoded(last.replace(/\.(?:db|sqlite3?|db3)$/i, "")));
  return last === "" || plain === "table" ? "main" : plain;
}

/** The name of a file may have a % that encodes nothing. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Null: the name can be used. */
export const projectNameFault = (name: string): string | null =>
  /^[A-Za-z0-9_-]+$/.test(name)
    ? null
    : "must consist of letters, digits, - and _, because it becomes part of the URL";
