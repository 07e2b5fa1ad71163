/**
 * Read requests of the API about one module: explanation, values, patches, snapshots, hooks, drift, history, diff; and the
 * graph of all modules. The name `global` means the values and hooks that belong to no module.
 */

import type { DaemonView, GraphModule, ModuleView, SectionView } from '../../status/daemon-view.ts';
import type { ModuleExplanation } from '../../status/module-explanation.ts';
import { type ApiRoute, numberOf, type ReadAccess } from './api-route.ts';
import { RequestRefusal } from './request-refusal.ts';

/** In place of the name of a module: the values and hooks that belong to none. */
const GLOBAL = 'global';
/** In place of a value, as the redactor has it. */
const MASKED = '***';
/** Above every revision that helm gives; keeps the number exact. */
const MAX_REVISION = 1_000_000_000;

/** Questions about one module, and about how modules depend on each other. */
export const MODULE_ROUTES: readonly ApiRoute[] = [
  {
    path: '/modules/{name}',
    query: [],
    access: 'get',
    read: async ({ view }, { name, requester, signal }) => {
      const explanation = await view.explainModule(name, signal);
      if (explanation === undefined) throw unknownModule(name);
      if ((explanation.changed?.values.length ?? 0) === 0) return explanation;
      const refusal = await requester.refusalOf('get', name, signal, 'values');
      return refusal === undefined ? explanation : withoutValues(explanation);
    },
  },
  section('values', (sections) => sections.map(({ name, view }) => ({ name, values: view.layeredValues() }))),
  section('patches', (sections) => sections.map(({ name, view }) => ({ name, patches: view.hookPatches() }))),
  ofHooks('snapshots', 'values', (view) => view.hookSnapshots()),
  ofHooks('hooks', 'get', (view) => view.hooks()),
  {
    path: '/modules/{name}/drift',
    query: [],
    access: 'get',
    read: ({ view }, { name }) => ({ module: name, drift: moduleOf(view, name).drift() }),
  },
  {
    path: '/modules/{name}/changed',
    query: [],
    access: 'values',
    read: ({ view }, { name }) => ({ module: name, ...moduleOf(view, name).changed() }),
  },
  {
    path: '/modules/{name}/objects',
    query: [],
    access: 'get',
    read: async ({ view }, { name, signal }) => ({
      module: name,
      ...(await moduleOf(view, name).objects(signal)),
    }),
  },
  {
    path: '/modules/{name}/history',
    query: ['from', 'to'],
    // A comparison of revisions shows manifests.
    access: 'values',
    read: async ({ view }, { name, query, signal }) => {
      const module = moduleOf(view, name);
      // The history alone is cheap; a comparison reads two releases.
      const diff = query.size === 0 ? null : await revisionDiff(module, query, signal);
      const revisions = await module.history(signal);
      return { module: name, revisions, versions: module.versions(revisions), diff };
    },
  },
  {
    path: '/modules/{name}/diff',
    query: [],
    access: 'values',
    read: async ({ view, identity: { clock } }, { name, signal }) => {
      const startMs = clock.steadyMs();
      const lines = (await moduleOf(view, name).changes(signal)).split('\n');
      return {
        module: name,
        text: lines.filter((line) => !isNote(line)).join('\n'),
        notes: lines.filter(isNote).map((line) => line.slice(NOTE.length)),
        tookMs: Math.round(clock.steadyMs() - startMs),
      };
    },
  },
  { path: '/delivery', query: [], access: 'list', read: ({ view }) => view.deliveryState() },
  {
    path: '/graph',
    query: [],
    access: 'list',
    read: ({ view }) => graphData(view.moduleGraph()),
  },
];

/** For a client that may read the state of the module, and not its values: which of them have changed, and when. */
function withoutValues(explanation: ModuleExplanation): ModuleExplanation {
  const { changed } = explanation;
  if (changed === undefined) return explanation;
  const values = changed.values.map((change) => ({ ...change, before: MASKED, now: MASKED }));
  return { ...explanation, changed: { ...changed, values } };
}

/** Lines of a difference begin with another character. */
const NOTE = '# ';

function isNote(line: string): boolean {
  return line.startsWith(NOTE);
}

/** Compares two revisions. @throws Refusal when one of them does not exist */
async function revisionDiff(
  module: ModuleView,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<object> {
  const [from, to] = [numberOf(query, 'from', MAX_REVISION), numberOf(query, 'to', MAX_REVISION)];
  const text = await module.compareRevisions({ from, to }, signal);
  if (text === undefined)
    throw new RequestRefusal(
      404,
      'REQUEST_INVALID',
      `there are no revisions ${from} and ${to}: they may be too old`,
    );
  return { from, to, text };
}

/** A question about the values that a module sees: its own section, then `global`. */
function section(
  word: string,
  read: (sections: readonly { readonly name: string; readonly view: SectionView }[]) => object[],
): ApiRoute {
  return {
    path: `/modules/{name}/${word}`,
    query: [],
    access: 'values',
    read: ({ view }, { name }) => {
      const global = { name: GLOBAL, view: view.global };
      if (name === GLOBAL) return { module: name, sections: read([global]) };
      const module = moduleOf(view, name);
      return { module: name, sections: read([{ name: module.valuesKey, view: module }, global]) };
    },
  };
}

/** A route about the hooks of one module, or of `global`. */
function ofHooks(
  word: string,
  access: ReadAccess,
  read: (section: SectionView) => readonly object[],
): ApiRoute {
  return {
    path: `/modules/{name}/${word}`,
    query: [],
    access,
    read: ({ view }, { name }) => ({
      module: name,
      hooks: read(name === GLOBAL ? view.global : moduleOf(view, name)),
    }),
  };
}

/** @throws Refusal for an unknown name */
function moduleOf(view: DaemonView, name: string): ModuleView {
  const module = view.module(name);
  if (module === undefined) throw unknownModule(name);
  return module;
}

function unknownModule(name: string): RequestRefusal {
  return new RequestRefusal(404, 'MODULE_UNKNOWN', `there is no module ${name}`);
}

/** Nodes and edges; an edge may lead to a module that does not exist. */
function graphData(modules: readonly GraphModule[]): object {
  return {
    nodes: modules.map(({ name, order, status }) => ({ name, order, status })),
    edges: modules.flatMap(({ name, requires }) =>
      requires.map((required) => ({
        from: name,
        to: required.name,
        range: required.version ?? null,
        isOptional: required.isOptional,
      })),
    ),
  };
}
