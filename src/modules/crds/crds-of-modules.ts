import { type Dirent, existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SteadyClock } from '@addon-operator/base/clock';
import { messageOf, OperatorError } from '@addon-operator/base/errors';
import type { Logger } from '@addon-operator/base/log';
import type { Discovery } from '@addon-operator/kube-client/discovery';
import type { KubeClient } from '@addon-operator/kube-client/kube-client';
import type { CrdSettings } from '../../settings/module-settings.ts';
import type { ModuleName } from '../../values/module-key.ts';
import type { Module } from '../module.ts';
import type { CrdOrigin } from './crd-changes.ts';
import { CrdInstaller } from './crd-installer.ts';
import { type CrdPreviews, previewCrds } from './preview-crds.ts';

/** The CustomResourceDefinitions of modules. */
interface CrdsOfModules {
  /** Finds the files of all modules. @throws OperatorError MODULE_INVALID */
  read(modules: readonly Module[]): Promise<void>;
  /** Whether the module has any. */
  has(module: ModuleName): boolean;
  /** Applies them; resolves when their kinds are served. */
  ensure(module: ModuleName, signal: AbortSignal): Promise<void>;
  /** What applying those of a version would do. */
  preview(module: Module, signal: AbortSignal): Promise<CrdPreviews>;
}

interface CrdsOptions {
  readonly settings: CrdSettings;
  readonly host: { readonly clock: SteadyClock; readonly log: Logger };
  readonly kube: KubeClient;
  readonly discovery: Discovery;
}

interface FoundCrds {
  readonly origin: CrdOrigin;
  readonly files: readonly string[];
}

/** Creates the part that installs CRDs; it knows no files before the first `read`. */
export function createCrds({ settings, host, kube, discovery }: CrdsOptions): CrdsOfModules {
  let known: ReadonlyMap<ModuleName, FoundCrds> = new Map();
  const { crdExtraLabels: extraLabels, crdFilterPrefixes: prefixes } = settings;
  const installer = new CrdInstaller({
    kube,
    discovery,
    clock: host.clock,
    log: host.log,
    extraLabels,
  });
  const find = async (module: Module): Promise<FoundCrds> => ({
    origin: { module: module.name, version: module.version },
    files: await findCrdFiles(module.path, prefixes),
  });
  return {
    read: async (modules) => {
      known = new Map(
        await Promise.all(
          modules
            .filter(({ refusal }) => refusal === undefined)
            .map(async (module) => [module.name, await find(module)] as const),
        ),
      );
    },
    has: (module) => (known.get(module)?.files.length ?? 0) > 0,
    ensure: async (module, signal) => {
      const found = known.get(module);
      if (found !== undefined) await installer.ensure(found.origin, found.files, signal);
    },
    preview: async (module, signal) => {
      const { origin, files } = await find(module);
      return await previewCrds({ kube, extraLabels, origin }, files, signal);
    },
  };
}

/**
 * Absolute paths, sorted, of the `.yaml` files below `crds/` of a module, except those whose names
 * begin with one of `ignoredPrefixes`.
 *
 * @throws OperatorError MODULE_INVALID when the directory cannot be read
 */
export async function findCrdFiles(
  modulePath: string,
  ignoredPrefixes: readonly string[],
): Promise<readonly string[]> {
  const directory = join(modulePath, 'crds');
  if (!existsSync(directory)) return [];
  return (await entriesBelow(directory))
    .filter((entry) => isCrdFile(entry, ignoredPrefixes))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

async function entriesBelow(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true, recursive: true });
  } catch (cause) {
    throw new OperatorError('MODULE_INVALID', `cannot read ${directory}: ${messageOf(cause)}`, { cause });
  }
}

function isCrdFile(entry: Dirent, ignoredPrefixes: readonly string[]): boolean {
  // An empty prefix would match every file.
  const isIgnored = ignoredPrefixes.some((prefix) => prefix !== '' && entry.name.startsWith(prefix));
  return !entry.isDirectory() && entry.name.endsWith('.yaml') && !isIgnored;
}
