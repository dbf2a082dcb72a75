/**
 * START HERE: the OpenAPI document (3.1) of projects, as a plain value. It is generated from the actions and the
 * compiled entities, as one caller sees them. No part is written by hand for an endpoint.
 */
import { batchName } from "../batch/batch-action.ts";
import type { Routes } from "../dispatch.ts";
import { ticketName } from "../live/changes-action.ts";
import type { Json } from "../values/json.ts";
import { createBreath } from "../values/breath.ts";
import { type BatchPlace, describeBatch } from "./describe-batch.ts";
import { describeChanges, liveEndpoints } from "./describe-changes.ts";
import { describeOData, odataTag } from "./describe-odata.ts";
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

/** One project, and the caller who requests the document. */
export interface DescribedProject {
  readonly name: string;
  readonly traits: ProjectTraits;
  /** Null: its database was not reached yet, so it has no paths. */
  readonly routes: Routes | null;
  /** Null: a caller that the project does not know, for whom it has no paths. */
  readonly viewOf: ViewOf | null;
}

/** The view of a caller who may use every action with all fields. */
export const wholeView: ViewOf = ({ entity }) => entity;

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: Json;
  readonly servers: Json;
  /** Operations that need credentials define it themselves. */
  readonly security: readonly [];
  readonly tags: readonly Json[];
  readonly paths: Paths;
  readonly components: Readonly<Record<string, Json>>;
}

export interface DescribeOptions {
  /** The address of the service; absent: the document's origin. */
  readonly serverUrl?: string;
}

export interface DescribeProjectOptions extends DescribeOptions {
  /** The only endpoint that is described; absent: all of them, and what belongs to the whole project. */
  readonly endpoint?: string;
}

/** The document of one project, or of one of its endpoints. Other work of the process goes on while it is built. */
export async function describeProject(
  project: DescribedProject,
  { endpoint, ...options }: DescribeProjectOptions = {},
): Promise<OpenApiDocument> {
  const parts = createDocumentParts();
  const place = { parts, name: "", tag: "", breathe: createBreath(), only: endpoint };
  const described = await describe(project, place);
  const title = endpoint === undefined ? project.name : `${project.name}/${endpoint}`;
  return documentOf(described, { ...options, title, parts, projects: [project] });
}

/** The document of all projects: a project's name is the prefix of its operation and schema names. */
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

export interface PrintedDocument {
  /** JSON. */
  readonly text: string;
  /** Of the text: 32 hexadecimal digits. */
  readonly hash: string;
}

/** The document as JSON, printed in slices so that other work can run. `digest`: a cryptographic hash as hex text. */
export async function printDocument(
  document: object,
  digest: (text: string) => string,
): Promise<PrintedDocument> {
  const breathe = createBreath();
  const pieces: string[] = [];
  const hashes: string[] = [];
  /** `depth`: on this many levels, each member of an object is printed as a separate piece. */
  async function print(value: unknown, depth: number): Promise<void> {
    const isSplit = depth > 0 && typeof value === "object" && !Array.isArray(value);
    const members = isSplit ? Object.entries(value as object) : [];
    if (members.length === 0) {
      const text = JSON.stringify(value);
      pieces.push(text);
      hashes.push(digest(text));
      return breathe();
    }
    for (const [at, [name, member]] of members.entries()) {
      pieces.push(`${at === 0 ? "{" : ","}${JSON.stringify(name)}:`);
      hashes.push(name);
      await print(member, depth - 1);
    }
    pieces.push("}");
  }
  await print(document, 3);
  return { text: pieces.join(""), hash: digest(hashes.join()).slice(0, 32) };
}

interface Described {
  readonly paths: Paths;
  readonly tags: readonly Tag[];
}

type Tag = {
  readonly name: string;
  /** Facts about the endpoint that a schema cannot express; absent for a tag that is no endpoint. */
  readonly "x-rowgate"?: Json;
};

interface ProjectPlace {
  readonly parts: DocumentParts;
  /** Prefix of the project's operation and schema names. */
  readonly name: string;
  /** Prefix of its tags. */
  readonly tag: string;
  readonly breathe: () => Promise<void>;
  /** The only endpoint that is described. */
  readonly only?: string | undefined;
}

async function describe(
  { name, routes, traits, viewOf }: DescribedProject,
  { parts, breathe, only, ...prefix }: ProjectPlace,
): Promise<Described> {
  if (routes === null || viewOf === null) return { paths: {}, tags: [] };
  const { endpoints, projectWide } = routes;
  // Also of endpoints that the caller does not see, so that all callers know the others by the same names.
  const names = distinctNames(endpoints.keys());
  const paths: Record<string, Paths[string]> = {};
  const tags: Tag[] = [];
  const relations = relationsOf(endpoints, viewOf);
  // Where no process stays, there are no streams, and so no tickets.
  const live = projectWide.has(ticketName) ? liveEndpoints(endpoints, viewOf) : [];
  for (const [endpoint, actions] of endpoints) {
    if (only !== undefined && endpoint !== only) continue;
    const place = {
      path: `/api/${name}/${endpoint}`,
      base: prefix.name + names.get(endpoint)!,
      tag: prefix.tag + endpoint,
      parts,
      traits,
    };
    const { paths: own, views } = describeEndpoint(actions.values(), viewOf, place);
    const notes = entityNotes(endpoint, views, relations);
    const isLive = live.includes(endpoint);
    if (Object.keys(own).length > 0)
      tags.push({
        name: place.tag,
        "x-rowgate": { project: name, ...notes, ...(isLive && { live: true }) },
      });
    Object.assign(paths, own);
    await breathe();
  }
  if (tags.length === 0 || only !== undefined) return { paths, tags };
  const whole = { path: `/api/${name}`, base: prefix.name, tag: `${prefix.tag}lock`, parts };
  const wide = [...projectWide.values()].map((bound) => describeProjectWide(bound, paths, whole));
  const locks: Paths = Object.assign({}, ...wide);
  const batchTag = `${prefix.tag}batch`;
  const batches = describeBatches(routes, viewOf, { ...whole, tag: batchTag, traits });
  const changesTag = `${prefix.tag}changes`;
  const changes = describeChanges(routes, viewOf, { ...whole, tag: changesTag, traits });
  const odata = describeOData(routes, viewOf, {
    ...whole,
    path: `/odata/${name}`,
    tag: prefix.tag + odataTag,
    traits,
  });
  for (const [tag, own] of [
    [whole.tag, locks],
    [batchTag, batches],
    [changesTag, changes],
    [prefix.tag + odataTag, odata],
  ] as const)
    if (Object.keys(own).length > 0 && tags.every(({ name: known }) => known !== tag))
      tags.push({ name: tag });
  return { paths: { ...paths, ...locks, ...batches, ...changes, ...odata }, tags };
}

function describeBatches(
  { endpoints, projectWide, batches }: Routes,
  viewOf: ViewOf,
  place: Omit<BatchPlace, "stepsMax">,
): Paths {
  const bound = projectWide.get(batchName);
  if (bound === undefined || batches === null) return {};
  const steps = [...endpoints].flatMap(([endpoint, actions]) => {
    const usable = [...actions.values()].filter((one) => one.action.isStep && viewOf(one) !== null);
    return usable.length === 0
      ? []
      : [[endpoint, usable.map(({ action }) => action.name)] as const];
  });
  return describeBatch(bound, new Map(steps), { ...place, stepsMax: batches.stepsMax });
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
      securitySchemes: securitySchemes(
        projects.map(
          ({ traits, routes }) =>
            traits.credentials && { ...traits.credentials, takesBasic: routes?.odata != null },
        ),
      ),
      ...(!isEmpty && {
        schemas: sorted(parts.schemas.schemas),
        responses: sorted(parts.responses),
        parameters: pick(headerParameters, usedParameters),
        headers: pick(answerHeaders, new Set([...usedHeaders, "X-Request-Id"])),
      }),
    },
  };
}

/** The API has no versions: the document's ETag shows whether it changed. */
const documentVersion = "1";

const pick = (
  members: Readonly<Record<string, Json>>,
  names: ReadonlySet<string>,
): Record<string, Json> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => names.has(name)));

const sorted = (members: ReadonlyMap<string, Json>): Record<string, Json> =>
  Object.fromEntries([...members].toSorted(([a], [b]) => (a < b ? -1 : 1)));
