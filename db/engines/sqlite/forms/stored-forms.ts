/**
 * The forms in which columns store dates, times, booleans and UUIDs. Each column is sampled when the configuration is
 * compiled. A value of another form is noticed later when it is shown, or if it is among the newest rows after another
 * program wrote: from then on the column is compared by value.
 */
import type { Database, Statement } from "better-sqlite3";
import type { Column, ColumnType, StoredIn } from "../../../../core/values/types/column.ts";
import type { Learned } from "../../../statements/dialect.ts";
import {
  dateFormOf,
  dateSpelling,
  instantFormOf,
  instantSpelling,
  type Spellings,
  unitOf,
  usualDate,
  usualInstant,
} from "./instant-forms.ts";
import { type Place, sampleValues, sampleChanges } from "./sample-values.ts";
import { mixedForm, type StoredForm } from "./stored-form.ts";
import { type FormType, readers } from "./stored-values.ts";
import {
  booleanFormOf,
  booleanSpelling,
  timeFormOf,
  timeSpelling,
  usualBoolean,
  usualTime,
  usualUuid,
  uuidFormOf,
  uuidSpelling,
} from "./word-forms.ts";

interface Family {
  readonly usual: StoredForm;
  readonly spelling: (raw: unknown) => string;
  readonly formOf: (spellings: Spellings) => StoredForm | null;
}

const families: Readonly<Record<FormType, Family>> = {
  timestamp: { usual: usualInstant, spelling: instantSpelling, formOf: instantFormOf },
  date: { usual: usualDate, spelling: dateSpelling, formOf: dateFormOf },
  time: { usual: usualTime, spelling: timeSpelling, formOf: timeFormOf },
  boolean: { usual: usualBoolean, spelling: booleanSpelling, formOf: booleanFormOf },
  uuid: { usual: usualUuid, spelling: uuidSpelling, formOf: uuidFormOf },
};

/** The type as one of those that have forms; null for the others. */
export const formTypeOf = (type: ColumnType): FormType | null =>
  Object.hasOwn(families, type) ? (type as FormType) : null;

/** What an expression gives may have any form. */
export const computedForm: StoredIn = { id: "computed", note: null, isUniform: true };

/** A column to be sampled: its place, type, and default as SQL. */
export interface Looked extends Place {
  readonly type: FormType;
  readonly byDefault: string | null;
}

export interface StoredForms extends Learned {
  /** Looks at the column's values, and keeps what they tell under the id of the result. */
  learn(database: Database, looked: Looked): StoredIn & { readonly fractionDigits: number };
  /** As `learn`, if the column was not sampled before. */
  recall(database: Database, looked: Looked): StoredIn;
  /** The form of a column. A column that belongs to no table has the usual form. */
  of(column: Column, type: FormType): StoredForm;
  /** Whether the values were as Rowgate itself writes them when it last looked; a statement does not rest on that. */
  seemsUsual(column: Column): boolean;
  /** Takes a value that was read from the column: one of another form than the known one changes the known form. */
  notice(column: Column, raw: unknown): void;
  /**
   * The time of a change as its column stores it: `now` in the column's form, or a millisecond after the later of the
   * two old values. These are given as stored, with the ids of their columns (empty for a column without forms).
   */
  stamped(now: unknown, own: StoredValue, other: StoredValue): unknown;
  /** The database may have been written by other statements than the service's. */
  touch(): void;
}

export interface StoredValue {
  /** Empty: a column without forms. */
  readonly id: string;
  readonly value: unknown;
}

interface Look {
  readonly form: StoredForm;
  readonly isEmpty: boolean;
  /** Every row was looked at. */
  readonly isWhole: boolean;
}

interface Known {
  readonly looked: Looked;
  form: StoredForm;
  /** There was no value to tell the form by. */
  isEmpty: boolean;
  version: string;
}

/**
 * `watched`: a connection whose `data_version` shows that another program wrote; null = there is none yet. One
 * piece, because every function reads and changes the known forms.
 */
export function createStoredForms(watched: () => Database | null): StoredForms {
  const known = new Map<string, Known>();
  const anyForms = new Map<FormType, StoredForm>();
  let generation = 0;
  let touches = 0;
  /** The columns that were asked about since `restOf` began to print. */
  let asked: Set<string> | null = null;

  const versions = new WeakMap<Database, Statement>();
  const versionOf = (database: Database | null): string => {
    if (database === null) return "";
    const statement = versions.get(database) ?? database.prepare("pragma data_version").pluck();
    versions.set(database, statement);
    return `${touches} ${String(statement.get())}`;
  };

  function set(one: Known, form: StoredForm): void {
    if (form === one.form) return;
    one.form = form;
    generation++;
  }

  const forms: StoredForms = {
    get generation() {
      return generation;
    },
    recall(database, looked) {
      const id = idOf(looked);
      const one = known.get(id);
      return one === undefined ? forms.learn(database, looked) : storedIn(id, one.form);
    },
    learn(database, looked) {
      const id = idOf(looked);
      const version = versionOf(watched());
      const before = known.get(id);
      const found = look(database, looked);
      const { isEmpty, isWhole } = found;
      // A form that was seen once stays known: the sample may have missed it this time.
      const form = before && !before.form.isUniform && !isWhole ? before.form : found.form;
      if (before !== undefined && before.form !== form) generation++;
      known.set(id, { looked, form, isEmpty, version });
      return { ...storedIn(id, form), fractionDigits: form.fractionDigits };
    },
    of({ stored }, type) {
      if (stored === undefined) return families[type].usual;
      asked?.add(stored.id);
      const found = known.get(stored.id)?.form;
      if (found !== undefined) return found;
      const any = anyForms.get(type) ?? mixedForm(families[type].usual, "size");
      anyForms.set(type, any);
      return any;
    },
    seemsUsual: ({ stored }) => stored === undefined || known.get(stored.id)?.form.isUsual === true,
    notice({ stored }, raw) {
      const one = stored && known.get(stored.id);
      if (one === undefined || one.form.holds(raw)) return;
      const { form } = one;
      set(one, mixedForm(form, form.unit));
    },
    stamped(now, own, other) {
      const form = known.get(own.id)?.form ?? usualInstant;
      const bound = typeof now === "string" ? now.replace(/~$/, "") : now;
      const nowMs = millisOf(bound, form);
      if (nowMs === null) return now;
      const olds = [own, other].map(({ id, value }) =>
        millisOf(value, known.get(id)?.form ?? null),
      );
      const latestMs = Math.max(...olds.map((ms) => ms ?? -Infinity));
      const keepsParts = form.fractionDigits > 0;
      const nextMs = keepsParts && latestMs >= nowMs ? latestMs + 1 : nowMs;
      const iso = new Date(nextMs).toISOString();
      const kept = iso.slice(20, -1).slice(0, form.fractionDigits).padEnd(3, "0");
      return form.bind(`${iso.slice(0, 20)}${kept}Z`);
    },
    touch() {
      touches++;
    },
    restOf(print) {
      asked = new Set();
      try {
        print();
        return [...asked];
      } finally {
        asked = null;
      }
    },
    refresh(ids) {
      const database = watched();
      if (database === null) return;
      const version = versionOf(database);
      for (const id of ids) {
        const one = known.get(id);
        if (one === undefined || one.version === version) continue;
        one.version = version;
        if (!one.form.isUniform) continue;
        if (one.isEmpty) {
          const { form, isEmpty } = look(database, one.looked);
          one.isEmpty = isEmpty;
          set(one, form);
        } else {
          const others: unknown[] = [];
          sampleChanges(database, one.looked, (raw) => one.form.holds(raw) || others.push(raw));
          if (others.length > 0) set(one, look(database, one.looked).form);
        }
      }
    },
  };
  return forms;
}

/** Tells the form of a column by a sample of its values. */
function look(database: Database, looked: Looked): Look {
  const { usual, spelling, formOf } = families[looked.type];
  const counts = new Map<string, number>();
  let sizes: { min: number; max: number } | null = null;
  const take = (raw: unknown): void => {
    const spelled = spelling(raw);
    counts.set(spelled, (counts.get(spelled) ?? 0) + 1);
    if (typeof raw !== "number") return;
    const size = Math.abs(raw);
    sizes = { min: Math.min(size, sizes?.min ?? size), max: Math.max(size, sizes?.max ?? size) };
  };
  const { isWhole } = sampleValues(database, looked, take);
  const filled = defaultOf(database, looked.byDefault);
  const isEmpty = counts.size === 0;
  if (isEmpty && filled !== null) take(filled);
  const writesFractions = looked.byDefault?.includes("%f") ?? false;
  const spellings: Spellings = { counts, sizes, writesFractions };
  const found = formOf(spellings);
  if (found !== null && (filled === null || found.holds(filled)))
    return { form: found, isEmpty, isWhole };
  const written = writtenForm(spellings, looked.type) ?? usual;
  return { form: mixedForm(written, unitOf(spellings)), isEmpty, isWhole };
}

const storedIn = (id: string, { isUsual, isUniform, words }: StoredForm): StoredIn => ({
  id,
  note: isUsual ? null : words,
  isUniform,
});

const idOf = ({ schema, table, column }: Place): string =>
  `${schema}.${table}.${column}`.toLowerCase();

function millisOf(raw: unknown, form: StoredForm | null): number | null {
  if (raw === null) return null;
  const iso = readers.timestamp(raw, form?.unit ?? "size");
  return typeof iso === "string" ? Date.parse(iso) : null;
}

/** The form in which most of the values are written, the usual one among equals; null when they have none. */
function writtenForm(
  { counts, sizes, writesFractions }: Spellings,
  type: FormType,
): StoredForm | null {
  let most: { form: StoredForm; count: number } | null = null;
  for (const entry of counts) {
    const [, count] = entry;
    const form = families[type].formOf({ counts: new Map([entry]), sizes, writesFractions });
    const isMore = most === null || count > most.count || (count === most.count && form?.isUsual);
    if (form !== null && isMore) most = { form, count };
  }
  return most?.form ?? null;
}

/** What the database fills in by itself; null when it fills in nothing, or it cannot be told. */
function defaultOf(database: Database, byDefault: string | null): unknown {
  if (byDefault === null) return null;
  try {
    return database.prepare<[], unknown>(`select (${byDefault})`).pluck().get() ?? null;
  } catch {
    return null;
  }
}
