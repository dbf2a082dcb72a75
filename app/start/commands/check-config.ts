/** `rowgate check`: compares a configuration with its databases, without serving it. */
import { remembering } from "../../../core/config/compiling/survey.ts";
import type { Fault } from "../../../core/config/reading/faults.ts";
import type { Risk } from "../../../core/config/checking/risks.ts";
import type { DescribedProject } from "../../../core/openapi/describe.ts";
import { traitsOf } from "../../../core/openapi/traits.ts";
import { type Advice, adviceFor } from "../../../core/init/advice.ts";
import { type Drift, driftOf } from "../../../core/init/drift.ts";
import { databaseFaults } from "../../../db/open.ts";
import { createRuntime } from "../settings/create-runtime.ts";
import { parseEnv } from "../settings/env.ts";
import { createLog } from "../observing/log.ts";
import { openProcessParts } from "../opening/process-parts.ts";
import { readProjects } from "../settings/read-projects.ts";
import { compileOnce, openServed } from "../opening/serve-project.ts";
import { risksOf, type Telling } from "../opening/telling.ts";
import type { ServiceOptions } from "../servers/wire.ts";

export interface CheckedConfig {
  /** All faults of the files, and of what they say about databases, whatever `onFault` says. */
  readonly faults: readonly Fault[];
  /** Databases that cannot be used, by the file that names them. */
  readonly unreachable: readonly { readonly file: string; readonly sentence: string }[];
  /** Notes for the operator that do not prevent the start. */
  readonly notices: readonly string[];
  /** Risks that do not prevent the start. */
  readonly risks: readonly Risk[];
  /** Differences between the databases and the files. */
  readonly drift: readonly Drift[];
  /** Indexes that would speed up requests; null = not requested. */
  readonly advice: readonly Advice[] | null;
  /** How many endpoints would be served. */
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
  /** True: asks the databases for query plans of requests and for row counts. */
  readonly advises?: boolean;
}): Promise<CheckedConfig> {
  const { projects: configs, faults } = readProjects({ files, env }, databaseFaults);
  // Does not connect to Redis.
  const settings = { ...parseEnv(env), redisUrl: null };
  const parts = await openProcessParts({
    settings,
    runtime: createRuntime(createLog("silent")),
    isOnlyLookedAt: true,
  });
  const own = () => new Response(null, { status: 503 });
  const loading = { importComponent, own, callers: undefined };
  const opened = await Promise.all(configs.map((config) => openServed(config, loading, parts)));
  const notices: string[] = [];
  const risks = configs.flatMap((config) => risksOf(config, settings));
  const telling: Telling = {
    notice: (notice) => void notices.push(notice),
    risk: (risk) => void risks.push(risk),
    remark: (remark) => void notices.push(remark),
  };
  // All steps look at the same tables.
  const catalogs = opened.map(({ project }) => remembering(project.db.catalog));
  const looks = await Promise.all(
    opened.map((one, at) => compileOnce(one, telling, catalogs[at]!)),
  );
  const drift = await Promise.all(
    opened.map(({ config, project }, at) =>
      project.routes === null ? [] : driftOf(config, catalogs[at]!),
    ),
  );
  const advice: Advice[] = [];
  for (const [at, { config, project }] of advises ? opened.entries() : [])
    if (project.routes !== null)
      advice.push(...(await adviceFor(config, project.db, catalogs[at]!)));
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
