/**
 * Compiles one hook of a workflow and parses its texts. Errors that would otherwise occur only in a call are faults: an
 * unknown variable, a host that is not fixed, a header that cannot be sent.
 */
import type { StatusHook } from "../../plans/workflow-plan.ts";
import { limits } from "../../values/limits.ts";
import {
  hasDotSegment,
  type JsonTemplate,
  parseTemplate,
  type Template,
} from "../../plans/templates.ts";
import type { Path } from "../reading/faults.ts";
import type { Payload } from "../reading/schema.ts";
import type { Survey } from "./survey.ts";

type HookConfig = NonNullable<
  NonNullable<Payload["workflow"]>["hooks"]
>[string]["onBefore"][number];

/** What the hooks of one endpoint share. */
export interface HookSettings {
  readonly survey: Survey;
  /** Names that `{{record.<field>}}` may have. */
  readonly fields: readonly string[];
  /** Gets those that a hook uses. */
  readonly named: Set<string>;
}

/** Null, with faults, if the hook can never be called. `path`: its place in the file. */
export function hookOf(
  context: HookSettings,
  hook: HookConfig,
  { when, index, path }: { when: string; index: number; path: Path },
): StatusHook | null {
  const { survey } = context;
  const url = urlOf(context, hook, [...path, "url"]);
  checkHeaders(survey, hook.headers ?? {}, [...path, "headers"]);
  // A file may write {} for the GET that takes no body.
  const isEmpty = Object.keys(hook.body ?? {}).length === 0;
  const hasBody = hook.body !== undefined && !(isEmpty && hook.method === "GET");
  const body = hasBody ? jsonTemplateOf(context, hook.body, [...path, "body"]) : null;
  if (hasBody && hook.method === "GET")
    survey.fault([...path, "body"], { expected: "no body with the method GET" });
  const timeoutMs = hook.timeoutMs ?? survey.hookTimeoutMs;
  const longestMs = limits.requestDeadlineMs - limits.hookReserveMs;
  if (hook.blocking && timeoutMs > longestMs) {
    survey.notice(
      `workflow: the timeoutMs of the hook ${hook.name} is too long; a request waits at most ${longestMs} ms for a hook`,
    );
  }
  if (url === null) return null;
  return {
    label: `${when}:${hook.name}`,
    index,
    method: hook.method,
    url,
    headers: hook.headers ?? {},
    body,
    isBlocking: hook.blocking,
    timeoutMs,
  };
}

/** Null, and a fault, unless the configuration fixes the host that is called and the rest is a URL. */
function urlOf(
  context: HookSettings,
  { url: written, method }: HookConfig,
  path: Path,
): Template | null {
  const url = isShort(written) ? `/api/${context.survey.project}${written}` : written;
  const template = templateOf(context, url, path);
  if (template === null) return null;
  const isOwn = url.startsWith("/");
  const fault = isOwn ? faultOfPath(template, method) : faultOfAddress(template);
  if (fault === null) return template;
  context.survey.fault(path, fault);
  return null;
}

/** `/orders/update`: an endpoint of the same project, and its action. */
const isShort = (url: string): boolean =>
  /^\/[^/?#{}]+\/[^/?#]/.test(url) && !url.startsWith("/api/");

type About = Parameters<Survey["fault"]>[1];

/** Of a URL that leads to another service: scheme, host and port are fixed. Null: it has no fault. */
export function faultOfAddress(template: Template): About | null {
  const host = fixedPart(template, /^https?:\/\/[^/?#]+/i);
  if (host === null)
    return {
      expected: "http:// or https:// and a host without variables, or a path such as /api/…",
    };
  if (host.includes("@"))
    return {
      found: "a URL with a user name or a password",
      expected: "the credentials in headers instead",
    };
  return faultOfUrl(template, "");
}

/** Of a URL that leads to this service: the action is fixed. */
function faultOfPath(template: Template, method: string): About | null {
  if (fixedPart(template, /^\/api\/[^/?#][^?#]*/) === null)
    return {
      expected:
        "a path of this service, such as /api/project/endpoint/action or /endpoint/action, without variables before the ?",
    };
  if (method !== "GET" && method !== "POST")
    return { expected: "the method GET or POST, because the URL is a path of this service" };
  return faultOfUrl(template, "http://own");
}

/** The beginning that the pattern finds, if it ends before the first variable; else null. */
function fixedPart(template: Template, pattern: RegExp): string | null {
  const [first] = template;
  if (typeof first !== "string") return null;
  const found = pattern.exec(first)?.[0];
  if (found === undefined) return null;
  return found.length < first.length || template.length === 1 ? found : null;
}

function faultOfUrl(template: Template, base: string): About | null {
  const literals = template.filter((part) => typeof part === "string");
  const sample = template.map((part) => (typeof part === "string" ? part : "x")).join("");
  if (literals.some((text) => /[\s\\\p{Cc}]/u.test(text)) || hasDotSegment(sample))
    return { expected: "a URL without spaces, backslashes, or the segments . and .." };
  return URL.canParse(base + sample) ? null : { expected: "a valid URL" };
}

/** Headers that the service itself sets in a call. */
const ownHeaders: readonly string[] = [
  "host",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "idempotency-key",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-hook-depth",
  "x-hook-signature",
  "x-request-id",
];

function checkHeaders(survey: Survey, headers: Readonly<Record<string, string>>, base: Path): void {
  for (const [name, value] of Object.entries(headers)) {
    const path = [...base, name];
    // A value may be a secret, so it is not repeated.
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name))
      survey.fault(path, {
        found: "a name with invalid characters",
        expected: "a valid header name",
      });
    else if (ownHeaders.includes(name.toLowerCase()))
      survey.fault(path, {
        found: `the header ${name}`,
        expected: "a header that the service does not set itself",
      });
    else if (!/^[\t\x20-\x7e]*$/.test(value) || value.includes("{{"))
      survey.fault(path, {
        found: "a value with non-ASCII characters, a line break or a variable",
        expected: "a fixed text of ASCII characters on one line",
      });
  }
}

/** Null, and a fault, for a variable that there is not. */
function templateOf(
  { survey, fields, named }: HookSettings,
  text: string,
  path: Path,
): Template | null {
  const parsed = parseTemplate(text, fields);
  if (parsed.ok) {
    for (const part of parsed.template)
      if (typeof part === "object" && part.from === "record") named.add(part.name);
    return parsed.template;
  }
  survey.fault(path, {
    found: parsed.found,
    expected:
      "variables such as {{id}}, {{newStatus}}, {{record.<column>}}, {{requestData.<field>}}",
    hint: parsed.near === null ? undefined : `did you mean {{${parsed.near}}}?`,
  });
  return null;
}

function jsonTemplateOf(context: HookSettings, value: unknown, path: Path): JsonTemplate {
  if (typeof value === "string")
    return { kind: "text", template: templateOf(context, value, path) ?? [] };
  if (Array.isArray(value)) {
    const items = value.map((item, index) => jsonTemplateOf(context, item, [...path, index]));
    return { kind: "array", items };
  }
  if (typeof value !== "object" || value === null)
    return { kind: "literal", json: JSON.stringify(value) };
  const members = Object.entries(value).map(
    ([name, member]) => [name, jsonTemplateOf(context, member, [...path, name])] as const,
  );
  return { kind: "object", members };
}
