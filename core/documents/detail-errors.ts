/** Where an error of a composite's details is: `<detail table>[<index>].<field>`, as in the `errors` map. */
import type { DetailPlan } from "../plans/composite-plan.ts";
import { AppError, type ErrorKind, type FieldErrors } from "../values/errors.ts";

/** One detail of a body. */
export interface Place {
  readonly detail: DetailPlan;
  /** In its list. */
  readonly index: number;
  readonly sent: Record<string, unknown>;
  /** The list, if details are in several ones; null = there is only one. */
  readonly list: "insert" | "update" | "delete" | null;
  /** True: the list's name begins each message, because another list has details of the same index. */
  readonly saysList: boolean;
}

const placeName = ({ detail, index }: Pick<Place, "detail" | "index">): string =>
  `${detail.table.name}[${index}]`;

/** Whether the name in an `errors` map is one of a detail. */
export const isOfDetails = (name: string, table: string): boolean =>
  name.startsWith(`${table}[`) || name.startsWith(`${table}.`);

/** The faults of one detail, under their names in the whole body. */
export function addErrors(errors: FieldErrors, place: Place, found: FieldErrors): void {
  for (const [name, messages] of Object.entries(found)) {
    const target = name === "" ? placeName(place) : `${placeName(place)}.${name}`;
    const texts = messages.map((text) => (place.saysList ? `${place.list}: ${text}` : text));
    errors[target] = [...(errors[target] ?? []), ...texts];
  }
}

/** Errors with which a database refuses a row. */
const refusals: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "validationFailed",
  "duplicateEntry",
  "foreignKeyMissing",
  "rejectedByDatabase",
]);

export const isRefusal = (error: unknown): error is AppError =>
  error instanceof AppError && refusals.has(error.kind);

/** The database's refusal with the names of the detail's fields; what the caller neither sees nor sent is not named. */
export function refusedAt(place: Place, error: AppError): AppError {
  const { detail, sent } = place;
  const isKnown = (name: string): boolean =>
    detail.shown.has(name) || (detail.writable.has(name) && Object.hasOwn(sent, name));
  const known = Object.entries(error.errors ?? missingTarget(place, error)).filter(([name]) =>
    isKnown(name),
  );
  const errors: FieldErrors = {};
  addErrors(
    errors,
    place,
    known.length > 0 ? Object.fromEntries(known) : { "": ["is refused by the database"] },
  );
  return new AppError(error.kind, error.message, { errors, cause: error });
}

/** Not every engine names the failed reference. It is not the one to the header, so a single other one must be it. */
function missingTarget({ detail, sent }: Place, { kind }: AppError): FieldErrors {
  if (kind !== "foreignKeyMissing") return {};
  const others = detail.table.foreignKeys.filter(
    ({ columns }) =>
      !columns.includes(detail.foreignKey.name) &&
      columns.some((name) => Object.hasOwn(sent, name)),
  );
  if (others.length !== 1) return {};
  return Object.fromEntries(others[0]!.columns.map((name) => [name, ["does not exist"]]));
}

/** The refusal of a computation over all details of a header. */
export function refusedComputation(detail: DetailPlan, error: AppError): AppError {
  const known = Object.entries(error.errors ?? {}).filter(([name]) => detail.shown.has(name));
  const errors = Object.fromEntries(
    known.map(([name, messages]) => [`${detail.table.name}.${name}`, messages]),
  );
  return new AppError(error.kind, error.message, { errors, cause: error });
}
