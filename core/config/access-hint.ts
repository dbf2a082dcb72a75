/** Detects a common mistake in `access`: actions as the keys and roles in the lists. */
import { isObject } from "../values/json.ts";

/**
 * What to write instead of an `access` whose keys are actions: `{"read": ["admin"]}` gives `roles as the keys: {"admin":["read"]}`. Null
 * where every key can be a role. `isAction`: whether a text is the name of an action, or of a group of them.
 */
export function accessHint(access: unknown, isAction: (name: string) => boolean): string | null {
  if (!isObject(access)) return null;
  const byRole = new Map<string, unknown>();
  let isTurned = false;
  for (const [name, value] of Object.entries(access)) {
    const roles = isAction(name) ? rolesIn(value, isAction) : null;
    if (roles === null) {
      byRole.set(name, value);
      continue;
    }
    isTurned = true;
    for (const role of roles) {
      const known = byRole.get(role);
      byRole.set(role, [...(Array.isArray(known) ? known : []), name]);
    }
  }
  return isTurned ? `roles as the keys: ${JSON.stringify(Object.fromEntries(byRole))}` : null;
}

/** Null where the value can be what a role may do. */
function rolesIn(value: unknown, isAction: (name: string) => boolean): string[] | null {
  const list: unknown[] = Array.isArray(value) ? value : value === "*" ? [] : [value];
  const isOfRoles =
    list.length > 0 && list.every((one) => typeof one === "string" && !isAction(one));
  return isOfRoles ? (list as string[]) : null;
}
