/** What the operator is told about a configuration without faults: in the service's log, or as output of `check`. */
import { isIP } from "node:net";
import type { ProjectConfig } from "../../../core/config/reading/read-config.ts";
import {
  type DatabaseReach,
  databaseRisks,
  type Exposure,
  type Risk,
  riskText,
  settingsRisks,
} from "../../../core/config/checking/risks.ts";
import type { Log } from "../../../core/plans/log-port.ts";
import { serverOf } from "../../../db/open.ts";
import { isPublic } from "../../outbound/address.ts";
import { isLoopback } from "../../http/guard.ts";
import type { Settings } from "../settings/env.ts";

/** Receives what the operator should know about one project. */
export interface Telling {
  notice(notice: string): void;
  risk(risk: Risk): void;
  /** Only for an operator who requests it. */
  remark(remark: string): void;
}

/** Writes notices and risks as warnings. */
export const toLog = ({ name: project }: ProjectConfig, log: Log): Telling => ({
  notice: (notice) => log.warn({ project }, notice),
  risk: (risk) => log.warn({ project }, riskText(risk)),
  remark: () => undefined,
});

/** The risks that can be found without the database. */
export const risksOf = (config: ProjectConfig, settings: Settings): Risk[] => [
  ...settingsRisks(config, exposureOf(settings)),
  ...databaseRisks(config, databaseReach(config)),
];

const exposureOf = ({ host }: Settings): Exposure => ({
  openBy: isLoopback(host) ? null : `HOST=${host}`,
});

/** How the service reaches the database, according to its settings, without DNS. Null: it is not on a server. */
export function databaseReach({ database }: ProjectConfig): DatabaseReach | null {
  const servers = [database.url, ...database.replicas].flatMap((url) => serverOf(url) ?? []);
  const reaches = servers.map(({ hosts, saysTls }) => ({
    publicHost: hosts.find(mayBePublic) ?? null,
    saysTls: saysTls || database.tls !== undefined,
  }));
  const isAtRisk = ({ publicHost, saysTls }: DatabaseReach) => publicHost !== null && !saysTls;
  return reaches.find(isAtRisk) ?? reaches[0] ?? null;
}

/** Names without a point, and those with a suffix reserved for internal networks, are only looked up inside. */
const mayBePublic = (host: string): boolean =>
  isIP(host) !== 0 ? isPublic(host) : host.includes(".") && !inside.test(host);

const inside =
  /\.(?:local|localhost|internal|intranet|lan|home|corp|private|test|svc|home\.arpa)\.?$/i;
