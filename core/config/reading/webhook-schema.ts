/** One of `webhooks` of a project.json. What it names is checked by `core/config/checking/webhook-rules.ts`. */
import { z } from "zod";
import { filledText } from "./usual-schemas.ts";

/** As Standard Webhooks writes secrets: 24 to 64 bytes. */
function isWebhookSecret(text: string): boolean {
  const written = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/;
  const bytes = atob(written.exec(text)?.[1] ?? "").length;
  return bytes >= 24 && bytes <= 64;
}

export const webhook = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,100}$/, "a name of letters, digits, - and _, 100 at most")
    .describe("Name in the table of deliveries, in commands and in the log."),
  endpoints: z
    .array(filledText)
    .min(1)
    .describe("Endpoints of the project whose changes are sent, whichever endpoint wrote."),
  on: z
    .array(z.enum(["create", "update", "delete"]))
    .min(1)
    .default(["create", "update", "delete"])
    .describe("Kinds of changes. adjust and change-status are updates; restore is a create."),
  columns: z
    .array(filledText)
    .min(1)
    .optional()
    .describe("An update is only sent if it changes one of these columns. Absent: every update."),
  when: z
    .record(z.string(), z.json())
    .optional()
    .describe(
      "Condition on the new record, of a deleted one on the old record, as the where of read.",
    ),
  url: filledText.describe("Address that is called: http or https. Variables are ${NAME}."),
  secret: z
    .string()
    .refine(isWebhookSecret, "whsec_ and the base64 of 24 to 64 random bytes")
    .describe("Key of the signatures: whsec_ and the base64 of 24 to 64 bytes, in a ${VARIABLE}."),
});

/** One of `webhooks` of a project.json. */
export type WebhookSettings = z.output<typeof webhook>;
