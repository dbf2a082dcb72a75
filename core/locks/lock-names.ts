/**
 * Names of locks in the store. Two requests for the same record must produce the same name, whatever they sent and
 * through whichever endpoint. Record locks (of one write) and resource locks (of lock/acquire) never share a name.
 * Counters of document numbers have such names too: they are locked in the database.
 */
import type { AlikeText, Column, Table } from "../values/types/column.ts";
import type { Entity } from "../plans/entity.ts";
import type { Db } from "../plans/db-port.ts";
import { past } from "../callers/scoped-session.ts";
import type { Session, Transaction } from "../query/session.ts";
import type { Native } from "../query/statement.ts";
import type { Key, KeyValue } from "../values/types/key.ts";
import { isUnavailable } from "../values/errors.ts";
import type { Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import { showBytes } from "../values/types/bytes-type.ts";
import { equalText } from "../values/types/equal-text.ts";
import { showInteger } from "../values/types/integer-type.ts";
import type { WritePlan } from "../plans/write-plan.ts";

export type LockKind = "record" | "resource" | "counter";

/** What is locked: the rows of `resource` whose columns hold the values. */
export interface Locked {
  /** From `tableResource` or `resourceOf`. */
  readonly resource: string;
  /** At least one column. */
  readonly key: Key;
  readonly value: KeyValue;
}

/** A record as a client names it: by one column, or by every column of its key. */
export type ShownKey =
  | { readonly key: string; readonly value: Json }
  | { readonly record: Readonly<Record<string, Json>> };

/** Endpoints of one table lock each other's records. */
export const tableResource = ({ identity }: Table): string => `table ${identity}`;

/** An endpoint with only a view or a query has its own namespace of locks. */
export const resourceOf = ({ write, name }: Entity): string =>
  write ? tableResource(write.table) : `endpoint ${name}`;

/** Tells which texts the database equates. */
export type Forms = Pick<Db, "equalForms">;

/**
 * The same in the transaction of a batch. Its connection may be the last one that is free: another one could be waited
 * for by batches that wait for each other.
 */
export const formsIn = (session: Session): Forms =>
  formsBy((statement) => {
    const ask = (tx: Transaction) => past(tx, "lockNames").native(statement);
    return session.tx(ask, { isReplaceable: true });
  });

/** The same by a statement that `ask` runs. */
export const formsBy = (ask: (statement: Native) => Promise<Row[]>): Forms => ({
  async equalForms(texts) {
    const ends = texts.map(
      ({ alike: { behind } }, at) =>
        `${behind} as f${at}${at + 1 < texts.length ? `, ${texts[at + 1]!.alike.before}` : ""}`,
    );
    const statement: Native = {
      kind: "native",
      texts: [`select ${texts[0]!.alike.before}`, ...ends],
      order: texts.map((_, at) => at),
      values: texts.map(({ text }) => ({ type: "text", value: text })),
      isRead: true,
    };
    const [row] = await ask(statement);
    return texts.map((_, at) => String(row![`f${at}`]));
  },
});

export interface NamingOptions {
  /** Shortens names of long keys; two keys must never share one. */
  readonly digest: (text: string) => string;
  /** On the clock of `performance.now()`. */
  readonly deadlineAtMs: number;
}

/** Names the locks of one request; the database is queried once per text. */
export class LockNames {
  private readonly options: NamingOptions;
  /** By `formKey`. */
  private readonly forms = new Map<string, string>();

  constructor(options: NamingOptions) {
    this.options = options;
  }

  /** In the order of the records; equal exactly if the database equates the keys. Rejects with `unavailable`. */
  async of(kind: LockKind, records: readonly Locked[], db: Forms): Promise<string[]> {
    const texts = records.flatMap(({ key, value }) =>
      key.flatMap((column, at) => askedOf(column, value[at]!)),
    );
    const unknown = new Map(texts.map((text) => [formKey(text), text]));
    for (const key of this.forms.keys()) unknown.delete(key);
    for (const some of batches([...unknown])) {
      const forms = await this.ask(
        some.map(([, text]) => text),
        db,
      );
      for (const [at, [key]] of some.entries()) this.forms.set(key, forms[at]!);
    }
    return records.map((record) => this.nameOf(kind, record));
  }

  private nameOf(kind: LockKind, { resource, key, value }: Locked): string {
    const parts = key.map((column, at) => {
      const [asked] = askedOf(column, value[at]!);
      const text = asked ? this.forms.get(formKey(asked))! : equalText(column, value[at]!);
      return [column.name, text] as const;
    });
    const [only] = parts;
    // Endpoints of one table may name the columns of its key in another order.
    const named = only && parts.length === 1 ? only.join("\n") : JSON.stringify(parts.toSorted());
    return `${kind}:${this.options.digest(`${resource}\n${named}`).slice(0, 40)}`;
  }

  /** A text that the column's type does not accept matches no record. It is used unchanged as its form. */
  private async ask(texts: readonly AlikeText[], db: Forms): Promise<readonly string[]> {
    try {
      return await db.equalForms(texts, this.options.deadlineAtMs);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (texts.length === 1) return [texts[0]!.text];
      const forms: string[] = [];
      for (const one of texts) forms.push(...(await this.ask([one], db)));
      return forms;
    }
  }
}

const formKey = ({ alike: { before, behind }, text }: AlikeText): string =>
  `${before}\n${behind}\n${text}`;

/** As many at once as the store takes. */
export function batches<T>(items: readonly T[]): T[][] {
  const count = Math.ceil(items.length / limits.lockNamesMax);
  return Array.from({ length: count }, (_, at) =>
    items.slice(at * limits.lockNamesMax, (at + 1) * limits.lockNamesMax),
  );
}

/** The text whose form only the database knows; empty: `equalText` knows it. */
const askedOf = ({ alike }: Column, value: Scalar): readonly AlikeText[] =>
  typeof alike === "object" && typeof value === "string" ? [{ alike, text: value }] : [];

/** The record as the caller may see it. */
export function shownKey({ key, shown }: WritePlan, value: KeyValue): ShownKey | null {
  if (!key.every(({ name }) => shown.has(name))) return null;
  const members = key.map(({ name }, at) => [name, shownValue(value[at]!)] as const);
  const [only] = members;
  return only && members.length === 1
    ? { key: only[0], value: only[1] }
    : { record: Object.fromEntries(members) };
}

function shownValue(value: Scalar): Json {
  if (value instanceof Uint8Array) return showBytes(value);
  return typeof value === "bigint" ? showInteger(value, "number") : value;
}
