import { componentLog } from '@addon-operator/base/log';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import { createAuthorization } from '../extensions/create-authorization.ts';
import type { LoneModule } from '../model/lone-module.ts';
import { NO_DIRECTORY_MEMORY } from '../model/lone-module.ts';
import { allModulesDirs } from '../module-store/module-store.ts';
import { createCrds } from '../modules/crds/crds-of-modules.ts';
import { ownedReleases } from '../releases/owned-releases.ts';
import { memoryRef } from '../values/config-map-presence.ts';
import type { ModuleRecords } from './create-reconcile.ts';
import { directoryMemory } from './directory-memory.ts';
import { ModuleFiles, type ModuleFilesOptions } from './module-files.ts';
import { fileSetStore, ModuleMemory } from './module-memory.ts';

export interface ReadModulesParts {
  readonly settings: ModuleFilesOptions['settings'] &
    Parameters<typeof createAuthorization>[0]['settings'] &
    Parameters<typeof createCrds>[0]['settings'] &
    Parameters<typeof ownedReleases>[1];
  readonly host: ModuleFilesOptions['host'] & Parameters<typeof createAuthorization>[0]['host'];
  readonly cluster: { readonly main: KubeClient; readonly helm: KubeClient; readonly discovery: Discovery };
  readonly extensions: ModuleFilesOptions['extensions'];
  readonly tmpDir: string;
  /** Waits for files that cannot be loaded yet, or throws. */
  readonly loads: { untilLoaded<T>(load: () => Promise<T>): Promise<T> };
  /** The module store; undefined without one. */
  readonly store: ModuleFilesOptions['store'];
  /** Modules of sources; undefined without a module store. */
  readonly delivered: ModuleFilesOptions['delivered'];
  /** Set for `addon-operator dev` of one module; absent otherwise. */
  readonly lone: LoneModule | undefined;
  /** The daemon must not write to the cluster. */
  readonly isInspection: boolean;
  readonly stop: AbortSignal;
  /** Receives everything that has to be stopped. */
  readonly running: AsyncDisposableStack;
}

/**
 * Reads the modules directories, and the records about modules in the cluster.
 *
 * @throws OperatorError for directories and files that cannot be used
 */
export async function readModules({
  settings,
  host,
  cluster,
  extensions,
  tmpDir,
  loads,
  store,
  delivered,
  lone,
  isInspection,
  stop,
  running,
}: ReadModulesParts): Promise<{ readonly files: ModuleFiles; readonly records: ModuleRecords }> {
  const kube = cluster.main;
  const authorization = await createAuthorization({
    settings: { ...settings, modulesDirs: allModulesDirs(settings) },
    host,
    kube,
    tmpDir,
    stop,
    running,
    isInspection,
  });
  const crds = createCrds({ settings, host, kube: cluster.helm, discovery: cluster.discovery });
  const ref = memoryRef(settings);
  const memory = await ModuleMemory.load({
    // For a lone module the operator in the cluster keeps the record.
    store: lone === undefined ? fileSetStore(kube, ref) : undefined,
    contents: store,
    clock: host.clock,
    log: componentLog(host, 'operator'),
    stop,
  });
  running.defer(() => memory.close());
  const read = (): Promise<ModuleFiles> =>
    ModuleFiles.read({
      settings,
      host,
      extensions,
      gate: authorization?.gate,
      crds,
      memory,
      ownedReleases: (signal) => ownedReleases(kube, settings, signal),
      stop,
      store,
      delivered,
      lone,
    });
  const files = await loads.untilLoaded(read);
  const remembered = lone ? NO_DIRECTORY_MEMORY : directoryMemory(kube, ref);
  return { files, records: { crds, memory, directoryMemory: remembered, authorization } };
}
