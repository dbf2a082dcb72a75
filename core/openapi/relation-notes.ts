/**
 * What the notes of an endpoint say about its relations: where they lead, over which columns, and which column names
 * the records there. Only those that the caller may use.
 */
import type { Entity } from "../plans/entity.ts";
import { type FoundRelation, PathColumns } from "../query/paths.ts";
import type { Column, Columns, Hop } from "../values/types/column.ts";
import type { Json } from "../values/json.ts";
import type { ActionView } from "./describe-endpoint.ts";

/** The columns that name records to people, by endpoint. */
export type TitleFields = ReadonlyMap<string, string>;

/** The relations by name; null if there are none. */
export function relationNotes(views: readonly ActionView[], titles: TitleFields): Json {
  const labels = views[0]?.entity.labels;
  const named = views
    .flatMap(({ entity: { read, grid } }) => [read?.named, grid?.named])
    .find((columns) => columns instanceof PathColumns && columns.relationNames().length > 0);
  if (!(named instanceof PathColumns)) return null;
  return Object.fromEntries(
    named.relationNames().map((name) => {
      const found = named.relation(name)!;
      const title = titles.get(found.steps.at(-1)!.endpoint);
      const seen = title !== undefined && found.columns.has(title) ? title : null;
      const label = seen === null ? undefined : labels?.get(`${name}.${seen}`);
      return [name, noteOf(found, { titleField: seen, label })];
    }),
  );
}

interface Naming {
  readonly titleField: string | null;
  readonly label: string | undefined;
}

function noteOf(
  { isMany, columns, key, steps }: FoundRelation,
  { titleField, label }: Naming,
): Json {
  const [first, second] = steps as [Hop, Hop?];
  return {
    endpoint: (second ?? first).endpoint,
    ...(isMany && { many: true }),
    columns: pairs(first),
    ...(second && { through: { endpoint: first.endpoint, columns: pairs(second) } }),
    key: key.map(({ name }) => name).filter((name) => columns.has(name)),
    ...(titleField !== null && { titleField }),
    ...(label !== undefined && { label }),
  };
}

const pairs = ({ on }: Hop): Json =>
  Object.fromEntries(on.map(({ left, right }) => [left.name, right.name]));

const audit = /^(created|updated|deleted)_by$/;

/** The column that names a record to people; null if none does. */
export function titleFieldOf({ enabled, lookup, read, grid, insert }: Entity): string | null {
  const columns: Columns = (read ?? grid)?.columns ?? new Map();
  const key = new Set((read?.key ?? []).map(({ name }) => name));
  const referring = new Set((insert?.table.foreignKeys ?? []).flatMap((one) => one.columns));
  const isTitle = ({ name, type, via }: Column): boolean =>
    type === "text" &&
    via === undefined &&
    !key.has(name) &&
    !referring.has(name) &&
    !audit.test(name);
  const texts = [...columns.values()].filter(isTitle);
  const label = enabled.has("lookup") ? (lookup?.text ?? null) : null;
  const shown = (label?.parts ?? [label]).flatMap((part) =>
    part !== null && typeof part === "object" && isTitle(part) && columns.has(part.name)
      ? [part]
      : [],
  );
  const title =
    shown.find(({ name }) => /^(name|title|label)$/i.test(name)) ??
    shown.find(({ name }) => !/(code|sku|no|nr)$/i.test(name)) ??
    texts.find(({ name }) => /(^|_)(name|title|number|label)$/i.test(name)) ??
    texts[0];
  return title?.name ?? null;
}
