/**
 * Lists the permissions that the operator needs for given modules, for `addon-operator rbac` and `doctor`. CRDs of the
 * modules are read first: kinds that they define are not served by the cluster yet.
 */

import { readFile } from 'node:fs/promises';
import { messageOf } from '@addon-operator/base/errors';
import { parseManifest } from '@addon-operator/helm/manifest-document';
import { unfolded } from '@addon-operator/helm/manifest-object';
import { CRD_KIND, type Crd, parseCrdFile } from '@addon-operator/kube-client/crd';
import type { Access } from '@addon-operator/kube-client/policy-rules';
import type { Hook } from '../hooks/hook.ts';
import { isProbe, MODULES } from '../model/probe-readiness.ts';
import {
  accessOfBinding,
  accessOfObject,
  accessOfPods,
  accessOfSecrets,
  accessOfWebhooks,
  CRD_ACCESS,
  createdNamespace,
  definedResource,
  groupKindOf,
  type ScopedResource,
} from '../modules/access/needed-by.ts';
import { findCrdFiles } from '../modules/crds/crds-of-modules.ts';
import type { Module } from '../modules/module.ts';
import { visibleToHelm } from '../values/visible-values.ts';
import type { Inspection } from './inspection.ts';
import type { RawObject } from './manifest-changes.ts';

interface NeededAccess {
  readonly access: readonly Access[];
  /** Namespaces that charts make. */
  readonly createdNamespaces: ReadonlySet<string>;
  /** Parts that could not be inspected, each with its reason; their permissions are missing in the result. */
  readonly problems: readonly string[];
}

/**
 * The permissions that the operator needs for global hooks and the given modules, as far as they can be known before they
 * run: what hooks watch and serve, and what charts render to.
 */
export async function neededAccess(
  inspection: Inspection,
  wanted: readonly Module[],
  signal: AbortSignal,
): Promise<NeededAccess> {
  const { operator, namespace } = inspection;
  const references = [...operator.values.secretReferences().values()].flat();
  const access: Access[] = accessOfSecrets(references, namespace);
  const ofHooks = async (hooks: readonly Hook[]): Promise<readonly Access[]> => [
    ...accessOfSecrets(inspection.base.http.secretsOf(hooks.map(({ path }) => path)), namespace),
    ...(await accessOfHooks(hooks, find)),
  ];
  const modules = wanted.filter(({ refusal }) => refusal === undefined);
  const problems = wanted.flatMap(({ name, refusal }) =>
    refusal === undefined ? [] : [`module ${name} is not run: ${refusal.reason}`],
  );
  // A part that fails is a problem in the result, and the others are still collected.
  const collect = async (what: string, part: () => Promise<readonly Access[]>): Promise<void> => {
    try {
      access.push(...(await part()));
    } catch (error) {
      signal.throwIfAborted();
      problems.push(`${what}: ${messageOf(error)}`);
    }
  };
  const rendered = new Map<Module, readonly RawObject[]>();
  for (const module of modules) {
    await collect(`module ${module.name}`, async () => {
      rendered.set(module, await renderedObjects(inspection, module, signal));
      return [];
    });
  }
  const defined = new Map<string, ScopedResource>();
  // Custom resources that a chart creates may be of kinds that another module defines.
  const define = (object: RawObject): void => {
    const resource = definedResource(object);
    if (resource !== undefined) defined.set(resource.key, resource);
  };
  const objects = [...rendered.values()].flat();
  for (const object of objects) define(object);
  for (const module of modules) {
    await collect(`CRDs of module ${module.name}`, async () => {
      const crds = await crdsOf(module, inspection.crdFilterPrefixes);
      for (const { spec } of crds) define({ kind: CRD_KIND, spec });
      return crds.length === 0 ? [] : CRD_ACCESS;
    });
  }
  // Kinds that the modules define come first, then discovery.
  const find = async (apiVersion: string | undefined, kind: string): Promise<ScopedResource> =>
    defined.get(groupKindOf({ apiVersion, kind })) ??
    (await inspection.base.cluster.discovery.find(apiVersion, kind, signal));
  const without = (what: string) => (error: Error) => void problems.push(`${what}: ${messageOf(error)}`);
  await collect('global hooks', async () =>
    ofHooks(await operator.sources.loadGlobalHooks(signal, { onInvalid: without('global hooks') })),
  );
  for (const module of modules) {
    const what = `hooks of module ${module.name}`;
    await collect(what, async () =>
      ofHooks(await operator.sources.loadModuleHooks(module, signal, without(what))),
    );
    await collect(`reconcile webhook of module ${module.name}`, () =>
      accessOfHttpHook(module, find, namespace),
    );
    await collect(`chart of module ${module.name}`, async () =>
      accessOfObjects(rendered.get(module) ?? [], find, namespace),
    );
    if (module.manifest.waitsUntilReady) access.push(...accessOfPods(rendered.get(module) ?? [], namespace));
  }
  const createdNamespaces = new Set(objects.flatMap((object) => createdNamespace(object) ?? []));
  // The operator's own namespace exists already.
  createdNamespaces.delete(namespace);
  return { access, problems, createdNamespaces };
}

/** The CRDs in the files of a module. */
async function crdsOf(module: Module, ignoredPrefixes: readonly string[]): Promise<readonly Crd[]> {
  const crds: Crd[] = [];
  for (const path of await findCrdFiles(module.path, ignoredPrefixes))
    crds.push(...parseCrdFile(await readFile(path, 'utf8'), path).crds);
  return crds;
}

type Find = (apiVersion: string | undefined, kind: string) => Promise<ScopedResource>;

/** Permissions for watches and webhooks of hooks. */
async function accessOfHooks(hooks: readonly Hook[], find: Find): Promise<readonly Access[]> {
  const access: Access[] = [];
  for (const hook of hooks) {
    const { config } = hook;
    if (isProbe(hook)) access.push({ group: MODULES.group, resource: MODULES.resource, verbs: ['get'] });
    access.push(...accessOfWebhooks(config));
    for (const binding of config.kubernetes) {
      const { apiVersion, kind } = binding.watch;
      access.push(...accessOfBinding(binding, await find(apiVersion, kind)));
    }
  }
  return access;
}

/** The object that says where the server is. */
async function accessOfHttpHook(
  { manifest: { hook } }: Module,
  find: Find,
  ownNamespace: string,
): Promise<readonly Access[]> {
  if (hook?.address.type !== 'ref') return [];
  const { apiVersion, kind, name, namespace = ownNamespace } = hook.address.ref;
  const { group, plural, isNamespaced } = await find(apiVersion, kind);
  return [{ group, resource: plural, verbs: ['get'], names: [name], ...(isNamespaced && { namespace }) }];
}

/** Permissions to deploy objects; those without kind or version are skipped. */
async function accessOfObjects(
  objects: readonly RawObject[],
  find: Find,
  ownNamespace: string,
): Promise<readonly Access[]> {
  const access: Access[] = [];
  for (const object of objects) {
    const { apiVersion, kind } = object;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') continue;
    access.push(...accessOfObject(object, await find(apiVersion, kind), ownNamespace));
  }
  return access;
}

/** Objects that helm runs as hooks are among them: they are deployed too. */
async function renderedObjects(
  { operator, base }: Inspection,
  module: Module,
  signal: AbortSignal,
): Promise<readonly RawObject[]> {
  if (module.chart === 'none') return [];
  const values = visibleToHelm(operator.values, module.name);
  const manifest = await base.helm.render({ module, values }, signal, { hasHooks: true });
  return parseManifest(manifest).flatMap(({ object }) => (object === undefined ? [] : unfolded(object)));
}
