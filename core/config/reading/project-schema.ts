/**
 * The properties of project.json, with their defaults. The descriptions become the texts that editors show, through the
 * JSON Schema that `npm run schemas` writes from here.
 */
import { z } from "zod";
import { actionNames } from "../../actions.ts";
import { timeZoneNamed } from "../../values/time-zones.ts";
import { database, milliseconds } from "./database-schema.ts";
import { fileKeepDays } from "./files-schema.ts";
import { mcp } from "./mcp-schema.ts";
import { webhook } from "./webhook-schema.ts";
import { filledText, offByDefault } from "./usual-schemas.ts";

const seconds = z.int().min(1).max(31_536_000);
const requestsMax = z.int().min(1).max(1_000_000_000);
const flag = offByDefault;

const cache = z.strictObject({
  enabled: z
    .boolean()
    .default(true)
    .describe("Whether answers to list reads are kept until a write."),
  ttlSeconds: seconds.default(300).describe("Longest time that an answer is kept."),
});

const locking = z.strictObject({
  enabled: flag.describe("Whether update, delete, adjust and the composites lock their records."),
  ttlSeconds: seconds
    .default(10)
    .describe("A record lock that was never given back ends after this time."),
  strategy: z
    .enum(["retry", "fail"])
    .default("retry")
    .describe("What to do about a record that is locked: try again, or fail."),
  retries: z.int().min(0).max(100).default(3).describe("Tries after the first one."),
  retryDelayMs: milliseconds.default(100).describe("Pause between two tries."),
  maxResourceTtlSeconds: seconds.default(300).describe("Longest ttl that lock/acquire takes."),
  enforceResourceLocks: offByDefault.describe(
    "Whether writes to a record under lock/acquire need its token.",
  ),
});

const batch = z.strictObject({
  enabled: flag.describe("Whether POST /api/{project}/_batch runs several actions in one request."),
  maxSteps: z.int().min(1).max(1_000).default(50).describe("Steps of one batch, at most."),
});

const jobs = z.strictObject({
  statementTimeoutMs: milliseconds
    .default(600_000)
    .describe("As database.statementTimeoutMs, for exports and imports."),
  fileTtlSeconds: seconds
    .default(86_400)
    .describe("How long exported and uploaded files are kept."),
  maxUploadMb: z
    .int()
    .min(1)
    .max(1024)
    .default(10)
    .describe("Largest file that import-upload takes, in megabytes."),
  previewRows: z.int().min(0).max(1000).default(10).describe("Rows that import-upload shows."),
  batchRows: z.int().min(1).max(10_000).default(500).describe("Rows that a job handles at once."),
});

const hooks = z.strictObject({
  allowedHosts: z
    .array(
      z
        .string()
        .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[\w.-]+):\d{1,5}$/, {
          error: "host:port, such as localhost:8080 or [::1]:8080",
          abort: true,
        })
        .refine((entry) => URL.canParse(`http://${entry}`), "a valid host and port"),
    )
    .default([])
    .describe("host:port of private addresses that hooks may call."),
  timeoutMs: z
    .int()
    .min(1)
    .max(600_000)
    .default(10_000)
    .describe("How long a hook may take, unless it says so itself."),
});

const requests = z.strictObject({
  unknown: z
    .enum(["refuse", "ignore"])
    .default("ignore")
    .describe("What becomes of members that a request's action does not know."),
  errorDetails: offByDefault.describe(
    "true: answers Validation failed have the rules and their values as data, too.",
  ),
});

const roles = z.array(filledText);

const algorithms = [
  "HS256",
  "HS384",
  "HS512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
] as const;

/** Whether people can be sent there; http is for a machine of one's own. */
const isWebAddress = (text: string | undefined): boolean =>
  text !== undefined &&
  URL.canParse(text) &&
  /^(?:https:|http:\/\/(?:localhost|127\.0\.0\.1)[:/])/.test(`${text}/`);

const jwt = z
  .strictObject({
    jwksUri: z.url().optional().describe("Where the issuer publishes its keys."),
    secret: filledText.optional().describe("Shared secret, instead of jwksUri."),
    issuer: filledText.optional().describe("What the claim iss must be."),
    audience: filledText.optional().describe("What the claim aud must hold."),
    algorithms: z
      .array(z.enum(algorithms))
      .min(1)
      .optional()
      .describe(
        "Algorithms that a token may be signed with; absent: HS256 for a secret, else RS256, PS256, ES256, ES384 and EdDSA.",
      ),
    subjectClaim: filledText
      .default("sub")
      .describe("Path of the claim that names the user; a token without it is refused."),
    rolesClaim: filledText
      .default("roles")
      .describe("Path of the claim that has the roles: a list, or a text with blanks between."),
    clientId: filledText
      .optional()
      .describe(
        "The console's client id at the issuer, for people to sign in there (OpenID Connect, authorization code with PKCE).",
      ),
    scope: filledText
      .optional()
      .describe(
        "What the console asks the issuer for when somebody signs in; absent: openid profile.",
      ),
  })
  .refine(({ clientId, issuer }) => clientId === undefined || isWebAddress(issuer), {
    error: "an issuer that is an https address, where people sign in",
    path: ["issuer"],
  })
  .refine(({ jwksUri, secret }) => (jwksUri === undefined) !== (secret === undefined), {
    error: "either a secret or a jwksUri",
  })
  .refine(
    ({ secret, algorithms: chosen = [] }) =>
      chosen.every((name) => name.startsWith("HS") === (secret !== undefined)),
    {
      error: "algorithms that fit the key: HS… for a secret, all others for a jwksUri",
      path: ["algorithms"],
    },
  );

const auth = z.strictObject({
  apiKeys: z
    .array(
      z.strictObject({
        id: filledText.describe("The user that the key stands for."),
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/, "the key's SHA-256 as 64 hexadecimal digits in lower case"),
        roles,
        claims: z
          .record(z.string(), z.json())
          .default({})
          .describe("What rowScope may use, as the claims of a token."),
      }),
    )
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, {
      error: "a different id for each key",
    })
    .optional()
    .describe("Keys for the header X-Api-Key."),
  jwt: jwt.optional().describe("Bearer tokens."),
  anonymous: z
    .strictObject({ roles })
    .optional()
    .describe("Roles of requests without credentials; absent: they are refused."),
});

/** `auth` of a project.json. */
export type AuthSettings = z.output<typeof auth>;

/** Browsers write an origin in only one way, and any other would never match. */
const isOrigin = (text: string): boolean =>
  text === "*" || (/^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text);

const cors = z.strictObject({
  origins: z
    .array(
      z
        .string()
        .refine(isOrigin, {
          error: 'an origin as browsers send it, as https://shop.example, or "*"',
        }),
    )
    .default([])
    .describe("Origins whose pages may call the API from a browser; * = every page."),
});

const rateLimit = z
  .strictObject({
    windowSeconds: z
      .int()
      .min(1)
      .max(86_400)
      .optional()
      .describe("Length of the time in which requests are counted; absent: 60."),
    max: requestsMax.optional().describe("Requests of one caller in this time, at most."),
    actions: z
      .strictObject(
        Object.fromEntries(
          actionNames.map((name) => [name, requestsMax.describe(`Requests of ${name}, at most.`)]),
        ),
      )
      .partial()
      .default({})
      .describe("Smaller limits of single actions; their requests count for max as well."),
  })
  .refine(
    ({ windowSeconds, max, actions }) =>
      max !== undefined || Object.keys(actions).length > 0 || windowSeconds === undefined,
    { error: "max, or a limit in actions: without them nothing is limited" },
  );

/** `rateLimit` of a project.json. */
export type RateLimitSettings = z.output<typeof rateLimit>;

const observe = z.strictObject({
  serverTiming: offByDefault.describe(
    "Answers say how long database and cache took, in the header Server-Timing.",
  ),
  slowStatementMs: z
    .int()
    .min(0)
    .optional()
    .describe("Statements that take this long or longer are logged; 0: all. Absent: none."),
});

const listLimits = z.strictObject({
  maxOffset: z
    .int()
    .min(0)
    .default(100_000)
    .describe("Records that a page with a number may skip, at most; a cursor has no such limit."),
  streams: z
    .int()
    .min(1)
    .default(20)
    .describe("Streams of changes that one caller can have open at the same time."),
  streamsTotal: z
    .int()
    .min(1)
    .default(1_000)
    .describe("Streams of changes of the project that one service can have open at the same time."),
  bulkRecords: z
    .int()
    .min(1)
    .max(10_000)
    .default(1_000)
    .describe(
      "Records of one request to bulk-create, bulk-update, bulk-delete or upsert, at most.",
    ),
});

/** project.json after its variables were replaced. */
export const projectSchema = z
  .strictObject({
    $schema: z.string().optional().describe("The JSON Schema of this file, for editors."),
    database: database.describe("The database that holds the tables of this project."),
    decimals: z
      .enum(["number", "string"])
      .default("number")
      .describe(
        "string: answers show every decimal and 64-bit integer as text, for typed clients.",
      ),
    timeZone: z
      .string()
      .refine((name) => timeZoneNamed(name) !== null, "an IANA time zone, such as Europe/Vienna")
      .default("UTC")
      .describe(
        "IANA time zone of the days and hours by which aggregate groups timestamps, if a request names no other.",
      ),
    cache: cache.prefault({}).describe("Answers of list reads."),
    locking: locking.prefault({}).describe("Locks on records."),
    jobs: jobs.prefault({}).describe("Exports and imports."),
    fileKeepDays,
    hooks: hooks.prefault({}).describe("Calls to other services."),
    webhooks: z
      .array(webhook)
      .default([])
      .describe("Services that are told of changes of records, after their commit."),
    requests: requests.prefault({}).describe("How requests are read."),
    auth: auth.optional().describe("Who may call. Absent or empty = everybody."),
    cors: cors.prefault({}).describe("Calls from pages of other origins."),
    rateLimit: rateLimit
      .optional()
      .describe("How many requests a caller may send. Absent or empty = any number."),
    observe: observe.prefault({}).describe("What is told of requests and statements."),
    batch: batch.prefault({}).describe("Several actions in one request."),
    mcp,
    odata: flag.describe("Whether GET /odata/{project}/ offers the readable endpoints as OData 4."),
    limits: listLimits
      .prefault({})
      .describe("How far lists go, and how many records a request writes."),
    onFault: z
      .enum(["stop", "skip"])
      .default("stop")
      .describe(
        "What a fault in an endpoint of this project does, at start and at a reload. stop: nothing of the configuration is served; skip: only that endpoint is left out, and answers 503.",
      ),
  })
  .refine(
    ({ auth: given, database: { claimsSetting } }) =>
      claimsSetting === undefined || Object.keys(given ?? {}).length > 0,
    { error: "auth beside it, so that callers have claims", path: ["database", "claimsSetting"] },
  )
  .meta({
    title: "Rowgate project",
    description: "The database of a project, and what holds for all of its endpoints.",
  });

/** The settings of a project, defaults filled in. */
export type ProjectSettings = z.output<typeof projectSchema>;
