/** Webhooks of a service that is killed: a few rounds, of which `test/faults` does many. */
import { inject } from "vitest";
import { killedWebhooks } from "../faults/killed-webhooks.ts";

killedWebhooks(inject("engine"), 2);
