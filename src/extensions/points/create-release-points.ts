import { dirname, join, resolve } from 'node:path';
import { readManifestObject } from '../../helm/object-lookup.ts';
import type { Discovery } from '../../kube/discovery.ts';
import type { KubeClient } from '../../kube/kube-client.ts';
import type { Logger } from '../../lib/log.ts';
import type { Extensions } from '../runtime/extension-runtime.ts';
import { warnOfMissingDirectory } from '../warn-of-missing-directory.ts';
import { Customizations } from './customizations.ts';
import { ReleasePoints } from './release-points.ts';

export interface ReleasePointsOptions {
  readonly settings: CustomizationsSettings & {
    readonly namespace: string;
    readonly fatalDeployErrors: 'retry' | 'stop';
  };
  readonly log: Logger;
  readonly extensions: Extensions;
  readonly kube: KubeClient;
  readonly discovery: Discovery;
}

interface CustomizationsSettings {
  /** Directory of the operator-wide extensions; empty: beside the global hooks. */
  readonly customizationsDir: string;
  readonly globalHooksDir: string;
}

/**
 * What calls the extension points while modules are deployed; the operator-wide extensions are loaded.
 *
 * @throws OperatorError EXTENSION_INVALID
 */
export async function createExtensionPoints(
  { settings, log, extensions, kube, discovery }: ReleasePointsOptions,
  signal: AbortSignal,
): Promise<ReleasePoints> {
  warnOfMissingDirectory(settings.customizationsDir, '--customizations-dir', log);
  const customizations = new Customizations({
    commonDir: customizationsDir(settings),
    extensions,
    discovery,
    log,
  });
  await customizations.loadCommon(signal);
  const lookup = {
    kube,
    namespace: settings.namespace,
    find: (...wanted: Parameters<Discovery['find']>) => discovery.find(...wanted),
  };
  return new ReleasePoints({
    customizations,
    log,
    isFatalAllowed: settings.fatalDeployErrors === 'stop',
    readObject: (object, readSignal) => readManifestObject(object, lookup, readSignal),
  });
}

/** Where the operator-wide extensions are: as set, else beside the global hooks. */
export function customizationsDir({
  customizationsDir: directory,
  globalHooksDir,
}: CustomizationsSettings): string {
  return directory === '' ? join(dirname(resolve(globalHooksDir)), 'customizations') : resolve(directory);
}
