import type { Clock } from '@addon-operator/base/clock';
import { errorFields, hasCode } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import { manifestObjects } from '@addon-operator/helm/transform-manifest';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { parseHelmYaml } from '@addon-operator/yaml';
import { ChildPlaces } from '../extensions/reconcile-webhook/child-places.ts';
import { ModuleFinalizers } from '../extensions/reconcile-webhook/module-finalizers.ts';
import { WebhookSteps } from '../extensions/reconcile-webhook/webhook-steps.ts';
import type { AllowedHosts } from '../hooks/http/allowed-hosts.ts';
import type { HelmDriver } from '../releases/helm-driver.ts';
import type { InstanceSettings } from '../settings/config-map-settings.ts';
import type { HttpHookSettings } from '../settings/hook-settings.ts';
import { HookedModules } from '../status/hooked-modules.ts';
import { HOOK_FINALIZER } from '../status/module-object.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import { moduleStatus } from '../status/module-status.ts';
import { factsOfModule } from '../views/collect-module-facts.ts';
import type { Explained } from '../views/explained.ts';

export interface ReconcileWebhooksOptions {
  readonly settings: InstanceSettings & Pick<HttpHookSettings, 'httpHookChildNamespaces'>;
  readonly host: { readonly clock: Clock; readonly log: Logger; readonly version: string };
  readonly cluster: {
    readonly main: KubeClient;
    readonly status: KubeClient;
    readonly discovery: Discovery;
  };
  readonly helm: Pick<HelmDriver, 'manifest'>;
  /** The allowed hosts of servers. */
  readonly hosts: AllowedHosts;
  /** Throws when nothing may be started any more. */
  readonly check: () => void;
  /** The Module objects; undefined where the settings switch them off. */
  readonly objects: ModuleObjects | undefined;
}

/**
 * Creates the reconcile webhooks of modules (the servers named in `module.yaml`), and the
 * finalizers that keep Module objects until a server has finalized its module.
 */
export function createReconcileWebhooks(options: ReconcileWebhooksOptions, explained: Explained) {
  const { settings, host, cluster, objects } = options;
  const { clock, log, version } = host;
  const { namespace, configMapName } = settings;
  const owner = `${namespace}/${configMapName}`;
  const modules = new HookedModules({
    kube: cluster.status,
    log,
    namespace,
    operator: owner,
    isOn: objects !== undefined,
    isKept: async (signal) => objects !== undefined && (await objects.isKept(signal)),
    // The status that is sent to the server is the same one that the Module object shows.
    statusOf: (name) => {
      const facts = factsOfModule(explained, name);
      const context = { nowMs: clock.wallMs(), operator: owner, generation: 1, before: undefined };
      return facts && moduleStatus(facts, context);
    },
  });
  const find = (apiVersion: string, kind: string, signal: AbortSignal) =>
    cluster.discovery.find(apiVersion, kind, signal);
  const hooks = new WebhookSteps({
    kube: cluster.main,
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
    check: options.check,
    hosts: options.hosts,
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
        // Without Module objects there is nothing to hold a finalizer.
        if (objects === undefined) return false;
        // Not read yet: unknown, so the caller requests the object itself.
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

// The objects of a release, for a server that finalizes them. A damaged record must not prevent a
// deletion for ever.
async function deployedObjects(
  { helm, host }: Pick<ReconcileWebhooksOptions, 'helm' | 'host'>,
  release: string,
  signal: AbortSignal,
): Promise<readonly KubeObject[]> {
  const readYaml = (text: string): unknown => parseHelmYaml(text, 'deployed manifest');
  try {
    return manifestObjects(await helm.manifest(release, signal), readYaml);
  } catch (error) {
    if (!hasCode(error, 'HELM_RELEASE_CORRUPT')) throw error;
    host.log.warn(
      { release, ...errorFields(error) },
      'Reconcile webhook finalizes a module without its objects',
    );
    return [];
  }
}
