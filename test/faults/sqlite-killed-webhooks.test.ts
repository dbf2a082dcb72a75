/** Webhooks of a service that is killed. */
import { killedWebhooks } from "./killed-webhooks.ts";

killedWebhooks("sqlite");
