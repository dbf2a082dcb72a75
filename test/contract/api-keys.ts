/** API keys of a test's callers. The key of a caller is `key of <id>`. */
import { createHash } from "node:crypto";

export const hashOf = (key: string): string => createHash("sha256").update(key).digest("hex");

/** As `auth.apiKeys` has them. */
export const apiKey = (id: string, roles: readonly string[] = [id], claims: object = {}) => ({
  id,
  sha256: hashOf(`key of ${id}`),
  roles,
  claims,
});

/** The header of requests by that caller. */
export const by = (id: string): Record<string, string> => ({ "x-api-key": `key of ${id}` });

/** `apiKey`, with ids that are unique where another run can use the same Redis. */
export const apiKeysOf =
  (run: string) => (id: string, roles?: readonly string[], claims?: object) => ({
    ...apiKey(id, roles, claims),
    id: `${id} ${run}`,
  });
