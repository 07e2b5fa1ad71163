import { ChildPlaces } from '../extensions/module-hooks/child-places.ts';
import { ModuleFinalizers } from '../extensions/module-hooks/module-finalizers.ts';
import { ModuleHttpHooks } from '../extensions/module-hooks/module-http-hooks.ts';
import { manifestObjects } from '../helm/transform-manifest.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { errorFields, hasCode } from '../lib/errors.ts';
import type { Explained } from '../operator/explained.ts';
import { factsOfModule } from '../operator/module-facts.ts';
import { HookedModules } from '../status/hooked-modules.ts';
import { HOOK_FINALIZER } from '../status/module-object.ts';
import { moduleStatus } from '../status/module-status.ts';
import { parseYaml } from '../values/yaml.ts';
import type { BuildOptions } from './build-options.ts';

/** The servers that modules name in `module.yaml`, and what keeps modules until these have finalized them. */
export function createModuleHttpHooks(options: BuildOptions, explained: Explained) {
  const { settings, host, base, objects } = options;
  const { clock, log, version } = host;
  const { namespace, configMapName } = settings;
  const owner = `${namespace}/${configMapName}`;
  const modules = new HookedModules({
    kube: base.cluster.status,
    log,
    namespace,
    operator: owner,
    isOn: objects !== undefined,
    isKept: async (signal) => objects !== undefined && (await objects.isKept(signal)),
    statusOf: (name) => {
      const facts = factsOfModule(explained, name);
      const context = { nowMs: clock.wallMs(), operator: owner, generation: 1, before: undefined };
      return facts && moduleStatus(facts, context);
    },
  });
  const find = (apiVersion: string, kind: string, signal: AbortSignal) =>
    base.cluster.discovery.find(apiVersion, kind, signal);
  const hooks = new ModuleHttpHooks({
    kube: base.cluster.main,
    find,
    namespace,
    places: new ChildPlaces({
      namespace,
      allowed: settings.httpHookChildNamespaces,
      find,
      deployed: (release, signal) => deployedObjects(options, release, signal),
    }),
    clock,
    log,
    version,
    check: base.check,
    hosts: base.hosts,
    modules: {
      read: (name, signal) => modules.read(name, signal),
      report: (sent, status, signal) => modules.report(sent, status, signal),
      warn: async (name, message, signal) =>
        await objects?.record(name, { type: 'Warning', reason: 'HookFailed', message }, signal),
    },
  });
  const finalizers = new ModuleFinalizers({
    hooks,
    objects: {
      isKnownAsHeld: (name) => {
        if (objects === undefined) return false;
        if (!objects.isRead) return undefined;
        return objects.objects.get(name)?.finalizers.includes(HOOK_FINALIZER) === true;
      },
      hold: (name, definition, signal) => modules.hold(name, definition, signal),
      heldBy: (name, signal) => modules.heldBy(name, signal),
      release: (name, signal) => modules.release(name, signal),
    },
    deployed: (release, signal) => deployedObjects(options, release, signal),
    log,
    onSkip: async (name, signal) => {
      const message = 'Module is deleted without its reconcile webhook, as requested with release-finalizer';
      await objects?.record(name, { type: 'Warning', reason: 'FinalizerReleased', message }, signal);
    },
  });
  return { hooks, finalizers };
}

async function deployedObjects(
  { base, host }: BuildOptions,
  release: string,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const readYaml = (text: string): unknown =>
    parseYaml(text, { source: 'deployed manifest', booleans: 'yaml-1.1', longIntegers: 'exact' }).value;
  try {
    return manifestObjects(await base.helm.manifest(release, signal), readYaml);
  } catch (error) {
    if (!hasCode(error, 'HELM_RELEASE_CORRUPT')) throw error;
    host.log.warn(
      { release, ...errorFields(error) },
      'Reconcile webhook finalizes a module without its objects',
    );
    return [];
  }
}
