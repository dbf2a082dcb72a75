/**
 * START HERE: the OpenAPI document (3.1) of projects, as a plain value. It is made of what the actions say of themselves and of
 * the compiled entities, as one caller sees them; nothing in it is written by hand for an endpoint.
 */
import type { Routes } from "../dispatch.ts";
import type { Json } from "../values/json.ts";
import { limits } from "../values/limits.ts";
import { describeEndpoint, type ViewOf } from "./describe-endpoint.ts";
import { createDocumentParts, type DocumentParts } from "./document-parts.ts";
import { answerHeaders, headerParameters } from "./headers.ts";
import { healthPaths, healthTag } from "./health-paths.ts";
import { entityNotes, relationsOf } from "./entity-notes.ts";
import { distinctNames } from "./naming.ts";
import type { Paths } from "./operation.ts";
import { describeProjectWide } from "./project-wide.ts";
import { securitySchemes } from "./security.ts";
import type { ProjectTraits } from "./traits.ts";

/** One project, and the caller who asks for the document. */
export interface DescribedProject {
  readonly name: string;
  readonly traits: ProjectTraits;
  /** Null: its database was not reached yet, so it has no paths. */
  readonly routes: Routes | null;
  /** Null: a caller that the project does not know, for whom it has no paths. */
  readonly viewOf: ViewOf | null;
}

/** Whoever may use every action with all fields. */
export const wholeView: ViewOf = ({ entity }) => entity;

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: Json;
  readonly servers: Json;
  /** Operations that need credentials say so themselves. */
  readonly security: readonly [];
  readonly tags: readonly Json[];
  readonly paths: Paths;
  readonly components: Readonly<Record<string, Json>>;
}

export interface DescribeOptions {
  /** Where the service is; absent: where the document comes from. */
  readonly serverUrl?: string;
}

/** The document of one project. Other work of the process goes on while it is built. */
export async function describeProject(
  project: DescribedProject,
  options: DescribeOptions = {},
): Promise<OpenApiDocument> {
  const parts = createDocumentParts();
  const described = await describe(project, { parts, name: "", tag: "", breathe: createBreath() });
  return documentOf(described, { ...options, title: project.name, parts, projects: [project] });
}

/** The document of all projects: a project's name stands first in the names of its operations and schemas. */
export async function describeProjects(
  projects: readonly DescribedProject[],
  options: DescribeOptions = {},
): Promise<OpenApiDocument> {
  const parts = createDocumentParts();
  const breathe = createBreath();
  const names = distinctNames(projects.map(({ name }) => name));
  const described: Described[] = [];
  for (const project of projects) {
    const { name } = project;
    const place = { parts, name: names.get(name)!, tag: `${name}/`, breathe };
    described.push(await describe(project, place));
  }
  const whole: Described = {
    paths: Object.assign({}, ...described.map(({ paths }) => paths), healthPaths),
    tags: [...described.flatMap(({ tags }) => tags), { name: healthTag }],
  };
  return documentOf(whole, { ...options, title: "Rowgate", parts, projects });
}

interface Described {
  readonly paths: Paths;
  readonly tags: readonly Tag[];
}

type Tag = {
  readonly name: string;
  /** What a schema cannot say of the endpoint; absent for a tag that is no endpoint. */
  readonly "x-rowgate"?: Json;
};

interface ProjectPlace {
  readonly parts: DocumentParts;
  /** Stands before the names of the project's operations and schemas. */
  readonly name: string;
  /** Stands before its tags. */
  readonly tag: string;
  readonly breathe: () => Promise<void>;
}

async function describe(
  { name, routes, traits, viewOf }: DescribedProject,
  { parts, breathe, ...prefix }: ProjectPlace,
): Promise<Described> {
  if (routes === null || viewOf === null) return { paths: {}, tags: [] };
  const { endpoints, projectWide } = routes;
  // Also of endpoints that the caller does not see, so that all callers know the others by the same names.
  const names = distinctNames(endpoints.keys());
  const paths: Record<string, Paths[string]> = {};
  const tags: Tag[] = [];
  const relations = relationsOf(endpoints, viewOf);
  for (const [endpoint, actions] of endpoints) {
    const place = {
      path: `/api/${name}/${endpoint}`,
      base: prefix.name + names.get(endpoint)!,
      tag: prefix.tag + endpoint,
      parts,
      traits,
    };
    const { paths: own, views } = describeEndpoint(actions.values(), viewOf, place);
    const notes = entityNotes(endpoint, views, relations);
    if (Object.keys(own).length > 0)
      tags.push({ name: place.tag, "x-rowgate": { project: name, ...notes } });
    Object.assign(paths, own);
    await breathe();
  }
  const [tag] = tags;
  if (tag === undefined) return { paths, tags };
  const whole = { path: `/api/${name}`, base: prefix.name, tag: `${prefix.tag}lock`, parts };
  const wide = [...projectWide.values()].map((bound) => describeProjectWide(bound, paths, whole));
  const all: Paths = Object.assign({}, ...wide);
  const isNew = tags.every(({ name: known }) => known !== whole.tag);
  if (Object.keys(all).length > 0 && isNew) tags.push({ name: whole.tag });
  return { paths: { ...paths, ...all }, tags };
}

/** Lets other work go on when this has taken the process for a while. */
function createBreath(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < limits.documentSliceMs) return;
    await new Promise((resolve) => setTimeout(resolve));
    sinceMs = performance.now();
  };
}

interface Frame extends DescribeOptions {
  readonly title: string;
  readonly parts: DocumentParts;
  readonly projects: readonly DescribedProject[];
}

function documentOf(
  { paths, tags }: Described,
  { title, parts, projects, serverUrl = "/" }: Frame,
): OpenApiDocument {
  const isEmpty = Object.keys(paths).length === 0;
  const { usedHeaders, usedParameters } = parts;
  return {
    openapi: "3.1.0",
    info: { title, version: documentVersion },
    servers: [{ url: serverUrl }],
    security: [],
    tags: tags.map((tag): Json => ({ ...tag })),
    paths,
    components: {
      securitySchemes: securitySchemes(projects.map(({ traits }) => traits.credentials)),
      ...(!isEmpty && {
        schemas: sorted(parts.schemas.schemas),
        responses: sorted(parts.responses),
        parameters: pick(headerParameters, usedParameters),
        headers: pick(answerHeaders, new Set([...usedHeaders, "X-Request-Id"])),
      }),
    },
  };
}

/** The API has no versions: its ETag tells whether the document changed. */
const documentVersion = "1";

const pick = (
  members: Readonly<Record<string, Json>>,
  names: ReadonlySet<string>,
): Record<string, Json> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => names.has(name)));

const sorted = (members: ReadonlyMap<string, Json>): Record<string, Json> =>
  Object.fromEntries([...members].toSorted(([a], [b]) => (a < b ? -1 : 1)));
