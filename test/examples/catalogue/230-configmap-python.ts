import { messageOf } from '@addon-operator/base/errors';
import { execaSync } from 'execa';
import { expect, test } from 'vitest';
import { apiIndependent } from '../../support/api-independent.ts';
import type { Backend } from '../../support/world.ts';
import { read, remove } from '../example-world.ts';
import { cataloguePath, DirectoryCopy, hookSetWorld, requireTools } from './catalogue-world.ts';

const WRITTEN = '/api/v1/namespaces/default/configmaps/config-map-for-proj';

export function configMapPythonTests(backend: () => Backend): void {
  test('230-configmap-python: a hook makes a ConfigMap with a client library', async (context) => {
    requireTools(context, 'python3');
    const { exitCode } = execaSync('python3', ['-c', 'import kubernetes'], { reject: false });
    if (exitCode !== 0) context.skip('python3 has no package kubernetes (pip install kubernetes)');
    const hookEnv = { KUBECONFIG: backend().kubeconfigPath };
    await using world = await hookSetWorld(backend(), '230-configmap-python', { hookEnv });
    try {
      await world.converge();
      expect(await read(world, WRITTEN)).toMatchObject({
        data: { memory: '256Gi', coreCPU: '128', ver: '1.0.1' },
      });
    } finally {
      await remove(world, WRITTEN);
    }
  });

  test(
    '230-configmap-python: a syntax error fails the start, and the error contains the message of Python',
    apiIndependent,
    async (context) => {
      requireTools(context, 'python3');
      await using hooks = await DirectoryCopy.of(cataloguePath('230-configmap-python', 'hooks'));
      await hooks.replace('00-hook.py', 'from kubernetes import', 'kubernetes import');
      await using world = await hookSetWorld(backend(), '230-configmap-python', {
        directories: { globalHooks: hooks.path },
      });
      const message = await world.start().then(() => 'started', messageOf);
      expect(message).toContain('00-hook.py');
      expect(message).toContain('SyntaxError: invalid syntax');
    },
  );
}
