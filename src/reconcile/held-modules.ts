/**
 * Modules that are not in the modules directories any more, or whose content is nowhere, and which stay as they are:
 * held, with their last values. Pure decisions; `module-files.ts` calls it with each reading.
 */

import { dirname, join } from 'node:path';
import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { UnavailableModule } from '../delivery/delivered-modules.ts';
import { areMostGone } from '../model/purge-guard.ts';
import { allModulesDirs } from '../module-store/module-store.ts';
import type { FoundModules } from '../modules/find-modules.ts';
import { refusedModule } from '../modules/load-module.ts';
import { entryOf, type GoneRefusal, type Module } from '../modules/module.ts';
import { parseDirectoryName } from '../modules/module-name.ts';
import { inRunOrder } from '../modules/run-order.ts';
import type { DaemonSettings } from '../settings/daemon-settings.ts';
import type { DirectorySettings } from '../settings/directory-settings.ts';
import type { HelmSettings } from '../settings/helm-settings.ts';
import type { ModuleName, ValuesOwner } from '../values/module-key.ts';
import type { SectionSchemas } from '../values/section-schemas.ts';

export interface HeldModulesFacts {
  /** The modules of the last reading, as far as they were read again. */
  readonly before: readonly Module[];
  readonly values: FoundModules['staticValues'];
  readonly enabled: readonly ModuleName[];
  /** Modules that a user removed from the module store. */
  readonly removed: ReadonlySet<string>;
  /** Modules of sources whose content is nowhere. */
  readonly unavailable: ReadonlyMap<string, UnavailableModule>;
  /** At a start, modules of the module store that ran before, with the names of their entries. */
  readonly stored?: ReadonlyMap<string, string>;
  /** The modules directory of the module store. */
  readonly currentDir: string;
  readonly settings: Pick<DirectorySettings, 'moduleStore' | 'modulesDirs'> &
    Pick<DaemonSettings, 'watchesFiles'> &
    Pick<HelmSettings, 'allowsEmptyModulesDir'>;
}

/** The modules that were read, with those that are held although they were not found. */
export function withHeld(read: FoundModules, facts: HeldModulesFacts): FoundModules {
  const away = unavailableModules(read.modules, facts);
  const there = new Set([...read.modules, ...away].map(({ name }) => name));
  const held = [...away, ...vanishedModules(there, read.lostDirs, facts), ...unlinkedModules(there, facts)];
  const names = new Set(held.map(({ name }) => name));
  const kept = <V>(of: ReadonlyMap<ValuesOwner, V> = new Map()): [ModuleName, V][] =>
    [...names].flatMap((name): [ModuleName, V][] => {
      const value = of.get(name);
      return value === undefined ? [] : [[name, value]];
    });
  const { modules, schemas } = read.staticValues;
  const stored = away.map(({ name }) => name);
  return {
    ...read,
    // Those of sources are in the store, so its directory is not empty.
    directories: read.directories.map((directory) =>
      directory.path === facts.currentDir
        ? { ...directory, modules: [...new Set([...directory.modules, ...stored])] }
        : directory,
    ),
    modules: inRunOrder([...read.modules.filter(({ name }) => !names.has(name)), ...held]),
    staticValues: {
      ...read.staticValues,
      modules: new Map([...modules, ...kept(facts.values.modules)]),
      schemas: new Map<ValuesOwner, SectionSchemas>([...(schemas ?? []), ...kept(facts.values.schemas)]),
    },
  };
}

/** A module of another directory with the same name is the one that runs, as always. */
function unavailableModules(
  found: readonly Module[],
  { before, unavailable, currentDir }: HeldModulesFacts,
): readonly Module[] {
  return [...unavailable].flatMap(([name, facts]) => {
    const isThis = (module: Module): boolean => module.name === name;
    const read = found.find(isThis);
    if (read !== undefined && (read.refusal?.type !== 'gone' || dirname(entryOf(read)) !== currentDir))
      return [];
    const path = join(currentDir, facts.entry);
    const refusal = goneContent(facts);
    const known = before.find(isThis) ?? read;
    return [known === undefined ? unreadModule(path, facts.entry, refusal) : { ...known, refusal }];
  });
}

/** Nothing of it was read: neither its values nor its hooks are known. */
function unreadModule(path: string, entry: string, refusal: GoneRefusal): Module {
  const { name, order = 0 } = parseDirectoryName(entry);
  return refusedModule({ name, order, path }, { path: '', text: undefined, values: {} }, refusal);
}

function goneContent({ reason, sinceMs }: UnavailableModule): GoneRefusal {
  return {
    type: 'gone',
    lost: 'content',
    reason: `since ${isoTime(sinceMs)} ${reason}`,
    remedy:
      'bring its source back, or correct its ModuleSource, then the module continues by itself; to remove the module, delete its ModuleInstall',
  };
}

/**
 * Modules whose entries have disappeared from the modules directories while the operator runs. Those
 * that a user removed from the module store are deleted as if they were disabled; one of which nothing
 * was ever read has no hooks to run, and its release is removed as that of any unknown module. The others are held
 * if they are enabled, since that counts as a decision at the next start only. With a watch on files
 * it is a decision of the author, unless it looks like a lost volume. For the module store neither is
 * a decision.
 */
function vanishedModules(
  there: ReadonlySet<string>,
  lostDirs: FoundModules['lostDirs'],
  { before, enabled, removed, currentDir, settings }: HeldModulesFacts,
): readonly Module[] {
  const { watchesFiles, allowsEmptyModulesDir } = settings;
  const wanted = new Set(enabled);
  const absent = before.filter(({ name }) => !there.has(name));
  const isOfStore = (module: Module): boolean => dirname(entryOf(module)) === currentDir;
  const isRemoved = (module: Module): boolean => isOfStore(module) && removed.has(module.name);
  // One whose files are lost is not in a discovery yet, if it is read again before the first one.
  const isWanted = ({ name, refusal }: Module): boolean => wanted.has(name) || refusal?.type === 'gone';
  const gone = absent.filter((module) => isWanted(module) && !isRemoved(module));
  const areMost = areMostGone(gone.length, enabled.length);
  // An unmounted volume removes all modules at once, and only a command removes one from the store.
  const isAccident = (module: Module): boolean => {
    const lost = lostDirs.get(dirname(entryOf(module)));
    return (
      areMost || isOfStore(module) || lost === 'unreadable' || (lost === 'empty' && !allowsEmptyModulesDir)
    );
  };
  return [
    ...absent
      .filter((module) => isRemoved(module) && module.entries !== undefined)
      .map(({ refusal: _refusal, ...module }): Module => ({ ...module, isRemoved: true })),
    ...gone
      .filter((module) => !watchesFiles || isAccident(module))
      .map((module): Module => {
        const refusal = isOfStore(module)
          ? goneLink(module.name, entryOf(module))
          : goneEntry(module, settings);
        return { ...module, refusal };
      }),
  ];
}

/** Modules of the store whose links were lost before the start. */
function unlinkedModules(
  there: ReadonlySet<string>,
  { stored = new Map(), removed, currentDir }: HeldModulesFacts,
): readonly Module[] {
  return [...stored].flatMap(([name, entry]) => {
    const path = join(currentDir, entry);
    return there.has(name) || removed.has(name) ? [] : [unreadModule(path, entry, goneLink(name, path))];
  });
}

function goneLink(name: string, link: string): GoneRefusal {
  return {
    type: 'gone',
    lost: 'directory',
    reason: `its link ${link} is gone`,
    remedy: `add the module again with \`addon-operator module store add\`, then it continues by itself; to remove it, run \`addon-operator module store remove ${name}\``,
  };
}

function goneEntry(module: Module, settings: HeldModulesFacts['settings']): GoneRefusal {
  return {
    type: 'gone',
    lost: 'directory',
    reason: `its directory ${entryOf(module)} is gone`,
    remedy: `restore it in ${allModulesDirs(settings).join(' or ')}, or restart the operator, which removes the releases of modules without a directory`,
  };
}
