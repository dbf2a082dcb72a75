/** What the operator is told about a configuration that has no fault: in the log of the service, or as the output of `check`. */
import type { ProjectConfig } from "../../core/config/read-config.ts";
import {
  databaseRisks,
  type Exposure,
  type Risk,
  riskText,
  settingsRisks,
} from "../../core/config/risks.ts";
import type { Log } from "../../core/plans/ports.ts";
import { isLoopback } from "../http/guard.ts";
import { databaseReach } from "./database-reach.ts";
import type { Settings } from "./env.ts";

/** Receives what the operator should know about one project. */
export interface Telling {
  notice(notice: string): void;
  risk(risk: Risk): void;
  /** Only for an operator who asks. */
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
