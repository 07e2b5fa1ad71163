import type { Operator } from '../operator/operator.ts';
import type { OperatorDeps } from '../operator/operator-deps.ts';
import type { Settings } from '../settings.ts';
import type { ModuleObjects } from '../status/module-objects.ts';
import type { BaseParts } from './base-parts.ts';
import { createExtensionPoints } from './extension-points.ts';
import type { DaemonHost } from './host.ts';
import { createModuleHttpHooks } from './module-http-hooks.ts';
import { releaseStepsOf } from './release-steps.ts';

interface ExtensionPartsOptions {
  readonly settings: Settings;
  readonly host: DaemonHost;
  readonly base: BaseParts;
  readonly objects: ModuleObjects | undefined;
  readonly stop: AbortSignal;
}

/**
 * What extensions do while modules are deployed and deleted.
 *
 * @throws OperatorError EXTENSION_INVALID
 */
export async function createExtensionParts(
  options: ExtensionPartsOptions,
  operator: () => Operator,
): Promise<Pick<OperatorDeps, 'releaseSteps' | 'uninstallSteps' | 'httpHooks' | 'finalizers'>> {
  const points = await createExtensionPoints(options, options.stop);
  const { hooks, finalizers } = createModuleHttpHooks(options, operator);
  return {
    releaseSteps: releaseStepsOf([
      (module, _state, signal) => points.deploySteps(module, signal),
      (module) => hooks.stepsOf(module),
    ]),
    uninstallSteps: (module, signal) => points.uninstallSteps(module, signal),
    httpHooks: hooks,
    finalizers,
  };
}
