/** Records and documents in the console, over the demo on PostgreSQL. */
import { openConsole } from "./console.ts";
import { describeMainFlows } from "./console-records.ts";

describeMainFlows(openConsole({ engine: "postgres" }));
