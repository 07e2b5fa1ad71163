import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { paintFor } from '../output/paint.ts';
import { type EndFacts, summaryScreen, tourScreen } from './end-screen.ts';

const paint = paintFor(false);
const FACTS: EndFacts = {
  modules: [
    { name: 'web', chartVersion: '0.1.0', revision: 2, hooks: [] },
    { name: 'reloader', chartVersion: '', revision: undefined, hooks: ['hooks/a.mjs', 'hooks/b.sh'] },
  ],
  disabled: [{ name: 'late', reason: 'no CRD' }],
  refused: [{ name: 'evil', reason: 'not authorized: it is not signed' }],
  globalHooks: ['facts.mjs'],
  globalHooksDir: '/checkout/global-hooks',
  modulesDir: '/checkout/modules',
  elapsedMs: 2_340,
  pageAddress: 'http://127.0.0.1:9652/ui/#token=t',
  metricsUrl: 'http://127.0.0.1:9650/metrics',
  namespace: 'addon-operator',
  configMap: 'addon-operator',
  kubeconfig: '/checkout/.sandbox/kubeconfig',
  kubectl: '/cache/kubectl',
  executable: '/checkout/bin/addon-operator',
  debugSocket: '/checkout/.sandbox/debug.socket',
  jqEngine: 'built-in',
  helmVersion: '3.17.3',
  log: '/checkout/.sandbox/daemon.log',
  stateDir: '/checkout/.sandbox',
  status: 'all is well: 2 modules ready, nothing to do',
  edit: { module: 'web', section: 'web', key: 'replicas', value: 3, sectionValues: { replicas: 3 } },
};

test('summaryScreen() shows what runs', () => {
  expect(summaryScreen(FACTS, paint)).toBe(`
Converged in 2.3 s: 2 modules, 1 global hook

  module    chart  revision  hooks
  web       0.1.0  2         -
  reloader  -      -         hooks/a.mjs, hooks/b.sh
  late is not enabled: no CRD
  evil does not run: not authorized: it is not signed
  global hooks: facts.mjs

  status       all is well: 2 modules ready, nothing to do
  jq engine    built-in
  helm         3.17.3
  log          /checkout/.sandbox/daemon.log
  state        /checkout/.sandbox (kept; --reset deletes it)
`);
});

test('tourScreen() prints a patch that a shell hands over as it is meant', () => {
  const patch = commandWith('patch configmap').replace(/^.*kubectl -n/, 'printf "%s|" -n');
  const args = execFileSync('sh', ['-c', patch], { encoding: 'utf8' }).split('|');
  expect(args.slice(0, 7)).toEqual([
    '-n',
    'addon-operator',
    'patch',
    'configmap',
    'addon-operator',
    '--type',
    'merge',
  ]);
  expect(JSON.parse(args[8] ?? '')).toEqual({ data: { web: 'replicas: 3\n' } });
});

test('tourScreen() prints hooks that work when pasted', () => {
  const globalHooksDir = mkdtempSync(join(tmpdir(), "it's hooks "));
  const screen = tourScreen({ ...FACTS, globalHooksDir }, paint);
  const hooks = screen.match(/^cat > .*?^EOF$/gms) ?? [];
  expect(hooks).toHaveLength(2);
  for (const hook of hooks) execFileSync('sh', ['-c', hook]);
  const run = (name: string, ...args: readonly string[]): string =>
    execFileSync(join(globalHooksDir, name), args, { encoding: 'utf8', stdio: 'pipe' });
  expect(JSON.parse(run('hello.sh', '--config'))).toEqual({ configVersion: 'v1', onStartup: 1 });
  expect(run('hello.sh')).toBe('hello from a new hook\n');
  expect(JSON.parse(run('broken.sh', '--config'))).toEqual({ configVersion: 'v1', onStartup: 1 });
  expect(() => run('broken.sh')).toThrow('something is wrong');
  rmSync(globalHooksDir, { recursive: true });
});

test('tourScreen() names a kubectl only where there is one, and an edit only where there is a value', () => {
  const screen = tourScreen({ ...FACTS, kubectl: undefined, edit: undefined }, paint);
  expect(screen).toContain('kubectl      none found: install it');
  expect(screen).not.toContain('patch configmap');
});

function commandWith(text: string): string {
  const line = tourScreen(FACTS, paint)
    .split('\n')
    .find((one) => one.includes(text));
  return line ?? '';
}
