/**
 * The real packages, rendered without a document. They are installed in `programs/`, where the compiler does not see
 * their types; `types.test.ts` compiles what must fit them.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programs } from "./install.ts";

// oxlint-disable-next-line no-explicit-any -- packages without types here
export type Package = any;

const load = (file: string): Promise<Package> =>
  import(pathToFileURL(join(programs, "node_modules", file)).href);

export async function loadPackages(): Promise<
  Record<"react" | "ra" | "refine" | "renderer", Package>
> {
  const [react, ra, refine, renderer] = await Promise.all([
    load("react/index.js"),
    load("ra-core/dist/index.js"),
    load("@refinedev/core/dist/index.mjs"),
    load("react-test-renderer/index.js"),
  ]);
  return { react: react.default, ra, refine, renderer: renderer.default };
}

/** Renders a component that calls hooks, and keeps what they returned last. */
export function renderHooks<T>(
  { react, renderer }: { react: Package; renderer: Package },
  { hooks, around }: { hooks: () => T; around: (probe: unknown) => unknown },
): { readonly last: T | undefined; end(): void } {
  const state: { last: T | undefined } = { last: undefined };
  const Probe = () => {
    state.last = hooks();
    return null;
  };
  const rendered = renderer.create(around(react.createElement(Probe)));
  return {
    get last() {
      return state.last;
    },
    end: () => rendered.unmount(),
  };
}
