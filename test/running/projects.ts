/**
 * The Vitest projects: the command that runs each, and the servers and programs it needs. `npm test` tests the product
 * on every engine in minutes. `npm run test:deep` has slow tests and repeats on other runtimes, `npm run test:release`
 * what is expected to be the same on another engine, or with files elsewhere. `vitest.config.ts` lists each project's
 * files; `projects.test.ts` checks that both agree.
 */
import type { ServerName } from "../servers/choose.ts";

/** A script of package.json. */
export type Command = "test" | "test:deep" | "test:release";

/** Programs that a test drives, and that `test/run.ts` finds or installs. */
export type ProgramName = "chromium" | "soffice" | "pgbouncer" | "caddy";

export interface ProjectNeeds {
  readonly command: Command;
  readonly servers: readonly ServerName[];
  readonly programs?: readonly ProgramName[];
}

const everyServer: readonly ServerName[] = ["postgres", "mysql", "redis"];

export const projects: Readonly<Record<string, ProjectNeeds>> = {
  unit: { command: "test", servers: [] },
  sqlite: { command: "test", servers: [] },
  postgres: { command: "test", servers: ["postgres", "redis"] },
  mysql: { command: "test", servers: ["mysql", "redis"] },
  parity: { command: "test:deep", servers: ["postgres", "mysql"] },
  stores: { command: "test", servers: ["redis"] },
  smoke: { command: "test", servers: [], programs: ["chromium"] },
  "places-sqlite": { command: "test:release", servers: [] },
  "places-postgres": { command: "test:release", servers: ["postgres", "redis"] },
  "long-sqlite": { command: "test:deep", servers: [] },
  "long-postgres": { command: "test:deep", servers: ["postgres", "redis"] },
  "long-mysql": { command: "test:deep", servers: ["mysql", "redis"] },
  "alike-postgres": { command: "test:release", servers: ["postgres", "redis"] },
  "alike-mysql": { command: "test:release", servers: ["mysql", "redis"] },
  "places-mysql": { command: "test:release", servers: ["mysql", "redis"] },
  "fuzz-sqlite": { command: "test:deep", servers: [] },
  "fuzz-postgres": { command: "test:deep", servers: ["postgres", "redis"] },
  "fuzz-mysql": { command: "test:deep", servers: ["mysql", "redis"] },
  "relations-sqlite": { command: "test:deep", servers: [] },
  "relations-postgres": { command: "test:deep", servers: ["postgres", "redis"] },
  "relations-mysql": { command: "test:release", servers: ["mysql", "redis"] },
  "faults-sqlite": { command: "test:deep", servers: [] },
  "faults-postgres": { command: "test:deep", servers: ["postgres", "redis"] },
  "faults-mysql": { command: "test:deep", servers: ["mysql", "redis"] },
  "faults-redis": { command: "test:deep", servers: ["redis"] },
  jobs: { command: "test:deep", servers: everyServer },
  browser: { command: "test:deep", servers: ["postgres"], programs: ["chromium"] },
  adapters: { command: "test:deep", servers: ["postgres", "mysql"], programs: ["chromium"] },
  runtime: { command: "test:deep", servers: everyServer },
  workerd: { command: "test:deep", servers: everyServer },
  "workerd-postgres": { command: "test:deep", servers: ["postgres", "redis"] },
  "workerd-mysql": { command: "test:deep", servers: ["mysql", "redis"] },
  tls: { command: "test:deep", servers: ["postgres", "mysql"] },
  pooler: { command: "test:deep", servers: ["postgres"], programs: ["pgbouncer"] },
  replicas: { command: "test:deep", servers: everyServer },
  proxy: { command: "test:deep", servers: [], programs: ["caddy"] },
  package: { command: "test:deep", servers: [] },
  processes: { command: "test:deep", servers: [] },
  "processes-contract": { command: "test:deep", servers: [] },
  office: { command: "test:deep", servers: ["postgres", "mysql"], programs: ["soffice"] },
};
