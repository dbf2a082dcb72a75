/** The property `database` of project.json: where the tables are, and how they are reached. */
import { z } from "zod";
import { filledText } from "./usual-schemas.ts";

export const milliseconds = z.int().min(0).max(86_400_000);

/** Variables often contain such a text on one line, with `\n` for its line breaks. */
const pem = z
  .string()
  .transform((text) => text.replaceAll("\\n", "\n"))
  .refine((text) => text.includes("-----BEGIN "), "a text in PEM: -----BEGIN …");

export const database = z
  .strictObject({
    url: filledText.describe(
      "Address of the database; its scheme chooses the engine. Keep passwords in ${VARIABLES}.",
    ),
    replicas: z
      .array(filledText)
      .max(16)
      .default([])
      .describe("Addresses of servers that follow the one of url, for reads."),
    readFrom: z
      .enum(["primary", "replica"])
      .default("primary")
      .describe(
        "replica = requests that only read go to a replica that has all acknowledged writes, if there is one.",
      ),
    pool: z
      .int()
      .min(1)
      .max(1000)
      .default(10)
      .describe("Connections that are open at the same time, at most."),
    statementTimeoutMs: milliseconds
      .default(30_000)
      .describe("A statement that takes longer is stopped; 0 = never."),
    triggerMessages: z
      .boolean()
      .default(true)
      .describe(
        "Whether clients see the message of a trigger that refuses; false = a fixed sentence.",
      ),
    claimsSetting: z
      .string()
      .regex(
        /^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+$/,
        "the name of a setting of your own, with a point: request.jwt.claims",
      )
      .optional()
      .describe(
        "Setting that holds the caller's claims as JSON in each transaction, for row-level security of the database.",
      ),
    preparedStatements: z
      .boolean()
      .default(true)
      .describe(
        "false behind a pooler in transaction mode, as PgBouncer. Settings then go with each transaction.",
      ),
    tls: z
      .strictObject({
        ca: pem.optional().describe("Certificates of the authorities that the server's is of."),
        cert: pem.optional().describe("Certificate of the client."),
        key: pem.optional().describe("Private key of the client's certificate."),
      })
      .optional()
      .describe("Certificates for TLS to the database, in PEM; the mode is sslmode in the url."),
  })
  .refine(({ readFrom, replicas }) => readFrom === "primary" || replicas.length > 0, {
    error: "replicas beside it, with their addresses",
    path: ["readFrom"],
  });
