/** What change-status and next-statuses need. */
import type { JsonTemplate, Template } from "./templates.ts";
import type { Column, Columns } from "../values/types/column.ts";

/** What change-status and next-statuses need. */
export interface WorkflowPlan {
  /** A list of only the status's column: as a body may set it. */
  readonly fields: Columns;
  readonly status: Column;
  /** As the configuration names it. */
  readonly tableName: string;
  /** For each status, those that may follow; null = any may. */
  readonly transitions: ReadonlyMap<string, readonly string[]> | null;
  /** By the status that a record changes to. */
  readonly hooks: ReadonlyMap<
    string,
    { readonly onBefore: readonly StatusHook[]; readonly onAfter: readonly StatusHook[] }
  >;
  /** Columns of the table that the hooks name and no answer shows. */
  readonly hookColumns: Columns;
}

/** A call to another service around a change of status. */
export interface StatusHook {
  /** `onBefore:<name>` or `onAfter:<name>`, as answers show it. */
  readonly label: string;
  /** Its place in the configuration's list, from 0: names may be there twice. */
  readonly index: number;
  readonly method: string;
  /** A whole URL, or a path of this service. */
  readonly url: Template;
  readonly headers: Readonly<Record<string, string>>;
  /** Null = none. */
  readonly body: JsonTemplate | null;
  /** True: the change waits for it, and is undone when it fails. */
  readonly isBlocking: boolean;
  readonly timeoutMs: number;
}
