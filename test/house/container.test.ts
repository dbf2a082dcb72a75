/** The container files refer only to existing folders, programs, packages and ports. No container engine is started. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CORE_SCHEMA, load, loadAll, mergeTag } from "js-yaml";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };

const root = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const dockerfile = read("Dockerfile");
/** What the image takes from the project, stage by stage. */
const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = ""]) =>
  paths.split(" "),
);
const lastStage = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));

test("the image takes only what is there, and what .dockerignore lets through", () => {
  const allowed = new Set([...read(".dockerignore").matchAll(/^!(.+)$/gm)].map(([, path]) => path));
  expect(copied.length).toBeGreaterThan(5);
  expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect([...new Set(copied)].filter((path) => !allowed.has(path))).toEqual([]);
});

test("the image holds every folder with sources that the command line can reach", () => {
  const folders = ["app", "core", "db", "jobs", "configs"];
  const inLastStage = folders.filter((folder) =>
    lastStage.includes(`\nCOPY ${folder} ${folder}\n`),
  );
  expect(inLastStage).toEqual(folders);
});

test.each([
  ["a program that compose.yaml starts", read("compose.yaml").matchAll(/[\w/-]+\.ts\b/g)],
  ["a program that the Dockerfile starts", dockerfile.matchAll(/[\w/-]+\.ts\b/g)],
])("%s is there", (_, found) => {
  const programs = [...found].map(([path]) => path);
  expect(programs.length).toBeGreaterThan(0);
  expect(programs.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("the image's Node.js is the one that the packages ask for", () => {
  const major = /\d+/.exec(packageJson.engines.node)?.[0];
  expect(dockerfile).toContain(`node:${major}-`);
  expect(dockerfile).toContain(`nodejs${major}-`);
});

test("the last stage is not root's", () => {
  expect(lastStage).toMatch(/^\nFROM \S+:nonroot$/m);
  expect(lastStage).not.toMatch(/^USER /m);
});

test("kustomization.yaml names every manifest beside it", () => {
  const folder = "deploy/kubernetes";
  const manifests = globSync("*.yaml", { cwd: join(root, folder) });
  const named = read(`${folder}/kustomization.yaml`);
  const left = manifests.filter(
    (name) => name !== "kustomization.yaml" && !named.includes(`- ${name}`),
  );
  expect(manifests.length).toBeGreaterThan(3);
  expect(left).toEqual([]);
});

test("the workers scale by the lists in which BullMQ keeps the jobs", async () => {
  const { keyPrefix } = await import("../../jobs/queue/bullmq/redis-server.ts");
  const { parseEnv } = await import("../../app/start/settings/env.ts");
  const lists = [...read("deploy/kubernetes/worker-scaling.yaml").matchAll(/listName: "(.+?)"/g)];
  const keys = lists.map(([, name]) => name);
  const queue = `${keyPrefix}:${parseEnv({}).queueName}`;
  expect(keys).toEqual([`${queue}:wait`, `${queue}:active`]);
});

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly deploy?: {
    readonly resources?: { readonly limits?: Readonly<Record<string, unknown>> };
  };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const publicPorts = ["80:80", "443:443", "443:443/udp"];

describe.each([
  { file: "compose.yaml", openPorts: ["127.0.0.1:3000:3000"] },
  { file: "deploy/compose.yaml", openPorts: ["127.0.0.1:3000:3000"] },
  { file: "deploy/caddy/compose.yaml", openPorts: publicPorts },
])("$file", ({ file, openPorts }) => {
  const { services, volumes } = load(read(file), {
    schema: CORE_SCHEMA.withTags(mergeTag),
  }) as Compose;
  const all = Object.values(services);
  const own = all.filter(({ image }) => image === "rowgate");

  test("builds the image from the folder with the Dockerfile", () => {
    const folders = own.flatMap(({ build }) => (build === undefined ? [] : [build]));
    expect(folders.length).toBe(1);
    expect(existsSync(join(root, dirname(file), folders[0]!, "Dockerfile"))).toBe(true);
  });

  test("declares every volume, and names only services that are there", () => {
    const mounted = all.flatMap((one) => (one.volumes ?? []).map((path) => path.split(":")[0]!));
    const named = mounted.filter((name) => !/^[.$]/.test(name));
    expect(named.filter((name) => !Object.hasOwn(volumes, name))).toEqual([]);
    const files = mounted.filter((name) => name.startsWith("./"));
    expect(files.filter((name) => !existsSync(join(root, dirname(file), name)))).toEqual([]);
    const needed = all.flatMap((one) => Object.keys(one.depends_on ?? {}));
    expect(needed.filter((name) => !Object.hasOwn(services, name))).toEqual([]);
  });

  test("opens the service to this machine, or the proxy to all", () => {
    expect(all.flatMap((one) => one.ports ?? [])).toEqual(openPorts);
    if (openPorts === publicPorts) expect(own.flatMap((one) => one.ports ?? [])).toEqual([]);
  });

  test("bounds the processors, memory and processes of each container", () => {
    const limits = all.map(({ deploy }) => Object.keys(deploy?.resources?.limits ?? {}).toSorted());
    expect(limits).toEqual(all.map(() => ["cpus", "memory", "pids"]));
  });

  test("sets only variables that the service reads", () => {
    const known = read("docs/configuration.md") + read("configs/demo/project.json");
    const names = own.flatMap(({ environment }) => Object.keys(environment ?? {}));
    expect(names.length).toBeGreaterThan(1);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });
});

test("every manifest of Kubernetes can be read, and has a kind and a name", () => {
  const folder = join(root, "deploy/kubernetes");
  for (const name of globSync("*.yaml", { cwd: folder })) {
    const found = loadAll(readFileSync(join(folder, name), "utf8")) as {
      kind?: string;
      metadata?: { name?: string };
    }[];
    for (const { kind, metadata } of found)
      expect([name, kind, kind === "Kustomization" || metadata?.name]).toEqual([
        name,
        expect.any(String),
        expect.anything(),
      ]);
  }
});

test("the image starts as the documentation says: with a configuration of its own in the volume", () => {
  expect(lastStage).toContain("CONFIG_DIR=/app/data/configs");
  expect(lastStage).toContain('\nCMD ["serve", "--init"]\n');
  expect(lastStage).toContain("\nVOLUME /app/data\n");
});
