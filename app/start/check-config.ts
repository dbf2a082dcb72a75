/** `rowgate check`: compares a configuration with its databases, and serves nothing. */
import type { Fault } from "../../core/config/faults.ts";
import type { Risk } from "../../core/config/risks.ts";
import type { DescribedProject } from "../../core/openapi/describe.ts";
import { traitsOf } from "../../core/openapi/traits.ts";
import { type Advice, adviceFor } from "../../core/init/advice.ts";
import { type Drift, driftOf } from "../../core/init/drift.ts";
import { databaseFaults } from "../../db/open.ts";
import { parseEnv } from "./env.ts";
import { createLog } from "./log.ts";
import { openProcessParts } from "./process-parts.ts";
import { readProjects } from "./read-projects.ts";
import { compileOnce, openProject } from "./serve-project.ts";
import { risksOf, type Telling } from "./telling.ts";
import type { ServiceOptions } from "./wire.ts";

export interface CheckedConfig {
  /** All faults of the files, and of what they say about databases, whatever `onFault` says. */
  readonly faults: readonly Fault[];
  /** Databases that cannot be used, by the file that names them. */
  readonly unreachable: readonly { readonly file: string; readonly sentence: string }[];
  /** Notes for the operator that do not prevent the start. */
  readonly notices: readonly string[];
  /** What is dangerous, and stops nothing. */
  readonly risks: readonly Risk[];
  /** Where the databases and the files have grown apart. */
  readonly drift: readonly Drift[];
  /** Indexes that requests would profit from; null = nobody asked. */
  readonly advice: readonly Advice[] | null;
  /** How many would be served. */
  readonly endpoints: number;
  /** Those of the files, with their routes where there is no fault. */
  readonly projects: readonly Pick<DescribedProject, "name" | "traits" | "routes">[];
}

export async function checkConfig({
  files,
  env,
  importComponent,
  advises = false,
}: Pick<ServiceOptions, "files" | "env" | "importComponent"> & {
  /** True: the databases are asked for the plans of requests, and how many rows their tables have. */
  readonly advises?: boolean;
}): Promise<CheckedConfig> {
  const { projects: configs, faults } = readProjects({ files, env }, databaseFaults);
  // Nothing is asked of Redis.
  const settings = { ...parseEnv(env), redisUrl: null };
  const parts = await openProcessParts({
    settings,
    log: createLog("silent"),
    isOnlyLookedAt: true,
  });
  const own = () => new Response(null, { status: 503 });
  const loading = { importComponent, own, callers: undefined };
  const opened = await Promise.all(configs.map((config) => openProject(config, loading, parts)));
  const notices: string[] = [];
  const risks = configs.flatMap((config) => risksOf(config, settings));
  const telling: Telling = {
    notice: (notice) => void notices.push(notice),
    risk: (risk) => void risks.push(risk),
    remark: (remark) => void notices.push(remark),
  };
  const looks = await Promise.all(opened.map((one) => compileOnce(one, telling)));
  const drift = await Promise.all(
    opened.map(({ config, project }) =>
      project.routes === null ? [] : driftOf(config, project.db.catalog),
    ),
  );
  const advice: Advice[] = [];
  for (const { config, project } of advises ? opened : [])
    if (project.routes !== null) advice.push(...(await adviceFor(config, project.db)));
  await Promise.all(opened.map(({ database }) => database.release()));
  const leftOut = configs.flatMap((config) => [...config.leftOut.values()].flat());
  return {
    faults: [...faults, ...leftOut, ...looks.flatMap((look) => look.faults)],
    notices,
    risks,
    drift: drift.flat(),
    advice: advises ? advice : null,
    unreachable: looks.flatMap(({ trouble }, at) =>
      trouble ? [{ file: configs[at]!.document.file, sentence: trouble.sentence }] : [],
    ),
    projects: opened.map(({ config, project: { name, routes } }) => ({
      name,
      routes,
      traits: traitsOf(config),
    })),
    endpoints: opened.reduce((sum, { project }) => sum + (project.routes?.endpoints.size ?? 0), 0),
  };
}
