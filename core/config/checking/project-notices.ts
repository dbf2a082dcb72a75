/**
 * Notes about a project as a whole: names that lead nowhere, and so have no effect. They are no faults, because what
 * they name may come later.
 */
import type { LanguageTexts } from "../../plans/messages.ts";
import type { Entity } from "../../plans/entity.ts";
import { misspeltRoles } from "../compiling/access-plan.ts";
import { hintAfter } from "../reading/did-you-mean.ts";
import { formatPath } from "../reading/faults.ts";
import type { ProjectConfig } from "../reading/read-config.ts";

/** `entities`: those without faults. */
export function projectNotices(
  config: ProjectConfig,
  entities: ReadonlyMap<string, Entity>,
): string[] {
  const { name, messages, endpointNames } = config;
  // What an endpoint with a fault has is not known.
  const isWhole = [...endpointNames].every((endpoint) => entities.has(endpoint));
  const misspelt = isWhole ? misspeltLabels(config, entities) : () => [];
  return [
    ...misspeltRoles(config),
    ...[...messages].flatMap(([tag, texts]) =>
      misspelt(texts).map((notice) => `${name}/messages/${tag}.json: ${notice}`),
    ),
    ...(endpointNames.size === 0 ? [`${name}: the project has no endpoint`] : []),
  ];
}

/** Returns what the labels of a language name in vain. */
function misspeltLabels(
  { dashboard }: ProjectConfig,
  entities: ReadonlyMap<string, Entity>,
): (texts: LanguageTexts) => string[] {
  const all = [...entities.values()];
  const consoles = all.flatMap(({ console: plan }) => plan ?? []);
  const shown = dashboard?.dashboard;
  const known = {
    endpoints: new Set(entities.keys()),
    groups: new Set(consoles.flatMap(({ group }) => group ?? [])),
    steps: new Set(consoles.flatMap(({ steps }) => [...steps.values()])),
    views: new Set(consoles.flatMap(({ views }) => views.map(({ name }) => name))),
    dashboard: new Set([
      ...(shown ? [shown.title] : []),
      ...(shown?.tiles ?? []).flatMap(({ title, labels }) => [title, ...Object.values(labels)]),
    ]),
  };

  function noField(path: readonly string[], within: readonly Entity[]): string[] {
    const field = path.at(-1)!;
    if (within.some((entity) => hasField(entity, field))) return [];
    return [inVain(path, "a field", within.flatMap(ownFields))];
  }

  return (texts) => [
    ...[...texts.fields].flatMap(([name, label]) => {
      const path = ["fieldLabels", name];
      if (typeof label === "string") return noField(path, all);
      const entity = entities.get(name);
      if (!entity) return inVain(path, "an endpoint", known.endpoints);
      return Object.keys(label).flatMap((field) => noField([...path, field], [entity]));
    }),
    ...kinds.flatMap(([kind, property, what]) =>
      [...texts[kind].keys()]
        .filter((name) => !known[kind].has(name))
        .map((name) => inVain([property, name], what, known[kind])),
    ),
  ];
}

const kinds = [
  ["endpoints", "endpointLabels", "an endpoint"],
  ["groups", "groupLabels", "a group of an endpoint's file"],
  ["steps", "stepLabels", "a verb in the steps of an endpoint's file"],
  ["views", "viewLabels", "a view of an endpoint's file"],
  ["dashboard", "dashboardLabels", "a text of dashboard.json"],
] as const;

const inVain = (path: readonly string[], what: string, known: Iterable<string>): string =>
  `${formatPath(path)} has no effect: it is not the name of ${what}${hintAfter(path.at(-1)!, known)}`;

const hasField = (entity: Entity, field: string): boolean =>
  ownFields(entity).includes(field) ||
  [entity.read, entity.grid, entity.export].some((plan) => plan?.named.has(field));

/** What an endpoint reads or writes of its own, with its details and relations. */
const ownFields = ({ read, grid, export: file, insert, composite, relations }: Entity): string[] =>
  [
    ...[read?.source, grid?.source, file?.source, insert?.table].flatMap(
      (one) => one?.columns ?? [],
    ),
    ...(composite?.details ?? []).map(({ table }) => table.columns),
    relations,
  ].flatMap((named) => [...named.keys()]);
