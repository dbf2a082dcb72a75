/** Records and documents in the console, over the demo on SQLite. */
import { openConsole } from "./console.ts";
import { describeFurtherFlows, describeMainFlows } from "./console-records.ts";

const place = openConsole();
describeMainFlows(place);
describeFurtherFlows(place);
