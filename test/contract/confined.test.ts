import { spawnSync } from 'node:child_process';
import { chownSync, readdirSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');
const NOBODY = 65_534;

/** Everything but the directory of the world can only be read, and the user is not root. */
const CONFINED = `mount --bind "$WORLD" "$WORLD" && mount -o remount,bind,ro / &&
if touch /touched; then exit 99; fi
cd "$WORLD" && exec setpriv --reuid ${NOBODY} --regid ${NOBODY} --clear-groups "$@"`;

const canConfine = spawnSync('unshare', ['-m', 'setpriv', '--reuid', String(NOBODY), 'true']).status === 0;

let backend: SandboxBackend;
beforeAll(async () => {
  backend = await sandboxBackend();
});
afterAll(() => backend[Symbol.asyncDispose]());

test.skipIf(!canConfine)(
  'a daemon that is not root deploys a module from a read-only file system',
  async () => {
    await using world = await World.create(backend, {
      modules: {
        'values.yaml': 'webEnabled: true\n',
        ...under('001-web', configMapChart('web', 'web')),
        '001-web/hooks/who.sh': shHook('beforeHelm: 1', 'id -u'),
      },
    });
    const kubeconfig = join(world.directory, 'kubeconfig');
    await copyFile(backend.kubeconfigPath, kubeconfig);
    await copyFile(backend.helmPath, join(world.directory, 'helm'));
    giveAway(world.directory);
    const flags = { ...world.flags, 'kube-config': kubeconfig, 'exit-after-converge': 'true' };
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    const daemon = [process.execPath, '--no-warnings', MAIN, 'start', ...args];
    const { exitCode, stdout, stderr } = await execa(
      'unshare',
      ['-m', 'sh', '-c', CONFINED, 'sh', ...daemon],
      {
        env: { ...world.hostEnv, ...world.settingsEnv },
        reject: false,
      },
    );
    if (exitCode !== 0) throw new Error(`the daemon ended with ${exitCode}: ${stdout}${stderr}`);
    expect(stderr).toContain('Read-only file system');
    expect(stdout).toContain(`"msg":"${NOBODY}"`);
    expect(await world.get('configmaps', 'web')).toBeDefined();
  },
);

function giveAway(directory: string): void {
  chownSync(directory, NOBODY, NOBODY);
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries) chownSync(join(entry.parentPath, entry.name), NOBODY, NOBODY);
}
