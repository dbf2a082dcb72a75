/** Records and documents in the console, over the demo on SQLite. */
import { openConsole } from "./console.ts";
import { describeRecords } from "./console-records.ts";

describeRecords(openConsole());
