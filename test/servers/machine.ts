/**
 * This machine, as `choose` asks about it, and the one change that it may undergo: `installPackages`.
 * Debian keeps PostgreSQL's programs off the PATH, and servers in the sbin folders, so those places are looked at too.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { labels, type Machine, type ServerName } from "./choose.ts";
import { kinds, type Paths } from "./kinds.ts";
import { tryServer } from "./session.ts";

export const thisMachine: Machine = {
  given: (name) => process.env[labels[name].variable],
  async listening(name) {
    const { defaultPort, usualUrls } = kinds[name];
    if (!(await accepts(defaultPort))) return null;
    for (const url of usualUrls(process.env)) {
      const isUsable = await tryServer(name, url).then(
        () => true,
        () => false,
      );
      if (isUsable) return url;
    }
    return null;
  },
  hasPrograms: (name) => findPrograms(name) !== null,
  dockerRuns: () => spawnSync("docker", ["info"], { stdio: "ignore", timeout: 5000 }).status === 0,
  mayInstall: () => process.getuid?.() === 0 && existsSync("/usr/bin/apt-get"),
};

/** Where the server's programs are; null when one of them is nowhere. */
export function findPrograms(name: ServerName): Paths | null {
  const { programs } = kinds[name];
  const found = folders().flatMap((folder) => {
    const path = join(folder, programs[0] ?? "");
    return existsSync(path) ? [programs.map((program) => beside(path, program))] : [];
  });
  return found.find((paths): paths is string[] => !paths.includes(null)) ?? null;
}

/** Two programs of one server must be of one version: the neighbour comes before one from elsewhere. */
function beside(path: string, program: string): string | null {
  return (
    [dirname(path), ...folders()]
      .map((folder) => join(folder, program))
      .find((candidate) => existsSync(candidate)) ?? null
  );
}

function folders(): string[] {
  const newestFirst = globSync("/usr/lib/postgresql/*/bin").sort((a, b) =>
    b.localeCompare(a, "en", { numeric: true }),
  );
  const path = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  return [...path, ...newestFirst, "/usr/local/sbin", "/usr/sbin", "/usr/bin"];
}

/** The account to run the server as: root is refused by most of them. Undefined = as we are. */
export function accountOf(name: ServerName): { uid: number; gid: number } | undefined {
  const { account } = kinds[name];
  if (account === null || process.getuid?.() !== 0) return undefined;
  const idOf = (flag: string): number => {
    const { status, stdout } = spawnSync("id", [flag, account], { encoding: "utf8" });
    return status === 0 ? Number(stdout) : nobody;
  };
  return { uid: idOf("-u"), gid: idOf("-g") };
}

const nobody = 65534;

/** Installs Debian packages, without letting their scripts start the servers. Throws an Error with apt's last words. */
export function installPackages(packages: readonly string[]): void {
  const policy = "/usr/sbin/policy-rc.d";
  const isOurs = !existsSync(policy);
  // Debian's own switch: 101 forbids the package scripts to start anything.
  if (isOurs) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    apt(["update"]);
    apt(["install", "-y", "--no-install-recommends", ...packages]);
  } finally {
    if (isOurs) rmSync(policy, { force: true });
  }
}

function apt(args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(
    "apt-get",
    ["-o", "DPkg::Lock::Timeout=120", ...args],
    { encoding: "utf8", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } },
  );
  if (status === 0) return;
  const lastWords = `${stdout}\n${stderr}`.trim().split("\n").slice(-8).join("\n");
  throw new Error(`"apt-get ${args.join(" ")}" failed:\n${lastWords}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 500 });
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("connect", () => settle(true));
    socket.once("error", () => settle(false));
    socket.once("timeout", () => settle(false));
  });
}
