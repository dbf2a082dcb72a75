/** Creates the runtime value that every part of a process receives. */
import { csvOf } from "../../../jobs/workbook/csv.ts";
import { createHash, hash } from "node:crypto";
import type { Log } from "../../../core/plans/log-port.ts";
import type { Runtime } from "../../../core/plans/runtime.ts";
import { systemClock } from "../../../core/values/clock.ts";

/** A runtime whose log has more methods than the parts need. */
export type RuntimeOf<OwnLog extends Log> = Runtime & { readonly log: OwnLog };

/** `basePath`: where the service is mounted, as `/rows`. */
export const createRuntime = <OwnLog extends Log>(log: OwnLog, basePath = ""): RuntimeOf<OwnLog> =>
  Object.freeze({
    now: systemClock,
    newId: () => crypto.randomUUID(),
    csvOf,
    digest: (text: string) => hash("sha256", text),
    hashing() {
      const running = createHash("sha256");
      return {
        update: (bytes: Uint8Array) => void running.update(bytes),
        hex: () => running.digest("hex"),
      };
    },
    log,
    basePath,
  });
