/**
 * Where a run gets a server from: the first of six ways that is possible, in the order of `choose`. It only asks a
 * `Machine` and changes nothing, so that `choose.test.ts` can try every kind of machine. `start.ts` passes the real one
 * (`machine.ts`) and then acts.
 */
export type ServerName = "postgres" | "mysql" | "redis";

export const serverNames: readonly ServerName[] = ["postgres", "mysql", "redis"];

/** What the choice depends on. `choose` asks in its own order, and nothing that it need not know. */
export interface Machine {
  /** The URL that the environment names for this server, if any. */
  given(name: ServerName): string | undefined;
  /** The URL of a server on its default port that accepts the tests' credentials; null without one. */
  listening(name: ServerName): Promise<string | null>;
  /** True when every program that it takes to run the server is here. */
  hasPrograms(name: ServerName): boolean;
  /** True when a Docker engine answers. */
  dockerRuns(): boolean;
  /** True for root on Debian, Ubuntu and their derivatives. */
  mayInstall(): boolean;
}

export type Choice =
  | { readonly from: "environment" | "default port"; readonly url: string }
  | { readonly from: "programs" | "docker" | "install" }
  | { readonly from: "nowhere"; readonly advice: string };

export async function choose(name: ServerName, machine: Machine): Promise<Choice> {
  const given = machine.given(name);
  if (given) return { from: "environment", url: given };
  const listening = await machine.listening(name);
  if (listening) return { from: "default port", url: listening };
  if (machine.hasPrograms(name)) return { from: "programs" };
  if (machine.dockerRuns()) return { from: "docker" };
  if (machine.mayInstall()) return { from: "install" };
  return { from: "nowhere", advice: adviceFor(name) };
}

/** How each server is called by people, by the environment and by Debian. */
export const labels: Record<
  ServerName,
  { title: string; variable: string; debianPackage: string }
> = {
  postgres: { title: "PostgreSQL", variable: "TEST_POSTGRES_URL", debianPackage: "postgresql" },
  mysql: { title: "MariaDB", variable: "TEST_MYSQL_URL", debianPackage: "mariadb-server" },
  redis: { title: "Redis", variable: "TEST_REDIS_URL", debianPackage: "redis-server" },
};

function adviceFor(name: ServerName): string {
  const { title, variable, debianPackage } = labels[name];
  return (
    `The tests need ${title} and found none: set ${variable} to the URL of a server on which they may create databases, ` +
    `or install it (on Debian and Ubuntu: the package ${debianPackage}), or start Docker. ` +
    `"npm test -- --project unit --project sqlite" needs no server.`
  );
}
