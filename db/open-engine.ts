/**
 * Finds the engine for a URL. A registration knows the engine's URLs and loads the driver on demand, so that a project
 * needs only its own driver.
 */
import {
  type AddressSettings,
  type EngineAddress,
  schemeOf,
  type SettingFault,
} from "./engines/database-address.ts";
import type { Engine, EngineOptions, OpenEngine } from "./engines/engine.ts";

export interface Registration {
  readonly address: EngineAddress;
  readonly load: () => Promise<{ open: OpenEngine }>;
}

/** By URL scheme. */
export type Engines = ReadonlyMap<string, Registration>;

/** When two registrations have the same scheme, the latter wins. */
export const enginesOf = (registrations: readonly Registration[]): Engines =>
  new Map(
    registrations.flatMap((registration) =>
      registration.address.schemes.map((scheme) => [scheme, registration] as const),
    ),
  );

/** Undefined for a URL that no engine knows. */
export const registrationOf = (engines: Engines, url: string): Registration | undefined =>
  engines.get(schemeOf(url) ?? "");

/** Rejects with an Error for an unknown scheme, an URL that cannot be read, and a driver that is not installed. */
export async function openEngine(
  engines: Engines,
  url: string,
  options: EngineOptions,
): Promise<Engine> {
  const scheme = schemeOf(url);
  const registration = registrationOf(engines, url);
  if (registration === undefined) {
    throw new Error(
      `Unknown kind of database ${scheme === null ? "URL" : `"${scheme}:"`}; known are ${schemesOf(engines)}`,
    );
  }
  const { open } = await registration.load().catch((error: unknown) => {
    const { driver } = registration.address;
    throw new Error(
      `The package ${driver}, the driver for ${scheme}: databases, cannot be loaded; run npm install ${driver}`,
      { cause: error },
    );
  });
  return open(url, options);
}

/** Equal for addresses of the same database. Empty for a URL that no engine knows, as `openEngine` refuses it. */
export const databaseAt = (engines: Engines, url: string): string =>
  registrationOf(engines, url)?.address.databaseOf(url) ?? "";

/** The faults of the URL and its settings. */
export function faultsAt(
  engines: Engines,
  url: string,
  settings: AddressSettings,
): readonly SettingFault[] {
  const address = registrationOf(engines, url)?.address;
  if (address === undefined) {
    const scheme = schemeOf(url);
    const found = scheme === null ? "a text without a kind of database" : `the kind "${scheme}:"`;
    return [{ setting: "url", found, expected: `an address of ${schemesOf(engines)}` }];
  }
  return [
    ...address.faults(url, settings),
    ...(settings.replicas ?? []).flatMap((replica): SettingFault[] => {
      if (registrationOf(engines, replica)?.address !== address)
        return [
          {
            setting: "replicas",
            found: "an address of another kind of database",
            expected: `addresses of ${address.schemes[0]}: servers that follow the one of url`,
          },
        ];
      return address
        .faults(replica, { preparedStatements: true })
        .map((fault) => ({ ...fault, setting: "replicas" }));
    }),
  ];
}

/** For messages: `postgres:, mysql:`. */
export const schemesOf = (engines: Engines): string =>
  [...engines.keys()].map((name) => `${name}:`).join(", ");
