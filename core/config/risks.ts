/** What a configuration allows and its operator should know: nothing is wrong, so nothing stops. `rowgate check` prints these as warnings. */
import { formatPath, type Path } from "./faults.ts";
import type { ProjectConfig } from "./read-config.ts";

export interface Risk {
  /** Relative to the configuration folder, with `/`: `shop/project.json`. */
  readonly file: string;
  /** As of a Fault. */
  readonly path: string;
  /** The risk and the way out of it, without values that may be secret. */
  readonly message: string;
}

/** How the service gets to a project's database. */
export interface DatabaseReach {
  /** The name or address of a server in public networks; null: there is none among its hosts. */
  readonly publicHost: string | null;
  /** Whether the URL says whether to use TLS; a choice for plain text is a choice. */
  readonly saysTls: boolean;
}

/** `reach` null: the database is on no server. */
export function projectRisks(config: ProjectConfig, reach: DatabaseReach | null): Risk[] {
  const risks: Risk[] = [];
  const risk = (path: Path, message: string): void =>
    void risks.push({ file: config.document.file, path: formatPath(path), message });
  if (reach !== null && reach.publicHost !== null && !reach.saysTls)
    risk(
      ["database", "url"],
      `the server ${reach.publicHost} may be reached over public networks, and the URL does not ask for TLS; add sslmode=verify-full`,
    );
  return risks;
}
