/**
 * What is known of the forms in which columns keep dates, times, booleans and UUIDs. Each is looked at when the configuration is
 * compiled. From then on a value of another form is noticed when it is shown, or when it is among the newest rows after another
 * program wrote: the column is then compared by value, for good.
 */
import type { Database, Statement } from "better-sqlite3";
import type { Column, ColumnType, StoredIn } from "../../../core/values/column.ts";
import type { LearnedForms } from "../../statements/dialect.ts";
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

/** A column to be looked at: its place, type, and default as SQL. */
export interface Looked extends Place {
  readonly type: FormType;
  readonly byDefault: string | null;
}

export interface StoredForms extends LearnedForms {
  /** Looks at the column's values, and keeps what they tell under the id of the result. */
  learn(database: Database, looked: Looked): StoredIn & { readonly fractionDigits: number };
  /** As `learn`, where the column was not looked at before. */
  recall(database: Database, looked: Looked): StoredIn;
  /** The form of a column. One that is no table's own has the usual form. */
  of(column: Column, type: FormType): StoredForm;
  /** A value that was read of the column: one of another form than that which is known changes what is known. */
  notice(column: Column, raw: unknown): void;
  /**
   * The time of a change as its column stores it: `now` as the column's form binds it, or a millisecond after the later of the two
   * old values. Those come as stored, with the ids of their columns; a column of the other kind has none.
   */
  stamped(now: unknown, own: StoredValue, other: StoredValue): unknown;
  /** Somebody may have written past the service's own statements. */
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

/** `watched`: a connection whose `data_version` tells that another program wrote; null = there is none yet. */
export function createStoredForms(watched: () => Database | null): StoredForms {
  const known = new Map<string, Known>();
  const anyForms = new Map<FormType, StoredForm>();
  let generation = 0;
  let touches = 0;

  const versions = new WeakMap<Database, Statement>();
  const versionOf = (database: Database | null): string => {
    if (database === null) return "";
    const statement = versions.get(database) ?? database.prepare("pragma data_version").pluck();
    versions.set(database, statement);
    return `${touches} ${String(statement.get())}`;
  };

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

  function set(one: Known, form: StoredForm): void {
    if (form === one.form) return;
    one.form = form;
    generation++;
  }

  const storedIn = (id: string, { isUsual, isUniform, words }: StoredForm): StoredIn => ({
    id,
    note: isUsual ? null : words,
    isUniform,
  });

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
      // What a value showed once, a sample need not have met again.
      const form = before && !before.form.isUniform && !isWhole ? before.form : found.form;
      if (before !== undefined && before.form !== form) generation++;
      known.set(id, { looked, form, isEmpty, version });
      return { ...storedIn(id, form), fractionDigits: form.fractionDigits };
    },
    of({ stored }, type) {
      if (stored === undefined) return families[type].usual;
      const found = known.get(stored.id)?.form;
      if (found !== undefined) return found;
      const any = anyForms.get(type) ?? mixedForm(families[type].usual, "size");
      anyForms.set(type, any);
      return any;
    },
    notice({ stored }, raw) {
      const one = stored && known.get(stored.id);
      if (one === undefined || one.form.holds(raw)) return;
      const { form } = one;
      set(one, mixedForm(form, form.unit));
    },
    stamped(now, own, other) {
      const form = known.get(own.id)?.form ?? null;
      const bound = typeof now === "string" ? now.replace(/~$/, "") : now;
      const nowMs = millisOf(bound, form);
      if (nowMs === null || form === null) return now;
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
