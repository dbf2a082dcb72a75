/** Changes of a service that is killed. */
import { killedChanges } from "./killed-changes.ts";

killedChanges("mysql");
