/** Batches whose process is killed. */
import { killedBatches } from "./killed-batches.ts";

killedBatches("sqlite");
