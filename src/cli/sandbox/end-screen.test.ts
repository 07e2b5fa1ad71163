import { execFileSync } from 'node:child_process';
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

test('tourScreen() is short, ends with the status, and has paths as one word', () => {
  const screen = tourScreen({ ...FACTS, globalHooksDir: "/it's hooks" }, paint);
  expect(screen.split('\n').length).toBeLessThan(25);
  expect(screen).toMatch(/\nall is well: 2 modules ready, nothing to do\nCtrl-C stops\. .*\n$/);
  expect(screen).toContain(`/checkout/bin/addon-operator hook new '/it'\\''s hooks/hello.sh'\n`);
  expect(screen).toContain('addon-operator status --debug-unix-socket /checkout/.sandbox/debug.socket\n');
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
