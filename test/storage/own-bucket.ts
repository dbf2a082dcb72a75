/** A bucket for one test, on a server that the test can kill and pause. Its folder is removed with the server. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../servers/start.ts";

export interface OwnBucket {
  /** Where the bucket answers, and the keys to it: the options of `createBucketFiles`, but for the prefix. */
  readonly address: {
    readonly url: string;
    readonly region: string;
    readonly keys: { readonly accessKeyId: string; readonly secretAccessKey: string };
  };
  /** The same for a service, whose files are below `prefix/` then. */
  readonly env: Readonly<Record<string, string>>;
  /** Where the server keeps what is in the bucket; a key with `objectEnding` is a file of it. */
  readonly folder: string;
  /** Ids of uploads that are neither completed nor aborted. */
  uploads(): Promise<string[]>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and folder. Resolves when it answers. */
  start(): Promise<void>;
  /** SIGSTOP: connections stay open without answers. */
  pause(): void;
  goOn(): void;
  /** Ends it and removes its folder. */
  stop(): Promise<void>;
}

/** s3rver's own keys. */
const key = "S3RVER";
const name = "test-files";

/** Where the server keeps the unfinished upload of that id, below `folder`. */
export const uploadsFolder = "._S3rver_uploads";
/** What the server adds to the name of an object's file. */
export const objectEnding = "._S3rver_object";

export async function startBucket(): Promise<OwnBucket> {
  const root = await mkdtemp(join(tmpdir(), "rowgate-test-bucket-"));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const script = join(import.meta.dirname, "server.ts");
  let server: ChildProcess;

  async function start(): Promise<void> {
    // The tokens of its pages are made with a cipher of old.
    const args = ["--openssl-legacy-provider", script, root, String(port), name];
    server = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const giveUpAtMs = performance.now() + 15_000;
    while (performance.now() < giveUpAtMs) {
      if (await fetch(origin).catch(() => null)) return;
      await sleep(20);
    }
    throw new Error("The S3-compatible server did not start");
  }
  async function kill(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGKILL");
    await exited;
  }
  const atExit = () => void server.kill("SIGKILL");
  process.once("exit", atExit);

  await start();
  const folder = join(root, name);
  return {
    address: {
      url: `${origin}/${name}`,
      region: "us-east-1",
      keys: { accessKeyId: key, secretAccessKey: key },
    },
    env: {
      STORAGE_URL: `s3://${name}/prefix?endpoint=${origin}`,
      AWS_ACCESS_KEY_ID: key,
      AWS_SECRET_ACCESS_KEY: key,
    },
    folder,
    uploads: () => readdir(join(folder, uploadsFolder)).catch(() => []),
    kill,
    start,
    pause: () => void server.kill("SIGSTOP"),
    goOn: () => void server.kill("SIGCONT"),
    async stop() {
      await kill();
      process.off("exit", atExit);
      await rm(root, { recursive: true, force: true });
    },
  };
}
