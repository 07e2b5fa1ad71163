import { createExtensionPoints } from '../extensions/points/create-release-points.ts';
import type { Explained } from '../operator/explained.ts';
import type { OperatorDeps } from '../operator/operator-deps.ts';
import type { BuildOptions } from './build-options.ts';
import { createModuleHttpHooks } from './module-http-hooks.ts';
import { releaseStepsOf } from './release-steps.ts';

/**
 * What extensions do while modules are deployed and deleted.
 *
 * @throws OperatorError EXTENSION_INVALID
 */
export async function createExtensionParts(
  options: BuildOptions,
  explained: Explained,
): Promise<Pick<OperatorDeps, 'releaseSteps' | 'uninstallSteps' | 'httpHooks' | 'finalizers'>> {
  const points = await createExtensionPoints(
    {
      settings: options.settings,
      log: options.host.log,
      extensions: options.base.extensions,
      kube: options.base.cluster.main,
      discovery: options.base.cluster.discovery,
    },
    options.stop,
  );
  const { hooks, finalizers } = createModuleHttpHooks(options, explained);
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
