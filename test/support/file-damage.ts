import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';

/** Repairs what was damaged. */
export type Repair = () => Promise<void>;

/** Where the files of a module are. */
export interface DamagedPlace {
  /** In the modules directory; a link or the directory itself. */
  readonly entry: string;
  readonly directory: string;
}

let moved = 0;

/** Renames a file or directory to a hidden one beside it, which is no entry of a modules directory. */
export async function moveAside(path: string): Promise<Repair> {
  const aside = join(path, '..', `.aside-${(moved += 1)}-${basename(path)}`);
  await rename(path, aside);
  return () => rename(aside, path);
}

async function replaced(path: string, put: () => Promise<unknown>): Promise<Repair> {
  const repair = await moveAside(path);
  await put();
  return async () => {
    await rm(path, { recursive: true });
    await repair();
  };
}

const lost =
  (...names: readonly string[]) =>
  async ({ directory }: DamagedPlace): Promise<Repair> => {
    const repairs: Repair[] = [];
    for (const name of names) repairs.push(await moveAside(join(directory, name)));
    return async () => {
      for (const repair of repairs) await repair();
    };
  };

/** What can only happen to a link. */
export const LINK_DAMAGES = {
  'a link that leads nowhere': ({ directory }: DamagedPlace) => moveAside(directory),
  'a link to itself': async ({ entry, directory }: DamagedPlace) => {
    await rm(entry);
    await symlink(basename(entry), entry);
    return async () => {
      await rm(entry);
      await symlink(relative(join(entry, '..'), directory), entry);
    };
  },
} as const;

/** What can happen to any module. */
export const DIRECTORY_DAMAGES = {
  'a file in place of the directory': ({ directory }: DamagedPlace) =>
    replaced(directory, () => writeFile(directory, '')),
  'an empty directory': ({ directory }: DamagedPlace) => replaced(directory, () => mkdir(directory)),
  'a directory without any file of a module': ({ directory }: DamagedPlace) =>
    replaced(directory, () => mkdir(join(directory, 'lost+found'), { recursive: true })),
  'no values.yaml': lost('values.yaml'),
} as const;

/** What can happen to a module with a chart. */
export const CHART_DAMAGES = {
  'no Chart.yaml': lost('Chart.yaml'),
  'no templates': lost('templates'),
  'no values.yaml and no Chart.yaml': lost('values.yaml', 'Chart.yaml'),
} as const;

export type ModuleDamage =
  | keyof typeof LINK_DAMAGES
  | keyof typeof DIRECTORY_DAMAGES
  | keyof typeof CHART_DAMAGES;

/** Each damages the files of one module. */
export const MODULE_DAMAGES: Readonly<Record<ModuleDamage, (place: DamagedPlace) => Promise<Repair>>> = {
  ...LINK_DAMAGES,
  ...DIRECTORY_DAMAGES,
  ...CHART_DAMAGES,
};

/** Each damages a whole modules directory. */
export const TREE_DAMAGES = {
  emptied: (path: string) => replaced(path, () => mkdir(path)),
  'without values.yaml': (path: string) => moveAside(join(path, 'values.yaml')),
  'not there': moveAside,
  'a file': (path: string) => replaced(path, () => writeFile(path, '')),
} as const;

export type TreeDamage = keyof typeof TREE_DAMAGES;
