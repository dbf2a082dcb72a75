/** How the service gets to a project's database, as far as the configuration tells, for the warnings of `rowgate check`. */
import { isIP } from "node:net";
import type { ProjectConfig } from "../../core/config/read-config.ts";
import type { DatabaseReach } from "../../core/config/risks.ts";
import { serverOf } from "../../db/open.ts";
import { isPublic } from "../outbound/address.ts";

/** Null: the database is on no server. No name is looked up. */
export function databaseReach({ database }: ProjectConfig): DatabaseReach | null {
  const server = serverOf(database.url);
  if (server === null) return null;
  const publicHost = server.hosts.find(mayBePublic) ?? null;
  return { publicHost, saysTls: server.saysTls || database.tls !== undefined };
}

/** Names without a point, and those under endings that are kept for inside networks, are looked up there alone. */
const mayBePublic = (host: string): boolean =>
  isIP(host) !== 0 ? isPublic(host) : host.includes(".") && !inside.test(host);

const inside =
  /\.(?:local|localhost|internal|intranet|lan|home|corp|private|test|svc|home\.arpa)\.?$/i;
