import { expect, test } from 'vitest';
import type { HelmBinary } from './find-helm.ts';
import { templateArguments, uninstallArguments, upgradeArguments } from './helm-arguments.ts';

const options = {
  release: 'web',
  namespace: 'ops',
  chartDir: '/modules/web',
  valuesFile: '/run/values.yaml',
  historyMax: 10,
  timeoutMs: 20 * 60_000,
  labels: { a: '1', 'b/c': '2' },
  postRenderer: ['--post-renderer', 'gate'],
  isForced: true,
};

function helm(major: 3 | 4, minor: number): HelmBinary {
  return { path: '/bin/helm', version: `${major}.${minor}.0`, major, minor };
}

const common = [
  'upgrade',
  '--install',
  '--namespace',
  'ops',
  '--values',
  '/run/values.yaml',
  '--history-max',
  '10',
  '--timeout',
  '20m0s',
  '--skip-crds',
  '--disable-openapi-validation',
  '--labels',
  'a=1,b/c=2',
];
const end = ['--post-renderer', 'gate', '--', 'web', '/modules/web'];

test.each([
  [helm(3, 15), []],
  [helm(3, 17), ['--take-ownership']],
  [helm(4, 1), ['--take-ownership', '--server-side=true', '--force-conflicts']],
])('upgradeArguments() for helm %o', (binary, special) => {
  expect(upgradeArguments(binary, options)).toEqual([...common, ...special, ...end]);
});

test('upgradeArguments() leaves fields to others where it may not force', () => {
  expect(upgradeArguments(helm(4, 1), { ...options, isForced: false })).not.toContain('--force-conflicts');
});

test('upgradeArguments() installs over the records that an uninstall or a failed install has left', () => {
  const args = upgradeArguments(helm(4, 1), { ...options, isReplaced: true });
  expect(args.slice(0, 2)).toEqual(['install', '--replace']);
  // helm install knows no such flag.
  expect(args).not.toContain('--history-max');
});

test('upgradeArguments() waits for nothing, and rolls nothing back', () => {
  const args = upgradeArguments(helm(3, 19), options).join(' ');
  expect(args).not.toMatch(/--wait|--atomic|--force\b|--create-namespace|--rollback/);
});

test('uninstallArguments() names the context when there is one', () => {
  const target = { release: 'web', namespace: 'ops', timeoutMs: 90_000 };
  expect(uninstallArguments({ ...target, kubeContext: '' })).toEqual([
    'uninstall',
    '--namespace',
    'ops',
    '--timeout',
    '1m30s',
    '--debug',
    '--',
    'web',
  ]);
  expect(uninstallArguments({ ...target, kubeContext: 'prod' })).toEqual(
    expect.arrayContaining(['--kube-context', 'prod']),
  );
});

test('templateArguments() renders as an upgrade with the capabilities of the cluster', () => {
  const args = templateArguments({ ...options, kubeVersion: 'v1.34.2', apiVersions: ['v1', 'apps/v1'] });
  expect(args).toEqual(expect.arrayContaining(['--is-upgrade', '--no-hooks', '--skip-crds']));
  expect(args.join(' ')).toContain('--kube-version v1.34.2 --api-versions v1,apps/v1 -- web /modules/web');
});
