/** What `rowgate check` prints, for people and as JSON. */
import { faultMessage, formatFaults } from "../../../core/config/reading/faults.ts";
import { riskText } from "../../../core/config/checking/risks.ts";
import type { Advice } from "../../../core/init/advice.ts";
import type { CheckedConfig } from "./check-config.ts";

export interface CheckReport {
  readonly isOk: boolean;
  readonly out: string;
  readonly errors: string;
}

/** `--json`: one object on standard output, with or without faults. */
export function checkReport(
  checked: CheckedConfig,
  configDir: string,
  asJson: boolean,
): CheckReport {
  const { faults, unreachable, notices, risks, drift, advice, endpoints } = checked;
  const isOk = faults.length + unreachable.length === 0;
  if (asJson) return { isOk, out: `${jsonOf(checked, isOk)}\n`, errors: "" };
  const errors = [
    ...(faults.length > 0 ? [formatFaults(faults)] : []),
    ...unreachable.map(({ sentence }) => sentence),
  ];
  const lines = [
    ...notices.map((notice) => `Note: ${notice}`),
    ...drift.map(({ file, message }) => `Drift: ${file ? `${file}: ` : ""}${message}`),
    ...risks.map((risk) => `Warning: ${riskText(risk)}`),
    ...(advice ?? []).flatMap(adviceLines),
    ...(advice?.length === 0 ? ["Advice: no index is missing"] : []),
    ...(isOk
      ? [
          `The configuration in ${configDir} is valid: ${endpoints} endpoint${endpoints === 1 ? "" : "s"}`,
        ]
      : []),
  ];
  const asText = (some: readonly string[]): string => some.map((line) => `${line}\n`).join("");
  return { isOk, out: asText(lines), errors: asText(errors) };
}

/** The sentence, and below it the statements, ready to run. */
const adviceLines = ({ file, table, message, statements }: Advice): string[] => [
  `Advice: ${file}: table ${table}: ${message}`,
  ...statements.map((statement) => `  ${statement};`),
];

function jsonOf({ faults, unreachable, drift, risks, advice }: CheckedConfig, ok: boolean): string {
  const written = {
    ok,
    faults: [
      ...faults.map((fault) => ({
        file: fault.file,
        path: fault.path,
        message: faultMessage(fault),
      })),
      ...unreachable.map(({ file, sentence }) => ({
        file,
        path: "database.url",
        message: sentence,
      })),
    ],
    drift: drift.map(({ kind, table, column, file, message }) => ({
      kind,
      table,
      column,
      file,
      message,
    })),
    risks: risks.map(({ file, path, message }) => ({ file, path, message })),
    ...(advice !== null && { advice }),
  };
  return JSON.stringify(written, null, 2);
}
