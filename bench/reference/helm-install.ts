import { execFile } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import type { Backend } from '../../test/support/world.ts';

const run = promisify(execFile);

/** Milliseconds that helm itself needs to install charts one after another into a fresh namespace. */
export async function installWithHelm(
  backend: Backend,
  namespace: string,
  names: readonly string[],
  charts: readonly string[],
): Promise<number> {
  const metadata = { name: namespace };
  await backend.request({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata },
  });
  let totalMs = 0;
  for (const [index, name] of names.entries()) {
    const chart = charts[index] ?? '';
    const startMs = performance.now();
    await run(backend.helmPath, [
      'upgrade',
      '--install',
      name,
      chart,
      '--namespace',
      namespace,
      '--kubeconfig',
      backend.kubeconfigPath,
      '--set',
      `${name}.a=1`,
      '--set',
      'global.b=1',
      '--disable-openapi-validation',
    ]);
    totalMs += performance.now() - startMs;
  }
  return totalMs;
}
