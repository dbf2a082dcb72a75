/**
 * The session in which the rules of tables apply to every write: history, files of records, numbers, closed records and
 * totals, whichever action or job writes. The scope of the caller comes on top of it.
 */
import type { Author } from "./changes/change-log.ts";
import { recordingSession } from "./changes/recording-session.ts";
import { claimingSession, type TakenClaims } from "./files/claiming-session.ts";
import { numberingSession } from "./numbers/numbering-session.ts";
import type { Caller } from "./plans/caller.ts";
import type { Entity } from "./plans/entity.ts";
import type { Runtime } from "./plans/runtime.ts";
import type { DbSession } from "./query/session.ts";
import { stampOf } from "./records/record.ts";
import { keptSession } from "./totals/kept-session.ts";
import { statusSession } from "./workflow/status-session.ts";

/** Who writes, and by what. */
interface Writer
  extends Pick<Runtime, "now" | "newId" | "digest">, Pick<Author, "requestId" | "reason"> {
  readonly entity: Entity;
  /** The name of the action. */
  readonly action: string;
  readonly caller: Caller;
  readonly taken: TakenClaims;
  /** Called after the commit of changes of which clients may be told. */
  committed(): void;
}

export function ruledSession(session: DbSession, writer: Writer): DbSession {
  const { entity, action, caller, taken, requestId, reason, now, newId, digest } = writer;
  const recorded = recordingSession(session, {
    tables: entity.changes,
    committed: () => writer.committed(),
    author: { endpoint: entity.name, action, by: caller.id, requestId, reason, now, newId },
  });
  const about = { caller, action, digest };
  const claimed = claimingSession(recorded, { ...about, tables: entity.files, now, taken });
  const time = { now: now(), timeZone: entity.settings.timeZone };
  const numbered = numberingSession(claimed, { ...about, tables: entity.numbers, time });
  const guarded = statusSession(numbered, { entity, action });
  return keptSession(guarded, { tables: entity.documents, stamp: stampOf({ caller, now }) });
}
