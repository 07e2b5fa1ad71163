import type { ManifestObject } from '../../helm/manifest-object.ts';
import type { ReleaseSteps, UninstallSteps } from '../../helm/release-steps.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import type { Logger } from '../../lib/log.ts';
import type { Module } from '../../modules/module.ts';
import type { ModuleManifest } from '../../modules/module-manifest.ts';
import type { Customizations } from './customizations.ts';
import { deleteSteps } from './delete-steps.ts';
import { DeploySteps } from './deploy-steps.ts';

type DeployedModule = Pick<Module, 'name' | 'path'> & {
  readonly manifest: Pick<ModuleManifest, 'waitsUntilReady'>;
};

export interface ReleasePointsOptions {
  readonly customizations: Pick<Customizations, 'of'>;
  readonly log: Logger;
  /** Whether errors may be fatal although no extension says so. */
  readonly isFatalAllowed: boolean;
  /** An object as it is in the cluster; undefined when it is not there. */
  readonly readObject: (object: ManifestObject, signal: AbortSignal) => Promise<KubeObject | undefined>;
}

/** Calls the extension points while modules are deployed and uninstalled. */
export class ReleasePoints {
  readonly #options: ReleasePointsOptions;
  /** Objects that were applied for the first time, and whose extension has not succeeded since. */
  readonly #newObjects = new Map<string, readonly KubeObject[]>();

  constructor(options: ReleasePointsOptions) {
    this.#options = options;
  }

  /**
   * What is done while the release of a module is deployed; undefined for nothing.
   *
   * @throws OperatorError EXTENSION_INVALID when its extensions cannot be loaded
   */
  async deploySteps(
    { name, path, manifest }: DeployedModule,
    signal: AbortSignal,
  ): Promise<ReleaseSteps | undefined> {
    const { customizations, log, isFatalAllowed, readObject } = this.#options;
    const hosts = await customizations.of(path, signal);
    const { waitsUntilReady } = manifest;
    if (hosts === undefined && !isFatalAllowed && !waitsUntilReady) return undefined;
    return new DeploySteps({
      hosts,
      log: log.child({ module: name }),
      isFatalAllowed,
      waitsUntilReady,
      readObject,
      newObjects: () => this.#newObjects.get(name) ?? [],
      setNewObjects: (objects) => {
        if (objects.length > 0) this.#newObjects.set(name, objects);
        else this.#newObjects.delete(name);
      },
    });
  }

  /**
   * What is done while the release of a module is uninstalled; undefined for nothing. Without a path there are no
   * extensions of its own.
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
