/**
 * Runs a Worker in workerd with wrangler's development server, without Cloudflare. The package folder `workers/` has
 * wrangler, apart from the project's packages.
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

/** The folder into which `npm ci` puts wrangler and workerd. */
export const workers = join(import.meta.dirname, "workers");

export const wranglerProgram = join(workers, "node_modules/wrangler/wrangler-dist/cli.js");

export const hasWrangler = (): boolean => existsSync(wranglerProgram);

/** No prompts, no metrics, no network access. */
const quiet = { CI: "1", WRANGLER_SEND_METRICS: "false", CLOUDFLARE_CF_FETCH_ENABLED: "false" };

export interface Workerd {
  /** `http://127.0.0.1:12345` */
  readonly url: string;
  stop(): Promise<void>;
}

/** The part of wrangler that is used here. */
interface Wrangler {
  unstable_startWorker(
    options: object,
  ): Promise<{
    readonly ready: Promise<void>;
    readonly url: Promise<URL>;
    dispose(): Promise<void>;
  }>;
}

/** Resolves when the Worker of that wrangler.toml answers. */
export async function startWorkerd(config: string): Promise<Workerd> {
  Object.assign(process.env, quiet);
  const { unstable_startWorker } = (await import(pathToFileURL(wranglerProgram).href)) as Wrangler;
  const worker = await unstable_startWorker({
    config,
    dev: {
      server: { hostname: "127.0.0.1", port: 0 },
      inspector: false,
      watch: false,
      logLevel: "none",
      persist: false,
    },
  });
  await worker.ready;
  return { url: (await worker.url).href.replace(/\/$/, ""), stop: () => worker.dispose() };
}

/** The bundle that would be deployed: its code, and the names of its packages. */
export async function bundle(config: string): Promise<{ code: Buffer; packages: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-bundle-"));
  try {
    const meta = join(folder, "meta.json");
    const args = [
      "deploy",
      "--dry-run",
      "--config",
      config,
      "--outdir",
      folder,
      "--metafile",
      meta,
    ];
    await promisify(execFile)(process.execPath, [wranglerProgram, ...args], {
      env: { ...process.env, ...quiet },
      timeout: 60_000,
    });
    const { outputs } = JSON.parse(await readFile(meta, "utf8")) as {
      outputs: Record<string, { inputs: Record<string, { bytesInOutput: number }> }>;
    };
    const paths = Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
        bytesInOutput > 0 ? path : [],
      ),
    );
    const names = paths.flatMap(
      (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
    );
    return { code: await readFile(join(folder, "worker.js")), packages: [...new Set(names)] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
