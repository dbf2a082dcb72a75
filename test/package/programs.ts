/** Programs that a test starts and that listen on a port, and requests to them. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

const running: ChildProcess[] = [];

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Resolves with the URL printed after "listens on". Rejects with the program's output if it ends before. */
export async function serve({ command, args, cwd, env }: Program): Promise<string> {
  const started = spawn(command, args, {
    cwd,
    env: { ...process.env, PORT: "0", LOG_LEVEL: "error", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.push(started);
  let printed = "";
  started.stdout.on("data", (chunk) => (printed += chunk));
  started.stderr.on("data", (chunk) => (printed += chunk));
  for (;;) {
    const [, url] = /listens on (\S+)/.exec(printed) ?? [];
    if (url !== undefined) return url;
    if (started.exitCode !== null) throw new Error(printed);
    await pause(20);
  }
}

export function endPrograms(): void {
  for (const one of running.splice(0)) one.kill("SIGKILL");
}

// oxlint-disable-next-line no-explicit-any -- tests look into answers of every shape
export const post = async (url: string, body: object | FormData): Promise<any> => {
  const isForm = body instanceof FormData;
  const headers = isForm ? {} : { "content-type": "application/json" };
  const init = { method: "POST", headers, body: isForm ? body : JSON.stringify(body) };
  return (await fetch(url, init)).json();
};

/** The address of the export's file, once it is written. `of`: the endpoint's URL. */
export async function exported(of: string): Promise<string> {
  const { job_id } = await post(`${of}/export`, { format: "csv" });
  for (;;) {
    const answer = await fetch(`${of}/export-status?job_id=${job_id}`);
    const { file_url } = (await answer.json()) as { file_url?: string };
    if (file_url !== undefined) return file_url;
    await pause(50);
  }
}
