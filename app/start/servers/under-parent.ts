/** One of the processes of `serve --processes`: serves what its parent tells it to, until the parent stops it or ends. */
import { openSiblings, type SiblingStart } from "../opening/siblings.ts";
import { createProcessCalls, type ProcessCalls } from "../../stores/process-calls.ts";
import { createComponents } from "../settings/component-modules.ts";
import { parseEnv } from "../settings/env.ts";
import type { ConfigSource } from "../reloading/reloads.ts";
import { listen } from "./node.ts";
import { openService, type Service } from "./wire.ts";

/** A configuration on its way from the parent to its processes. */
export type SentSource = Pick<ConfigSource, "files" | "env">;

/** What the parent answers to a process that has started. */
export interface ParentGreeting extends SiblingStart {
  readonly source: SentSource;
}

/** What a process tells its parent when it listens. */
export interface Listens {
  readonly url: string;
  /** An example request, or nothing. */
  readonly example: string;
}

export interface UnderParentOptions {
  /** An example request for the service at this address. */
  example(service: Service, url: string): string;
  /** Ends the process: without an error in order, with one with its message. */
  exit(error?: unknown): void;
  /** Called once when the configuration is compiled. */
  ready(): void;
}

/** Rejects with an Error if the process has no parent that asked for it, and as `openService` and `listen` do. */
export async function serveUnderParent({
  example,
  exit,
  ready,
}: UnderParentOptions): Promise<void> {
  const calls = callsToParent();
  let stop = async (): Promise<void> => undefined;
  let stopping: Promise<void> | null = null;
  const end = (): void => {
    stopping ??= stop();
    void stopping.then(() => exit(), exit);
  };
  // A signal to the whole group reaches the parent, too, which decides about reloads.
  process.on("SIGHUP", () => undefined);
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, end);
  calls.offer({ process: { stop: end } });

  const { source, ...start } = await calls.call<ParentGreeting>("parent", "greet");
  const componentsOf = createComponents(parseEnv(source.env).configDir);
  let applied = source.env;
  const whole = (sent: SentSource): ConfigSource => ({
    ...sent,
    importComponent: componentsOf(sent.files),
    served() {
      for (const name of Object.keys(applied))
        if (sent.env[name] === undefined) delete process.env[name];
      Object.assign(process.env, sent.env);
      applied = sent.env;
    },
  });
  const service = await openService({ ...whole(source), siblings: openSiblings(calls, start) });
  const listening = await listen(service);
  stop = listening.stop;
  calls.offer({
    process: {
      stop: end,
      load: (next: SentSource) => service.reload(async () => whole(next)),
      metrics: service.metricsText,
    },
  });
  const { url } = listening;
  await calls.call("parent", "listens", { url, example: example(service, url) } satisfies Listens);
  await service.ready;
  await calls.call("parent", "ready");
  ready();
}

function callsToParent(): ProcessCalls {
  const { send } = process;
  if (!send) throw new Error("This command is only for the processes of serve --processes");
  // When the parent has ended, so does this process, and nobody waits for the message.
  const calls = createProcessCalls((message) => void send.call(process, message, () => undefined));
  process.on("message", calls.hear);
  return calls;
}
