/** API keys of a test's callers. */
import { createHash } from "node:crypto";

/** The key of a caller is `key of <id>`. `run`: unique, because another run can use the same Redis. */
export const apiKeysOf =
  (run: string) =>
  (id: string, roles: string[] = [id], claims: object = {}) => ({
    id: `${id} ${run}`,
    sha256: createHash("sha256").update(`key of ${id}`).digest("hex"),
    roles,
    claims,
  });
