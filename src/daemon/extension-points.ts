import { dirname, join, resolve } from 'node:path';
import { Customizations } from '../extensions/points/customizations.ts';
import { ReleasePoints } from '../extensions/points/release-points.ts';
import { warnOfMissingDirectory } from '../extensions/warn-of-missing-directory.ts';
import { readManifestObject } from '../helm/object-lookup.ts';
import type { Settings } from '../settings.ts';
import type { BuildOptions } from './build-options.ts';

/**
 * What calls the extension points while modules are deployed; the operator-wide extensions are loaded.
 *
 * @throws OperatorError EXTENSION_INVALID
 */
export async function createExtensionPoints(
  { settings, host: { log }, base }: BuildOptions,
  signal: AbortSignal,
): Promise<ReleasePoints> {
  const { extensions, cluster } = base;
  warnOfMissingDirectory(settings.customizationsDir, '--customizations-dir', log);
  const customizations = new Customizations({
    commonDir: customizationsDir(settings),
    extensions,
    discovery: cluster.discovery,
    log,
  });
  await customizations.loadCommon(signal);
  const lookup = {
    kube: cluster.main,
    namespace: settings.namespace,
    find: (...wanted: Parameters<typeof cluster.discovery.find>) => cluster.discovery.find(...wanted),
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
}: Pick<Settings, 'customizationsDir' | 'globalHooksDir'>): string {
  return directory === '' ? join(dirname(resolve(globalHooksDir)), 'customizations') : resolve(directory);
}
