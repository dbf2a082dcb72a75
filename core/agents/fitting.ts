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

export const fitsAnswer = (content: unknown): boolean => bytesOf(content) <= bytesMax;

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

export function recordTooLarge(record: unknown): AppError {
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
  const { data } = content;
  const shown = isObject(data) ? { ...content, data: shortLists(data) } : content;
  const all = [...Object.values(content), ...(isObject(data) ? Object.values(data) : [])];
  const isCut = all.some(isLong);
  const hint = `Only the first ${agentLimits.recordsMax} records of each list are shown.`;
  return { ...shortLists(shown), ...(isCut && { hint }) };
}

const isLong = (value: unknown): value is unknown[] =>
  Array.isArray(value) && value.length > agentLimits.recordsMax;

const shortLists = (members: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      isLong(value) ? value.slice(0, agentLimits.recordsMax) : value,
    ]),
  );

/** The answer to a write that is too long: it was done, and must not look like a failure. */
export function shortWrite(content: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { data: _, results: __, ...rest } = content;
  const hint =
    "The write was done. Its answer is larger than an answer can be, so the records are left out; read them with select.";
  const short = { ...rest, hint };
  return fitsAnswer(short) ? short : { hint };
}
