import { parseYaml } from '@addon-operator/yaml';
import { expect, test } from 'vitest';
import { hookTestText } from './hook-test-text.ts';
import type { Trigger } from './trigger.ts';

const lifecycle = (binding: string): Trigger => ({ type: 'lifecycle', binding });
const objects = (apiVersion: string, kind: string): Trigger => ({ type: 'kubernetes', apiVersion, kind });
const output = { $contains: 'a runs' };
const SYNCHRONIZED = {
  start: {},
  expect: { runs: 1, contexts: [{ binding: 'objects', type: 'Synchronization' }] },
};

function applied(kind: string, metadata: object): object {
  const contexts = [{ type: 'Event', watchEvent: 'Added', filterResult: { name: 'example' } }];
  return { apply: { apiVersion: 'v1', kind, metadata }, expect: { runs: 1, contexts, output } };
}

test.each<[string, Trigger, object]>([
  [
    'the start',
    lifecycle('onStartup'),
    { name: 'runs at onStartup', steps: [{ start: {}, expect: { runs: 1, output } }] },
  ],
  [
    'another point of the lifecycle',
    lifecycle('afterHelm'),
    { name: 'runs at afterHelm', steps: [{ run: 'afterHelm', expect: { runs: 1, output } }] },
  ],
  [
    'a schedule',
    { type: 'schedule', crontab: '0 * * * *' },
    {
      name: 'runs when its schedule is due',
      steps: ['start', { tick: 'timer', expect: { runs: 1, contexts: [{ binding: 'timer' }], output } }],
    },
  ],
  [
    'objects that any test can create',
    objects('v1', 'Secret'),
    {
      name: 'runs for each Secret',
      steps: [SYNCHRONIZED, applied('Secret', { name: 'example', namespace: 'default' })],
    },
  ],
  [
    'objects of the cluster',
    objects('v1', 'Namespace'),
    { name: 'runs for each Namespace', steps: [SYNCHRONIZED, applied('Namespace', { name: 'example' })] },
  ],
  [
    'objects with fields that are required',
    objects('apps/v1', 'Deployment'),
    { name: 'runs for each Deployment', steps: [SYNCHRONIZED] },
  ],
  [
    'objects of a group of Kubernetes',
    objects('networking.k8s.io/v1', 'Ingress'),
    { name: 'runs for each Ingress', steps: [SYNCHRONIZED] },
  ],
  [
    'objects that need a CRD',
    objects('example.com/v1', 'Widget'),
    {
      name: 'runs for each Widget',
      skip: 'put the CRD of Widget into crds/ of the module, or among cluster',
      steps: [SYNCHRONIZED],
    },
  ],
  [
    'an admission webhook',
    { type: 'validating', group: '', version: 'v1', resource: 'pods' },
    { name: 'has nothing to do at the start', steps: [{ start: {}, expect: { runs: 0 } }] },
  ],
])('hookTestText() for %s', (_what, trigger, expected) => {
  const text = hookTestText({ hook: 'hooks/a.sh', greeting: 'a runs', trigger });
  expect(parseYaml(text, { source: 'test', booleans: 'yaml-1.2' }).value).toEqual({
    hook: 'hooks/a.sh',
    cases: [expected],
  });
});

test('hookTestText() names the schema for editors, and says why the cases are skipped', () => {
  const text = hookTestText({
    hook: 'hooks/a.sh',
    greeting: 'a runs',
    trigger: objects('example.com/v1', 'Widget'),
    schema: '../schema.json',
    skip: 'start the server',
  });
  expect(text.split('\n').slice(0, 5)).toEqual([
    '# yaml-language-server: $schema=../schema.json',
    'hook: "hooks/a.sh"',
    'cases:',
    '- name: runs for each Widget',
    '  skip: "start the server"',
  ]);
});
