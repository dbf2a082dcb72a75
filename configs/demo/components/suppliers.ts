/** What no property of a file can say of suppliers. `suppliers.json` names these functions under `components`. */
import type { HookContext } from "../../../core/plans/hook.ts";

/** Before a supplier is stored: `at 7` becomes `AT-007`, and what is no such code is refused. */
export function normaliseCode({ data, reject }: HookContext) {
  // A missing code, or one that is no text, is a matter of the rules in the file.
  if (typeof data.code !== "string") return data;
  const [, country = "", number = ""] = /^\s*([a-z]{2})[ -]*(\d{1,3})\s*$/i.exec(data.code) ?? [];
  if (country === "") {
    return reject("The code names no country and number", { code: "must look like AT-007" });
  }
  return { ...data, code: `${country.toUpperCase()}-${number.padStart(3, "0")}` };
}

/** After a change: a supplier whose products are on sale stays active. Refusing undoes the change. */
export async function keepWhileSelling({ oldRecord, record, query, reject }: HookContext) {
  if (!oldRecord?.is_active || record?.is_active) return;
  const [row] = await query(
    "select count(*) as number from products where supplier_id = :supplier_id and is_active = :on",
    { supplier_id: record?.supplier_id, on: true },
  );
  const number = Number(row?.number);
  if (number > 0) reject(`${number} products of this supplier are on sale`);
}
