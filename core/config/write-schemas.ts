/** `npm run schemas`: writes the JSON Schemas of the configuration files to `configs/`. A test fails when they are out of date. */
import { mkdir, writeFile } from "node:fs/promises";
import { jsonSchemas } from "./json-schemas.ts";

const folder = new URL("../../configs/", import.meta.url);

await mkdir(folder, { recursive: true });
for (const [name, text] of jsonSchemas()) await writeFile(new URL(name, folder), text);
