/**
 * Settings that a transaction begins with and that end with it: the caller's claims for policies of row-level security, and, behind a pooler that gives
 * each transaction another session, all that a session is opened with elsewhere.
 */
import type { Engine, Command } from "../engine.ts";
import { nobodysClaims, type Target } from "./url.ts";

/** Nothing where transactions need no settings. */
export function localSettingsOf(
  { localSettings, isPooled }: Target,
  claimsSetting: string | undefined,
): Pick<Engine, "localSettings"> {
  if (claimsSetting === undefined && !isPooled) return {};
  const fixed = Object.entries(localSettings).map(([name, value]) => setting(name, literal(value)));
  if (claimsSetting === undefined) {
    const statement = { ...selectOf(fixed, []), reuse: false };
    return { localSettings: () => statement };
  }
  return {
    localSettings(claims) {
      if (claims === null && !isPooled) return null;
      const text = claims === null ? nobodysClaims : JSON.stringify(claims);
      if (!isPooled) return selectOf([setting(claimsSetting, "$1")], [text]);
      return { ...selectOf([...fixed, setting(claimsSetting, inHex(text))], []), reuse: false };
    },
  };
}

const selectOf = (settings: readonly string[], params: readonly string[]): Command => ({
  text: `select ${settings.join(", ")}`,
  params,
  reuse: true,
});

const setting = (name: string, value: string): string =>
  `pg_catalog.set_config(${literal(name)}, ${value}, true)`;

/**
 * Behind a pooler a parameter would cost another wait, since the statement has to be described first. Of a value from a request the text holds
 * hexadecimal digits alone.
 */
const inHex = (text: string): string =>
  `pg_catalog.convert_from(pg_catalog.decode('${Buffer.from(text).toString("hex")}', 'hex'), 'UTF8')`;

/** Of the operator's own texts. */
const literal = (text: string): string =>
  `${text.includes("\\") ? " E" : ""}'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
