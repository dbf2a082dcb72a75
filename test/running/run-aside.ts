/** Runs a program without blocking this process, which may be serving what the program asks for. */
import { spawn } from "node:child_process";

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number | null;
}

export function runAside(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.once("error", reject);
    child.once("close", (status) => resolve({ stdout, stderr, status }));
  });
}
