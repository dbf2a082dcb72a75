/** Keeps what an agent reads within its limits. The content stands in an answer twice: as text, and as data. */
import { agentLimits } from "../values/agent-limits.ts";
import { type AppError, invalidParameter } from "../values/errors.ts";
import { isObject } from "../values/json.ts";

const encoder = new TextEncoder();

/** Of the content in an answer. */
export function bytesOf(content: unknown): number {
  const text = JSON.stringify(content) ?? "";
  return encoder.encode(text).length + encoder.encode(JSON.stringify(text)).length;
}

const bytesMax = agentLimits.answerBytesMax - agentLimits.frameBytes;

export const fits = (content: unknown): boolean => bytesOf(content) <= bytesMax;

/** How many of the records, from the first one on, fit beside the other members; fewer than there are. */
export function fittingCount(
  content: Readonly<Record<string, unknown>>,
  records: readonly unknown[],
): number {
  let bytes = bytesOf({ ...content, data: [] });
  let count = 0;
  for (const record of records.slice(0, -1)) {
    // With two commas.
    bytes += bytesOf(record) + 2;
    if (bytes > bytesMax) break;
    count++;
  }
  return count;
}

/** The fields of a record that take the most room, for the error of a record that fits into no answer. */
const namedMax = 3;

export function tooLarge(record: unknown): AppError {
  const sizes = Object.entries(isObject(record) ? record : {})
    .map(([name, value]) => ({ name, kilobytes: Math.ceil(bytesOf(value) / 2_000) }))
    .toSorted((one, other) => other.kilobytes - one.kilobytes)
    .slice(0, namedMax)
    .map(({ name, kilobytes }) => `${name} (${kilobytes} kB)`);
  const which = sizes.length === 0 ? "" : `; its largest fields are ${sizes.join(", ")}`;
  return invalidParameter(
    `A single record is larger than an answer can be${which}. Leave them out with select`,
  );
}

/** The answer to a write with as many records of each list as an answer can have. */
export function cut(content: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const max = agentLimits.recordsMax;
  let isCut = false;
  const shortened = (value: unknown): unknown => {
    if (!Array.isArray(value) || value.length <= max) return value;
    isCut = true;
    return value.slice(0, max);
  };
  const members = Object.entries(content).map(([name, value]): [string, unknown] => {
    if (name !== "data" || !isObject(value)) return [name, shortened(value)];
    const own = Object.entries(value).map(([list, items]): [string, unknown] => [
      list,
      shortened(items),
    ]);
    return [name, Object.fromEntries(own)];
  });
  return {
    ...Object.fromEntries(members),
    ...(isCut && { hint: `Only the first ${max} records of each list are shown.` }),
  };
}

/** The answer to a write that is too long: it was done, and must not look like a failure. */
export function shortWrite(content: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { data: _, results: __, ...rest } = content;
  const hint =
    "The write was done. Its answer is larger than an answer can be, so the records are left out; read them with select.";
  const short = { ...rest, hint };
  return fits(short) ? short : { hint };
}
