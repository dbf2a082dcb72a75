/**
 * Dangerous settings of a configuration. `rowgate check` prints them as warnings and the service logs them. They do not
 * prevent the start, because each of them can be intended.
 */
import type { Entity } from "../../plans/entity.ts";
import { hostAndPort, isOwnName } from "../../values/addresses.ts";
import { faultAt } from "../reading/document.ts";
import type { Path } from "../reading/faults.ts";
import { hiddenSources } from "./hidden-sources.ts";
import type { EndpointConfig, ProjectConfig } from "../reading/read-config.ts";
import { uniqueWithin } from "../compiling/compile-numbers.ts";
import { hasAuth } from "../compiling/survey.ts";

export interface Risk {
  /** Relative to the configuration folder, with `/`: `shop/products.json`. */
  readonly file: string;
  /** As in `auth.jwt.secret`; `$` is the whole file. */
  readonly path: string;
  readonly message: string;
}

/** Who can connect to the service. */
export interface Exposure {
  /** Why others than this machine can, as `HOST=0.0.0.0`; null: they cannot. */
  readonly openBy: string | null;
}

type Find = (config: ProjectConfig, exposure: Exposure) => readonly (readonly [Path, string])[];

/** Risks of project.json; each function checks one setting. */
const ofProject: readonly Find[] = [
  openAddress,
  shortSecret,
  plainKeys,
  foreignTokens,
  unlimitedGuests,
  anyOrigin,
];

/** Risks that project.json and the endpoint files show by themselves, without a database. */
export function settingsRisks(config: ProjectConfig, exposure: Exposure): Risk[] {
  return [
    ...ofProject.flatMap((find) =>
      find(config, exposure).map(([path, message]) => riskAt(config, path, message)),
    ),
    ...config.endpoints.flatMap((endpoint) => closedEndpoint(config, endpoint)),
    ...unusedQueries(config),
  ];
}

/** How the service gets to a project's database. */
export interface DatabaseReach {
  /** The name or address of a server in a public network; null: no host is public. */
  readonly publicHost: string | null;
  /** Whether the configuration says whether to use TLS: plain text may be intended. */
  readonly saysTls: boolean;
}

/** `reach` null: the database is on no server. */
export function databaseRisks(config: ProjectConfig, reach: DatabaseReach | null): Risk[] {
  if (reach === null || reach.publicHost === null || reach.saysTls) return [];
  const message = `the server ${reach.publicHost} may be reached over public networks, and the URL does not ask for TLS; add sslmode=verify-full`;
  return [riskAt(config, ["database", "url"], message)];
}

/** What shows only once the endpoints were compiled against the database. */
export function endpointRisks(
  { endpoints }: ProjectConfig,
  entities: ReadonlyMap<string, Entity>,
): Risk[] {
  const known = new Map(endpoints.map((endpoint) => [endpoint.name, endpoint]));
  const found = [
    ...hiddenSources(entities),
    ...looseNumbers(endpoints, entities),
    ...emptiedDocuments(endpoints, entities),
  ];
  return found.flatMap(({ endpoint, path, message }) => {
    const config = known.get(endpoint);
    return config ? [riskAt(config, path, message)] : [];
  });
}

/** Numbers that no unique index keeps apart: other programs, or numbers that are sent, can repeat them. */
function looseNumbers(
  endpoints: readonly EndpointConfig[],
  entities: ReadonlyMap<string, Entity>,
): { endpoint: string; path: Path; message: string }[] {
  return endpoints.flatMap(({ name: endpoint, payload }) => {
    const entity = entities.get(endpoint);
    const plans = entity?.numbers.get(entity.insert?.table.identity ?? "") ?? [];
    return plans.flatMap(({ table, column, by }) => {
      if (!payload.numbers?.[column.name] || uniqueWithin(table, column, by) !== null) return [];
      const columns = [...by.map(({ name }) => name), column.name].join(", ");
      const message = `no unique index of ${table.name} covers ${column.name}, so only the service keeps its numbers apart; add one on ${columns}`;
      return [{ endpoint, path: ["numbers", column.name], message }];
    });
  });
}

/** Documents whose details a restore of the header does not find: it knows them by the time of the same deletion. */
function emptiedDocuments(
  endpoints: readonly EndpointConfig[],
  entities: ReadonlyMap<string, Entity>,
): { endpoint: string; path: Path; message: string }[] {
  return endpoints.flatMap(({ name: endpoint, payload: { masterDetail } }) => {
    const { composite, marking } = entities.get(endpoint) ?? {};
    return (composite?.details ?? []).flatMap(({ table: { name, identity } }, at) => {
      const details = marking?.children.find(
        ({ table, onMark }) => table.identity === identity && onMark === "mark",
      );
      const timeless = [details?.child, details && marking].find((one) => one?.marks.at === null);
      if (!timeless) return [];
      const message = `${timeless.table.name} has no time of the deletion (softDelete.at), so a restore of the header leaves its rows of ${name} deleted`;
      const path: Path = Array.isArray(masterDetail) ? ["masterDetail", at] : ["masterDetail"];
      return [{ endpoint, path, message }];
    });
  });
}

/** One risk as a line: `shop/project.json  cors.origins: …`. */
export const riskText = ({ file, path, message }: Risk): string => `${file}  ${path}: ${message}`;

function riskAt({ document }: Pick<EndpointConfig, "document">, path: Path, message: string): Risk {
  // Paths are spelled as in faults, also if the file has another spelling.
  const { file, path: place } = faultAt(document, path, { found: "", expected: "" });
  return { file, path: place, message };
}

function openAddress(config: ProjectConfig, { openBy }: Exposure): [Path, string][] {
  if (openBy === null || hasAuth(config)) return [];
  return [
    [
      ["auth"],
      `there is no "auth", and other machines can connect (${openBy}): everybody who can connect may read and write`,
    ],
  ];
}

/** Bytes of a shared secret that cannot be guessed by trying: as many as HS256 needs. */
const secretBytesMin = 32;

function shortSecret({ auth }: ProjectConfig): [Path, string][] {
  const secret = auth?.jwt?.secret;
  if (secret === undefined) return [];
  const bytes = new TextEncoder().encode(secret).length;
  return bytes >= secretBytesMin
    ? []
    : [
        [
          ["auth", "jwt", "secret"],
          `the secret has fewer than ${secretBytesMin} bytes: anyone with one token can find it by brute force; use ${secretBytesMin} random bytes`,
        ],
      ];
}

function plainKeys({ auth, hooks }: ProjectConfig): [Path, string][] {
  if (auth?.jwt?.jwksUri === undefined) return [];
  const url = new URL(auth.jwt.jwksUri);
  if (url.protocol !== "http:" || isOwnName(url.hostname)) return [];
  if (hooks.allowedHosts.includes(hostAndPort(url))) return [];
  return [
    [
      ["auth", "jwt", "jwksUri"],
      "the keys are fetched over http: anyone on the network path can replace them; use https",
    ],
  ];
}

function foreignTokens({ auth }: ProjectConfig): [Path, string][] {
  const jwt = auth?.jwt;
  if (jwt === undefined) return [];
  const lacking = [
    ["audience", "aud", "tokens that were made for other services"],
    ["issuer", "iss", "tokens of every issuer whose signatures the key verifies"],
  ] as const;
  return lacking.flatMap(([name, claim, what]): [Path, string][] =>
    jwt[name] === undefined
      ? [[["auth", "jwt", name], `${what} are accepted; name the value of their claim "${claim}"`]]
      : [],
  );
}

function unlimitedGuests({ auth, rateLimit }: ProjectConfig): [Path, string][] {
  if (auth?.anonymous === undefined || rateLimit?.max !== undefined) return [];
  return [
    [
      ["rateLimit"],
      'there is no "rateLimit" with a max, and requests without credentials are answered (auth.anonymous): one client can use up the whole service',
    ],
  ];
}

function anyOrigin({ cors }: ProjectConfig): [Path, string][] {
  if (!cors.origins.includes("*")) return [];
  return [
    [["cors", "origins"], '"*" lets every web page call the API from the browsers of its visitors'],
  ];
}

function closedEndpoint(config: ProjectConfig, endpoint: EndpointConfig): Risk[] {
  const { access } = endpoint.payload;
  if (!hasAuth(config) || Object.keys(access ?? {}).length > 0) return [];
  const message =
    'nobody may use this endpoint: project.json has "auth", and the file has no "access"';
  return [riskAt(endpoint, ["access"], message)];
}

/** Looks into the files themselves, because those with a fault are no endpoints. */
function unusedQueries({ name, files }: ProjectConfig): Risk[] {
  const paths = [...files.keys()];
  const texts = paths.filter((path) => path.endsWith(".json")).map((path) => files.get(path)!);
  return paths
    .filter((path) => path.endsWith(".sql") && !texts.some((text) => text.includes(path)))
    .map((path) => ({ file: `${name}/${path}`, path: "$", message: "no endpoint uses this file" }));
}
