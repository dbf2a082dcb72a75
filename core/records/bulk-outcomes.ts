/**
 * What becomes of the records of a bulk request. In mode `all`, faults of the rules are collected and every other
 * refusal ends the request, both with the index of the record. In mode `each`, a record that is refused is answered as
 * such, and the others are stored.
 */
import { errorTable } from "../calls/error-table.ts";
import type { Answer } from "../calls/answer.ts";
import type { Transaction } from "../query/session.ts";
import { AppError, type FieldErrors, validationFailed } from "../values/errors.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";

export type BulkMode = "all" | "each";

/** A record that was stored, changed or deleted. */
export interface Done {
  readonly record: Row;
  /** Null: it is gone. */
  readonly etag: string | null;
  /** Its key, in the form of `keyAsJson`; null: it is gone. */
  readonly subject: readonly Json[] | null;
  /** Of upsert: whether it is new. */
  readonly created?: boolean;
}

/** What a single action did with its record. */
export const doneOf = ({ body, etag, subject }: Answer): Done => ({
  record: body["data"] as Row,
  etag: etag ?? null,
  subject: subject ?? [],
});

/** The records of a request. */
export interface Bulk {
  readonly mode: BulkMode;
  readonly count: number;
  /** Whether the caller sees the column or has sent it with this record: no other one is named in errors. */
  isKnown(index: number, name: string): boolean;
}

/** Whether the name in an `errors` map is one of a record in a list: `[3].price`, `[3]`. */
export const isOfRecord = (name: string): boolean => /^\[\d+\]/.test(name);

export class Outcomes {
  private readonly bulk: Bulk;
  private readonly refused: Map<number, AppError>;
  private readonly done = new Map<number, Done>();

  constructor(bulk: Bulk, refused: ReadonlyMap<number, AppError> = new Map()) {
    this.bulk = bulk;
    this.refused = new Map(refused);
  }

  /** The same before anything was stored: a transaction may run several times. */
  again(): Outcomes {
    return new Outcomes(this.bulk, this.refused);
  }

  get isEach(): boolean {
    return this.bulk.mode === "each";
  }

  isRefused(index: number): boolean {
    return this.refused.has(index);
  }

  /** Why the record was refused. */
  refusalOf(index: number): AppError | undefined {
    return this.refused.get(index);
  }

  /** Throws in mode `all`, unless the error is one of those that `refuseCollected` throws. */
  refuse(index: number, error: AppError): void {
    if (this.bulk.mode === "all" && error.kind !== "validationFailed") {
      this.refuseCollected();
      throw this.at(index, error);
    }
    if (!this.refused.has(index)) this.refused.set(index, error);
  }

  /** What `make` gives, unless it is null; nothing if it throws why the record is refused. */
  accepted<T>(index: number, make: () => T | null): T[] {
    try {
      const made = make();
      return made === null ? [] : [made];
    } catch (error) {
      if (!isAboutData(error)) throw error;
      this.refuse(index, error);
      return [];
    }
  }

  /** In mode `all`: throws the faults of all records, if there are any. */
  refuseCollected(): void {
    if (this.bulk.mode !== "all" || this.refused.size === 0) return;
    const errors: FieldErrors = {};
    for (const [index, error] of [...this.refused].toSorted(([a], [b]) => a - b))
      Object.assign(errors, this.at(index, error).errors);
    // What the database refused tells more than what the rules did.
    const caused = [...this.refused.values()].find(({ cause }) => cause !== undefined);
    throw validationFailed(errors, caused);
  }

  store(index: number, done: Done): void {
    this.done.set(index, done);
  }

  /** The index of the record that was stored under this key; null: there is none. */
  storedAt(subject: readonly Json[]): number | null {
    const text = JSON.stringify(subject);
    for (const [index, done] of this.done) if (JSON.stringify(done.subject) === text) return index;
    return null;
  }

  /** `message`: when all were stored. `status`: of mode `all`. */
  answer({ message, status }: { message: string; status: 200 | 201 }): Answer {
    this.refuseCollected();
    if (this.bulk.mode === "each") return this.single(message);
    return wholeAnswer(
      this.inOrder().map((one) => one!),
      { message, status },
    );
  }

  private single(message: string): Answer {
    const { count } = this.bulk;
    const failed = this.refused.size;
    const results = this.inOrder().map((one, index) =>
      one === null ? this.failure(index) : success(index, one),
    );
    const isWhole = failed === 0;
    const body = {
      success: isWhole,
      message: isWhole ? message : `${failed} of ${count} records were refused`,
      summary: { succeeded: count - failed, failed },
      results,
    };
    const subjects = this.inOrder().map((one) => one && one.subject);
    return { status: isWhole ? 200 : 207, body, subjects };
  }

  private inOrder(): (Done | null)[] {
    return Array.from({ length: this.bulk.count }, (_, index) =>
      this.refused.has(index) ? null : this.done.get(index)!,
    );
  }

  private failure(index: number): Record<string, unknown> {
    const { kind, message, data, ...error } = this.refused.get(index)!;
    const known = this.knownIn(index, { kind, errors: error.errors });
    return {
      index,
      success: false,
      error: errorTable[kind].error,
      message,
      ...(known.length > 0 && { errors: Object.fromEntries(known) }),
      ...(data && { data }),
    };
  }

  /** The error of the request that the refusal of one record is. */
  private at(index: number, error: AppError): AppError {
    const known = this.knownIn(index, error);
    const place = `[${index}]`;
    const errors = Object.fromEntries(
      known.length > 0
        ? known.map(([name, messages]) => [`${place}.${name}`, messages])
        : [[place, [error.message]]],
    );
    const { data } = error;
    const message =
      error.kind === "validationFailed" ? error.message : `${place}: ${error.message}`;
    return new AppError(error.kind, message, { errors, cause: error, ...(data && { data }) });
  }

  private knownIn(
    index: number,
    { kind, errors = {} }: Pick<AppError, "kind"> & { errors?: FieldErrors | undefined },
  ): [string, string[]][] {
    // The operator writes the handlers, so their messages are answered unchanged.
    const isOwn = kind === "rejectedByHook";
    return Object.entries(errors).filter(([name]) => isOwn || this.bulk.isKnown(index, name));
  }
}

/** Of records that were all stored, or are gone: then there are no versions. */
export function wholeAnswer(
  done: readonly Done[],
  {
    message,
    status,
    hasEtags = done.every(({ etag }) => etag !== null),
  }: { message: string; status: 200 | 201; hasEtags?: boolean },
): Answer {
  const created = done.flatMap((one, index) =>
    one.created === undefined ? [] : [{ index, created: one.created }],
  );
  const body = {
    message,
    data: done.map(({ record }) => record),
    ...(hasEtags && { etags: done.map(({ etag }) => etag) }),
    ...(created.length > 0 && { results: created }),
  };
  return { status, body, subjects: done.map(({ subject }) => subject) };
}

const success = (index: number, { record, created }: Done): Record<string, unknown> => ({
  index,
  success: true,
  ...(created !== undefined && { created }),
  data: record,
});

/** How records are stored. */
export interface Storing<Item> {
  readonly outcomes: Outcomes;
  /** Stores some of the records in the transaction, or none of them. */
  store(items: readonly Item[], tx: Transaction): Promise<readonly Done[]>;
  /** True: a handler sees each record, so they are stored one by one. */
  readonly isOneByOne: boolean;
  /** Called when some were refused, after what they changed was undone. Resolves with another error that says why. */
  onRefusal?(error: AppError, items: readonly Item[]): Promise<AppError | null>;
}

/**
 * Stores the records together. If the database refuses them, half as many are tried, then half of the rest of those, and
 * behind those twice as many after each success: so few statements find one that is at fault, and one for each is enough
 * where all are.
 */
export async function storeParts<Item extends { readonly index: number }>(
  tx: Transaction,
  items: readonly Item[],
  storing: Storing<Item>,
): Promise<void> {
  const { outcomes, isOneByOne } = storing;
  let size = isOneByOne ? 1 : items.length;
  let at = 0;
  /** The place behind those among which one is at fault. */
  let suspected = 0;
  while (at < items.length) {
    const some = items.slice(at, at + size);
    const refusal = await storePart(tx, some, storing);
    const next = at + some.length;
    if (refusal !== null) suspected = next;
    if (refusal === null || some.length === 1) at = next;
    if (refusal !== null && at === next) outcomes.refuse(some[0]!.index, refusal);
    if (at < suspected) size = Math.ceil((suspected - at) / 2);
    else if (refusal === null && !isOneByOne) size *= 2;
  }
  outcomes.refuseCollected();
}

/** Resolves with why none of them was stored; null = all were. */
async function storePart<Item extends { readonly index: number }>(
  tx: Transaction,
  items: readonly Item[],
  storing: Storing<Item>,
): Promise<AppError | null> {
  const { outcomes } = storing;
  // Of records that are stored one by one, all or none, an earlier one may refer to a later one.
  const foreseesCommit = !storing.isOneByOne || outcomes.isEach;
  try {
    const done = await tx.part(() => storing.store(items, tx), { foreseesCommit });
    for (const [at, { index }] of items.entries()) outcomes.store(index, done[at]!);
    return null;
  } catch (error) {
    if (!isAboutData(error)) throw error;
    return (await storing.onRefusal?.(error, items)) ?? error;
  }
}

/** Whether the error is about the data, so that the transaction can go on without them. */
export const isAboutData = (error: unknown): error is AppError =>
  error instanceof AppError && errorTable[error.kind].status < 500;
