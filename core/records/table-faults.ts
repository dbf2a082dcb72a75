/**
 * What the rules of tables refuse of a new record: a status that only change-status sets, and a number whose sources
 * are empty. The sessions below refuse the same when they store it; here, all faults of all records are found before
 * anything is written or any handler is called.
 */
import { isEmpty, openNumber } from "../numbers/number-text.ts";
import { isStatus } from "../numbers/reached-numbers.ts";
import type { Entity } from "../plans/entity.ts";
import { isReserved, reservedMessage } from "../plans/status-tables.ts";
import type { InsertPlan } from "../plans/write-plan.ts";
import { shownScalar } from "../totals/row-values.ts";
import type { FieldErrors } from "../values/errors.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Column } from "../values/types/column.ts";

/** The tables' rules, and the project's time zone. */
type RuledEntity = Pick<Entity, "numbers" | "statuses" | "settings">;

interface NewRecord extends Pick<InsertPlan, "table"> {
  readonly values: ReadonlyMap<Column, Scalar>;
  /** Columns that get a value when the record is stored. */
  later(): readonly Column[];
}

/** Adds the faults of fields that have none yet. What the database itself fills in is not known here. */
export function addTableFaults(
  errors: FieldErrors,
  { numbers, statuses, settings }: RuledEntity,
  { table, values, later }: NewRecord,
): void {
  const own = statuses.guarded.get(table.identity);
  const plans = numbers.get(table.identity) ?? [];
  if (own === undefined && plans.length === 0) return;
  const byName = new Map<string, Scalar>([
    ...later().map(({ name }) => [name, anyTime] as const),
    ...[...values].map(([{ name }, value]) => [name, value] as const),
  ]);
  const valueOf = ({ name }: Column): Scalar | undefined => byName.get(name);
  const status = own && valueOf(own.status);
  if (own && status !== undefined && isReserved(own, shownScalar(status)))
    errors[own.status.name] ??= [reservedMessage];
  const found: FieldErrors = {};
  for (const plan of plans) {
    const { column, onStatus } = plan;
    if (!isEmpty(valueOf(column))) continue;
    if (onStatus && !isStatus(onStatus, valueOf(onStatus.column))) continue;
    const time = { now: anyTime, timeZone: settings.timeZone };
    openNumber(plan, { valueOf, time, errors: found });
  }
  for (const [name, messages] of Object.entries(found)) errors[name] ??= messages;
}

/** Neither empty nor without a day. */
const anyTime = "2000-01-01T00:00:00.000Z";
