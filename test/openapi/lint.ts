/** What Redocly's linter refuses in an OpenAPI document, of any version. */
import { createConfig, lintFromString } from "@redocly/openapi-core";

export async function faultsIn(source: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const problems = await lintFromString({ source, config, absoluteRef: "openapi.json" });
  return problems
    .filter(({ severity }) => severity === "error")
    .map(({ ruleId, message }) => `${ruleId}: ${message}`);
}
