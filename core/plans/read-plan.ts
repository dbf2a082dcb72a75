/** What the actions need that read rows, and lookup. */
import type { AuditField } from "./audit-columns.ts";
import type { Condition } from "../query/statement.ts";
import type { Column, Columns, Source } from "../values/types/column.ts";
import type { TextIndex } from "../values/types/text-index.ts";
import type { Key } from "../values/types/key.ts";

/** What the reading actions need. */
export interface ReadPlan {
  readonly source: Source;
  /** Columns that answers show, in order. */
  readonly columns: Columns;
  /** Columns that a request may name: these, and by their paths those of related records. */
  readonly named: Columns;
  /** Null: searches look for parts of texts only. */
  readonly fullText: TextIndex | null;
  /** The columns of the key; empty unless the source has them all. `core/lists/order.ts` adds them to every order. */
  readonly key: Key;
  /** What the operator adds to every read; a request can only narrow it. */
  readonly scope: Condition | null;
  /** Names of the cache versions that a write under the source raises, as `dependenciesOf` returns them. */
  readonly dependsOn: readonly string[];
  /** The audit columns for the time of the last write; null if the source lacks them. */
  readonly times: Readonly<Record<AuditField["when"], Column | null>>;
}

/** What lookup needs. `columns`: the own columns that items can show. */
export interface LookupPlan extends Omit<ReadPlan, "times"> {
  readonly id: Column;
  /** The label; concatenated from several columns if so configured. Null: it is empty for the caller. */
  readonly text: Column | null;
  /** True: a search finds labels that begin with its text; false: that contain it. */
  readonly matchesPrefix: boolean;
  /** True: a search finds labels with other accents than its text. */
  readonly ignoresAccents: boolean;
}
