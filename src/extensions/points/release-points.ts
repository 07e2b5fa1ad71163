import { dirname, join, resolve } from 'node:path';
import type { Logger } from '@addon-operator/base/log';
import type { ManifestObject } from '@addon-operator/helm/manifest-object';
import { readManifestObject } from '@addon-operator/helm/object-lookup';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { readPodTrouble } from '@addon-operator/kube-client/pod-trouble';
import type { Module } from '../../modules/module.ts';
import type { ModuleManifest } from '../../modules/module-manifest.ts';
import type { ReleaseSteps, UninstallSteps } from '../../releases/release-steps.ts';
import type { InstanceSettings } from '../../settings/config-map-settings.ts';
import type { DirectorySettings } from '../../settings/directory-settings.ts';
import type { ExtensionSettings } from '../../settings/hook-settings.ts';
import { warnOfMissingDirectory } from '../runtime/extension-files.ts';
import type { Extensions } from '../runtime/extension-runtime.ts';
import { Customizations, type HostSet } from './customizations.ts';
import { DeploySteps } from './deploy-steps.ts';
import { createDeleter, pointOf, quotedObject } from './object-points.ts';
import { nextOf } from './point.ts';

type DeployedModule = Pick<Module, 'name' | 'path'> & {
  readonly manifest: Pick<ModuleManifest, 'waitsUntilReady'>;
};

interface ReleasePointsOptions {
  readonly customizations: Pick<Customizations, 'of'>;
  readonly log: Logger;
  /** Whether errors may be fatal without an extension that says so. */
  readonly isFatalAllowed: boolean;
  /** An object as it is in the cluster; undefined when it does not exist. */
  readonly readObject: (object: ManifestObject, signal: AbortSignal) => Promise<KubeObject | undefined>;
  readonly readPodTrouble: (workload: KubeObject, signal: AbortSignal) => Promise<string | undefined>;
}

/**
 * Creates the steps of extension points for deployments and deletions of modules. It lives as long
 * as the operator, because it remembers new objects across deployments.
 */
class ReleasePoints {
  readonly #options: ReleasePointsOptions;
  /** Objects applied for the first time whose `onSuccess` has not succeeded, by module. */
  readonly #newObjects = new Map<string, readonly KubeObject[]>();

  constructor(options: ReleasePointsOptions) {
    this.#options = options;
  }

  /**
   * The steps while the release of a module is deployed; undefined if there is nothing to do.
   *
   * @throws OperatorError EXTENSION_INVALID when its extensions cannot be loaded
   */
  async deploySteps(
    { name, path, manifest }: DeployedModule,
    signal: AbortSignal,
  ): Promise<ReleaseSteps | undefined> {
    const { customizations, log, isFatalAllowed, readObject, readPodTrouble } = this.#options;
    const hosts = await customizations.of(path, signal);
    const { waitsUntilReady } = manifest;
    if (hosts === undefined && !isFatalAllowed && !waitsUntilReady) return undefined;
    return new DeploySteps({
      hosts,
      log: log.child({ module: name }),
      isFatalAllowed,
      waitsUntilReady,
      readObject,
      readPodTrouble,
      newObjects: () => this.#newObjects.get(name) ?? [],
      setNewObjects: (objects) => {
        if (objects.length > 0) this.#newObjects.set(name, objects);
        else this.#newObjects.delete(name);
      },
    });
  }

  /**
   * The steps while the release of a module is uninstalled; undefined if there is nothing to do. A
   * module without a path has no extensions of its own.
   *
   * @throws OperatorError EXTENSION_INVALID when its extensions cannot be loaded
   */
  async uninstallSteps(
    { name, path }: { readonly name: string; readonly path?: string },
    signal: AbortSignal,
  ): Promise<UninstallSteps | undefined> {
    const { customizations, log } = this.#options;
    this.#newObjects.delete(name);
    const hosts = await customizations.of(path, signal);
    return hosts?.has('delete') === true ? deleteSteps(hosts, log.child({ module: name })) : undefined;
  }
}

interface ExtensionPointsOptions {
  readonly settings: CustomizationsSettings &
    Pick<ExtensionSettings, 'fatalDeployErrors'> &
    Pick<InstanceSettings, 'namespace'>;
  readonly log: Logger;
  readonly extensions: Extensions;
  readonly kube: KubeClient;
  readonly discovery: Discovery;
}

type CustomizationsSettings = Pick<ExtensionSettings, 'customizationsDir'> &
  Pick<DirectorySettings, 'globalHooksDir'>;

/**
 * Creates the extension points, and loads the operator-wide extensions.
 *
 * @throws OperatorError EXTENSION_INVALID
 */
export async function createExtensionPoints(
  { settings, log, extensions, kube, discovery }: ExtensionPointsOptions,
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
    readPodTrouble: (workload, readSignal) => readPodTrouble(workload, kube, readSignal),
  });
}

/** The directory of operator-wide extensions: the setting, else next to the global hooks. */
export function customizationsDir({
  customizationsDir: directory,
  globalHooksDir,
}: CustomizationsSettings): string {
  return directory === '' ? join(dirname(resolve(globalHooksDir)), 'customizations') : resolve(directory);
}

/**
 * Calls the `delete` extension of each object; helm deletes the objects for which `next()` was
 * called.
 */
export function deleteSteps(hosts: HostSet, log: Logger): UninstallSteps {
  return {
    around: async (objects, uninstall, signal) => {
      const kept: KubeObject[] = [];
      for (const object of objects) {
        let isLeftToHelm = false;
        const next = nextOf<KubeObject, void>(() => {
          isLeftToHelm = true;
        });
        const objectLog = log.child({ object: quotedObject(object) });
        await pointOf(createDeleter, hosts, object)(object, next, object.apiVersion ?? '', objectLog, signal);
        if (isLeftToHelm) continue;
        objectLog.info({}, 'an extension handles the deletion: helm keeps the object');
        kept.push(object);
      }
      await uninstall(kept);
    },
  };
}
