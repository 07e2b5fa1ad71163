import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseYaml } from '@addon-operator/yaml';
import { DaemonProcess } from './daemon-process.ts';
import type { World } from './world.ts';
import { type FileTree, shHook, writeTree } from './world-files.ts';

/** Times of a hand-over in tests: on a busy machine a renewal takes seconds. */
const LEASE_FLAGS = { 'lease-duration': '12s', 'lease-renew-deadline': '8s', 'lease-retry-period': '1s' };

/** Notes in the file `acts`, again and again, who runs it: each second, and in each run of its module. */
export const ACTING_HOOK = shHook(
  `
beforeHelm: 1
schedule:
- {name: often, crontab: "* * * * * *", queue: acts}
`,
  `
for i in 1 2 3 4 5; do echo "\${WHO:-operator}" >> "$WORLD/acts"; sleep 0.02; done
`,
);

export interface DevOptions {
  /** Files below the modules directory of the author. */
  readonly modules: FileTree;
  readonly args?: readonly string[];
  readonly flags?: Readonly<Record<string, string>>;
}

/** Starts `addon-operator dev web` as a process, for the operator of a world, with files of its own. */
export async function startDev(world: World, name: string, options: DevOptions): Promise<DaemonProcess> {
  const directory = join(world.directory, name);
  await writeTree(join(directory, 'modules'), options.modules);
  const kubeconfig = await readFile(world.backend.kubeconfigPath, 'utf8');
  const { value } = parseYaml(kubeconfig, { source: 'kubeconfig', booleans: 'yaml-1.1' });
  return DaemonProcess.start(
    world,
    {
      ...LEASE_FLAGS,
      'kube-context': String((value as Readonly<Record<string, unknown>>)['current-context']),
      'tmp-dir': join(directory, 'tmp'),
      'debug-unix-socket': join(directory, 'debug.socket'),
      ...options.flags,
    },
    { MODULES_DIR: join(directory, 'modules'), TMPDIR: world.directory, WHO: name },
    [],
    undefined,
    ['dev', 'web', ...(options.args ?? [])],
  );
}

/** Who ran hooks of the module, in order, each once in a row: two that ran at the same time alternate. */
export async function actorsOf(world: World): Promise<readonly string[]> {
  const text = await readFile(join(world.directory, 'acts'), 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.filter((line, index) => line !== lines[index - 1]);
}
