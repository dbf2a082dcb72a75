/** Stores new records: one as create does, with the operator's handlers around it, or a set of them with few statements. */
import type { Call, Write } from "../calls/action.ts";
import type { Answer } from "../calls/answer.ts";
import type { Queries } from "../query/session.ts";
import type { Insert } from "../query/statement.ts";
import type { Column } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";
import type { Row } from "../values/row.ts";
import type { Scalar } from "../values/scalar.ts";
import type { Done } from "./bulk-outcomes.ts";
import { etagOf } from "./etag.ts";
import { hasHandlers, runAfter, runBefore } from "./events.ts";
import { insertOf, type InsertingPlan, readBack, readBackAll } from "./record.ts";
import { insertSet } from "./record-sets.ts";

/**
 * The work of create. An invalid body is refused at once, unless a handler could still correct it. `checkInsert` sees
 * what is stored after such a handler, and throws to refuse it.
 */
export function beginCreate(
  call: Call,
  plan: InsertingPlan,
  checkInsert?: (insert: Insert) => void,
): Write {
  const { entity } = call;
  const ready = hasHandlers(entity, "onBeforeInsert") ? null : insertOf(call, plan);
  const unshown = unshownKey(plan);

  async function store(insert: Insert, queries: Queries): Promise<Row> {
    const returning = unshown.length === 0 ? insert.returning : [...insert.returning, ...unshown];
    return onlyRow(await queries.insert({ ...insert, returning }));
  }

  function answer(subject: readonly Json[], record: Row): Answer {
    const message = `${entity.name} data successfully added`;
    const etag = etagOf(record, plan.read);
    return { status: 201, body: { message, data: record }, etag, subject };
  }

  if (ready !== null && !plan.write.readBack && !hasHandlers(entity, "onAfterInsert"))
    return {
      isOneStatement: true,
      async run(queries) {
        const row = await store(ready, queries);
        return answer(subjectOf(row, plan), without(row, unshown));
      },
    };
  return {
    isOneStatement: false,
    async run(queries) {
      const data = await runBefore(call, queries, { event: "onBeforeInsert", data: call.body });
      const insert = ready ?? insertOf({ ...call, body: data }, plan);
      checkInsert?.(insert);
      const row = await store(insert, queries);
      const subject = subjectOf(row, plan);
      const record = without(await readBack(row, plan, queries), unshown);
      await runAfter(call, queries, { event: "onAfterInsert", data, record });
      return answer(subject, record);
    },
  };
}

/** Stores records whose values were checked, and which no handler has to see. */
export async function createSet(
  items: readonly { readonly values: ReadonlyMap<Column, Scalar> }[],
  plan: InsertingPlan,
  queries: Queries,
): Promise<Done[]> {
  const { key, shown } = plan.write;
  const unshown = unshownKey(plan);
  const all = new Set<Column>();
  for (const { values } of items) for (const column of values.keys()) all.add(column);
  const among = [...all];
  const optional = new Set(
    among.filter((column) => isNullByItself(column) && !key.includes(column)),
  );
  const returning = [...shown.values(), ...unshown];
  const rows = await insertSet(queries, items, { ...plan.write, among, optional, returning });
  const records = await readBackAll(rows, plan, queries);
  return records.map((read, at) => {
    const subject = subjectOf(rows[at]!, plan);
    const record = without(read, unshown);
    return { record, etag: etagOf(record, plan.read), subject };
  });
}

/** The columns that the database would leave null: they are set, so that more rows set the same ones. */
const isNullByItself = ({ nullable, hasDefault, generated, isFilledByTrigger }: Column): boolean =>
  nullable && !hasDefault && generated === "none" && isFilledByTrigger !== true;

/** Columns of the key that answers do not show. */
const unshownKey = ({ write: { key, shown } }: InsertingPlan): Column[] =>
  key.filter(({ name }) => !shown.has(name));

const subjectOf = (row: Row, { write }: InsertingPlan): Json[] =>
  write.key.map(({ name }) => row[name] ?? null);

function without(record: Row, columns: readonly Column[]): Row {
  for (const { name } of columns) delete record[name];
  return record;
}

function onlyRow(rows: Row[]): Row {
  const [row] = rows;
  if (!row) throw new Error("The database stored a row but did not return it");
  return row;
}
