/** `npm run schemas`: writes the configuration files' JSON Schemas to `configs/`. A test fails if they are stale. */
import { mkdir, writeFile } from "node:fs/promises";
import { jsonSchemas } from "./json-schemas.ts";

const folder = new URL("../../../configs/", import.meta.url);

await mkdir(folder, { recursive: true });
for (const [name, text] of jsonSchemas()) await writeFile(new URL(name, folder), text);
