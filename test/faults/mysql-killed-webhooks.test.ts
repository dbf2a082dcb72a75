/** Webhooks of a service that is killed. */
import { killedWebhooks } from "./killed-webhooks.ts";

killedWebhooks("mysql", Number(process.env["TEST_KILLS"] ?? 5));
