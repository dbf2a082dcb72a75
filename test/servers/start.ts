/**
 * Gets the servers that a run needs, in the way that `choose` returns, and stops the ones that it started. Throws a
 * readable Error if a server is not available; none is left out silently.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, statfsSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { choose, labels, type Choice, type ServerName } from "./choose.ts";
import type { Kept } from "./keeper.ts";
import { kinds } from "./kinds.ts";
import { accountOf, findPrograms, installPackages, thisMachine } from "./machine.ts";
import { tryServer } from "./session.ts";

export type ServerUrls = Partial<Record<ServerName, string>>;

export interface Servers {
  readonly urls: ServerUrls;
  stop(): Promise<void>;
}

/** `say` gets one line per server, and one before a slow step. Rejects with a list of all unavailable servers. */
export async function startServers(
  names: readonly ServerName[],
  say: (line: string) => void,
): Promise<Servers> {
  const choices = new Map<ServerName, Choice>();
  for (const name of names) choices.set(name, await choose(name, thisMachine));

  const advice = [...choices.values()].flatMap((choice) =>
    "advice" in choice ? choice.advice : [],
  );
  if (advice.length > 0) throw new Error(advice.join("\n"));

  const packages = names
    .filter((name) => choices.get(name)?.from === "install")
    .map((name) => labels[name].debianPackage);
  if (packages.length > 0) {
    say(`Installing ${packages.join(", ")} …`);
    installPackages(packages);
  }

  const results = await Promise.allSettled(
    [...choices].map(async ([name, choice]) => {
      const server = await startServer(name, choice);
      say(`${labels[name].title}: ${server.origin}`);
      return { name, ...server };
    }),
  );
  const started = results.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
  const stop = async () => void (await Promise.all(started.map((server) => server.stop())));
  const faults = results.flatMap((result) => (result.status === "rejected" ? result.reason : []));
  if (faults.length > 0) {
    await stop();
    throw new Error(faults.map((fault) => (fault as Error).message).join("\n"));
  }
  return { urls: Object.fromEntries(started.map(({ name, url }) => [name, url])), stop };
}

export interface Started {
  readonly url: string;
  /** For people: where the server came from. */
  readonly origin: string;
  stop(): Promise<void>;
}

async function startServer(name: ServerName, choice: Choice): Promise<Started> {
  switch (choice.from) {
    case "environment":
      return useGiven(name, choice.url);
    case "default port":
      return { url: choice.url, origin: "the one on its default port", stop: async () => {} };
    case "docker":
      return startContainer(name);
    default:
      return startPrograms(name);
  }
}

async function useGiven(name: ServerName, url: string): Promise<Started> {
  const { title, variable } = labels[name];
  await tryServer(name, url).catch((error: unknown) => {
    throw new Error(
      `The ${title} of ${variable} cannot be used (${reasonOf(error)}): correct the URL, give its user the right ` +
        `to create databases, or unset ${variable} to let the tests find or start a server.`,
    );
  });
  return { url, origin: `the one of ${variable}`, stop: async () => {} };
}

/** How a server of a test's own differs from those of the run. */
interface OwnServer {
  /** Makes the data folder; absent: an empty one. */
  readonly fill?: (paths: readonly string[], folder: string) => Kept["fill"];
  /** Rejects as long as the server cannot be used; absent: until it takes databases. */
  readonly isUsable?: (url: string) => Promise<void>;
}

/** A server beside those of the run, with further arguments. Its programs have to be here. */
export async function startPrograms(
  name: ServerName,
  args: readonly string[] = [],
  { fill, isUsable = (url) => tryServer(name, url) }: OwnServer = {},
): Promise<Started> {
  const { title, debianPackage } = labels[name];
  const kind = kinds[name];
  const paths = findPrograms(name);
  if (!paths) {
    throw new Error(`The package ${debianPackage} is installed, but holds no ${title} programs.`);
  }
  const account = accountOf(name);
  const folder = newFolder(name);
  if (account) chownSync(folder, account.uid, account.gid);
  const port = await freePort();
  const kept: Kept = {
    fill: (fill ?? kind.fill)(paths, folder),
    serve: [...kind.serve(paths, folder, port), ...args],
    cleanUp: null,
    account,
    stopSignal: kind.stopSignal,
    graceMs: 5000,
    folder,
  };
  const stop = await keep(name, kept, { port, timeoutMs: 60_000, isUsable });
  return { url: kind.ownUrl(port), origin: `started ${paths.at(-1)} for this run`, stop };
}

async function startContainer(name: ServerName): Promise<Started> {
  const { container, defaultPort, ownUrl } = kinds[name];
  const folder = newFolder(name);
  const port = await freePort();
  const containerName = basename(folder);
  const kept: Kept = {
    fill: null,
    serve: [
      "docker",
      "run",
      "--rm",
      "--name",
      containerName,
      "-p",
      `127.0.0.1:${port}:${defaultPort}`,
      ...container.env.flatMap((setting) => ["-e", setting]),
      container.image,
      ...container.args,
    ],
    stopSignal: "SIGTERM",
    // Docker itself gives a container ten seconds.
    graceMs: 12_000,
    cleanUp: ["docker", "rm", "-f", containerName],
    folder,
  };
  // The first run has to fetch the image.
  const isUsable = (url: string) => tryServer(name, url);
  const stop = await keep(name, kept, { port, timeoutMs: 300_000, isUsable });
  return { url: ownUrl(port), origin: `started ${container.image} in Docker for this run`, stop };
}

/** Starts the server under a keeper and waits until it can be used. Gives the function that stops it. */
async function keep(
  name: ServerName,
  kept: Kept,
  {
    port,
    timeoutMs,
    isUsable,
  }: { port: number; timeoutMs: number; isUsable: (url: string) => Promise<void> },
): Promise<() => Promise<void>> {
  const script = join(import.meta.dirname, "keeper.ts");
  const keeper = spawn(process.execPath, [script, JSON.stringify(kept)], {
    stdio: ["pipe", "ignore", "pipe"],
    // A separate process group: Ctrl-C reaches only the runner, which then stops the server.
    detached: true,
  });
  let lastWords = "";
  keeper.stderr.setEncoding("utf8").on("data", (text: string) => {
    lastWords += text;
  });
  const exited = once(keeper, "close");
  const stop = async () => {
    keeper.stdin.destroy();
    await exited;
  };

  const url = kinds[name].ownUrl(port);
  const giveUpAtMs = performance.now() + timeoutMs;
  for (;;) {
    const refusal = await isUsable(url).then(() => null, reasonOf);
    if (refusal === null) return stop;
    const isOver = keeper.exitCode !== null;
    if (isOver || performance.now() > giveUpAtMs) {
      await stop();
      const reason = isOver ? `it ended with:\n${lastWords}` : `it still says: ${refusal}`;
      throw new Error(`${labels[name].title} did not start for the tests; ${reason}`);
    }
    await sleep(100);
  }
}

/** In memory where that has much room: hundreds of databases come and go. */
function newFolder(name: ServerName): string {
  return mkdtempSync(join(hasRoomInMemory() ? inMemory : tmpdir(), `rowgate-test-${name}-`));
}

/** A file system of Linux; that of a container is mostly small. */
const inMemory = "/dev/shm";
const roomBytes = 8 * 1024 ** 3;

function hasRoomInMemory(): boolean {
  if (!existsSync(inMemory)) return false;
  const { bavail, bsize } = statfsSync(inMemory);
  return Math.min(bavail * bsize, process.availableMemory()) > roomBytes;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}
