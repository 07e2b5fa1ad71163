import { ModuleFinalizers } from '../extensions/module-hooks/module-finalizers.ts';
import { ModuleHttpHooks } from '../extensions/module-hooks/module-http-hooks.ts';
import { manifestObjects } from '../helm/transform-manifest.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { hasCode, messageOf } from '../lib/errors.ts';
import { moduleFacts } from '../operator/module-facts.ts';
import type { Operator } from '../operator/operator.ts';
import { HookedModules } from '../status/hooked-modules.ts';
import { HOOK_FINALIZER } from '../status/module-object.ts';
import { moduleStatus } from '../status/module-status.ts';
import { parseYaml } from '../values/yaml.ts';
import type { BuildOptions } from './build-options.ts';

/** The servers that modules name in `module.yaml`, and what keeps modules until these have finalized them. */
export function createModuleHttpHooks(options: BuildOptions, operator: () => Operator) {
  const { settings, host, base, objects } = options;
  const { clock, log, version } = host;
  const { namespace, configMapName } = settings;
  const owner = `${namespace}/${configMapName}`;
  const modules = new HookedModules({
    kube: base.cluster.monitor,
    log,
    namespace,
    operator: owner,
    isKept: async (signal) => objects !== undefined && (await objects.isKept(signal)),
    statusOf: (name) => {
      const facts = moduleFacts(operator()).find(({ explanation: { module } }) => module === name);
      const context = { nowMs: clock.now(), operator: owner, generation: 1, before: undefined };
      return facts && moduleStatus(facts, context);
    },
  });
  const hooks = new ModuleHttpHooks({
    kube: base.cluster.main,
    find: (apiVersion, kind, signal) => base.cluster.discovery.find(apiVersion, kind, signal),
    namespace,
    clock,
    log,
    version,
    check: base.check,
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
      isHeld: (name) => objects?.objects.get(name)?.finalizers.includes(HOOK_FINALIZER) === true,
      hold: (name, definition, signal) => modules.hold(name, definition, signal),
      heldBy: (name, signal) => modules.heldBy(name, signal),
      release: (name, signal) => modules.release(name, signal),
    },
    deployed: (release, signal) => deployedObjects(options, release, signal),
    log,
    onSkip: async (name, signal) => {
      const message = 'The module is deleted without its HTTP hook, as release-finalizer has asked for';
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
    parseYaml(text, { source: 'deployed manifest', booleans: 'yaml-1.1' }).value;
  try {
    return manifestObjects(await base.helm.manifest(release, signal), readYaml);
  } catch (error) {
    if (!hasCode(error, 'HELM_RELEASE_CORRUPT')) throw error;
    host.log.warn({ release, error: messageOf(error) }, 'HTTP hook finalizes a module without its objects');
    return [];
  }
}
