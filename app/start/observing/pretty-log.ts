/** Turns the JSON lines of the log into lines that people read on a terminal. */

const levels: Readonly<Record<number, { readonly name: string; readonly color: number }>> = {
  10: { name: "TRACE", color: 90 },
  20: { name: "DEBUG", color: 36 },
  30: { name: "INFO", color: 32 },
  40: { name: "WARN", color: 33 },
  50: { name: "ERROR", color: 31 },
  60: { name: "FATAL", color: 35 },
};
const gray = 90;

interface Line {
  readonly level: number;
  /** ISO. */
  readonly time: string;
  readonly msg: string;
  readonly err?: { readonly message?: string; readonly stack?: string; readonly code?: string };
}

/** `15:04:05.678 INFO  request POST /api/… 200 requestId=…`, with an error's stack below it. */
export function prettyLine(json: string, { isColored }: { isColored: boolean }): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Line;
  const paint = (text: string, color: number) =>
    isColored ? `\u001b[${color}m${text}\u001b[39m` : text;
  const { name, color } = levels[level] ?? { name: String(level), color: gray };
  const { method, path, status, durationMs, ...others } = fields as Record<string, unknown>;
  const main = [method, path, status, durationMs === undefined ? undefined : `${durationMs}ms`];
  const words = [
    paint(time.slice(11, 23), gray),
    paint(name.padEnd(5), color),
    printable(msg),
    ...main.flatMap((one) => (one === undefined ? [] : [shown(one)])),
    ...(err ? [paint(`${printable(err.message ?? "")}${codeOf(err)}`, color)] : []),
    ...Object.entries(others).map(([key, value]) => paint(`${key}=${shown(value)}`, gray)),
  ];
  const stack = err?.stack ? `\n${indented(err.stack)}` : "";
  return `${words.filter((word) => word !== "").join(" ")}${stack}\n`;
}

const codeOf = ({ code }: { readonly code?: string }): string => (code ? ` (${code})` : "");

/** A text without quotes if it is a single word. */
function shown(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return /^[^\s"=]+$/.test(value) ? printable(value) : JSON.stringify(value);
}

/** Without characters that could move the cursor or forge a line. */
const printable = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ");

const indented = (stack: string): string =>
  stack
    .split("\n")
    .map((line) => `    ${printable(line.trim())}`)
    .join("\n");
