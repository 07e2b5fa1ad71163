import { createExtensionPoints } from '../extensions/points/release-points.ts';
import type { Extensions } from '../extensions/runtime/extension-runtime.ts';
import type { ModuleExtensions } from '../model/services.ts';
import type { Module } from '../modules/module.ts';
import { combineSteps, type ReleaseSteps } from '../releases/release-steps.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { ExtensionSettings } from '../settings/hook-settings.ts';
import type { Explained } from '../views/explained.ts';
import { createReconcileWebhooks, type ReconcileWebhooksOptions } from './reconcile-webhooks.ts';

export interface ExtensionPartsOptions extends ReconcileWebhooksOptions {
  readonly settings: ReconcileWebhooksOptions['settings'] &
    Pick<ExtensionSettings, 'customizationsDir' | 'fatalDeployErrors'> &
    Pick<DirectorySettings, 'globalHooksDir'>;
  readonly extensions: Extensions;
  readonly stop: AbortSignal;
}

/**
 * Creates the parts of extensions in deployments and deletions: extension points and reconcile
 * webhooks.
 *
 * @throws OperatorError EXTENSION_INVALID
 */
export async function createExtensionParts(
  options: ExtensionPartsOptions,
  explained: Explained,
): Promise<Omit<ModuleExtensions, 'flow'>> {
  const { settings, host, cluster, extensions, stop } = options;
  const { main: kube, discovery } = cluster;
  const points = await createExtensionPoints({ settings, log: host.log, extensions, kube, discovery }, stop);
  const { hooks, finalizers } = createReconcileWebhooks(options, explained);
  // Their order matters: extension points may change objects, and the reconcile webhook sees the
  // result.
  return {
    releaseSteps: releaseStepsOf([
      (module, signal) => points.deploySteps(module, signal),
      (module) => hooks.stepsOf(module),
    ]),
    uninstallSteps: (module, signal) => points.uninstallSteps(module, signal),
    httpHooks: hooks,
    finalizers,
  };
}

/** The steps of one kind of extension for a module; undefined if it has none for this one. */
type StepsFor = (
  module: Module,
  signal: AbortSignal,
) => ReleaseSteps | undefined | Promise<ReleaseSteps | undefined>;

/** Combines the steps of all extensions, in the order of the list. */
function releaseStepsOf(
  parts: readonly StepsFor[],
): (module: Module, signal: AbortSignal) => Promise<ReleaseSteps | undefined> {
  return async (module, signal) => {
    const steps: ReleaseSteps[] = [];
    for (const part of parts) {
      const own = await part(module, signal);
      if (own !== undefined) steps.push(own);
    }
    return combineSteps(steps);
  };
}
