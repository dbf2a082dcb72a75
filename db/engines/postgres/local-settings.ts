/**
 * Settings that hold for one transaction: the caller's claims for row-level security and, behind a pooler that gives
 * each transaction another session, all settings that are otherwise set when a session is opened.
 */
import { claimsOf } from "../../../core/plans/caller.ts";
import type { Engine, Command } from "../engine.ts";
import { nobodysClaims, type Target } from "./url.ts";

export function createLocalSettings(
  { localSettings, isPooled }: Target,
  claimsSetting: string | undefined,
): Engine["localSettings"] {
  if (claimsSetting === undefined && !isPooled) return () => null;
  const fixed = Object.entries(localSettings).map(([name, value]) => setting(name, literal(value)));
  if (claimsSetting === undefined) {
    const statement = { ...selectOf(fixed, []), reuse: false };
    return () => statement;
  }
  return (caller) => {
    if (caller === null && !isPooled) return null;
    const text = caller === null ? nobodysClaims : JSON.stringify(claimsOf(caller));
    if (!isPooled) return selectOf([setting(claimsSetting, "$1")], [text]);
    return { ...selectOf([...fixed, setting(claimsSetting, inHex(text))], []), reuse: false };
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
 * Behind a pooler a parameter would cost another round trip, to describe the statement. A value from a request appears
 * in the SQL only as hexadecimal digits.
 */
const inHex = (text: string): string =>
  `pg_catalog.convert_from(pg_catalog.decode('${Buffer.from(text).toString("hex")}', 'hex'), 'UTF8')`;

/** For texts of the operator. */
const literal = (text: string): string =>
  `${text.includes("\\") ? " E" : ""}'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
