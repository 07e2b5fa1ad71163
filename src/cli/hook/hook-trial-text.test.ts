import { expect, test } from 'vitest';
import type { TrialRun } from '../../devkit/try-hook.ts';
import { paintFor } from '../output/paint.ts';
import { printedLineText, runText, runTitle } from './hook-trial-text.ts';

const plain = paintFor(false);
const RUN: TrialRun = {
  binding: 'kubernetes',
  contexts: [],
  printed: [],
  values: [],
  configValues: [],
  metrics: [],
  objects: [],
  durationMs: 12,
};

const pod = (metadata: object) => ({ kind: 'Pod', metadata });
test.each<{ title: string; contexts: unknown }>([
  { title: 'beforeHelm', contexts: { binding: 'beforeHelm' } },
  { title: 'schedule hourly', contexts: [{ binding: 'hourly', type: 'Schedule' }] },
  { title: 'group g', contexts: [{ binding: 'pods', type: 'Group', groupName: 'g' }] },
  {
    title: 'Synchronization of pods with 1 object',
    contexts: [{ binding: 'pods', type: 'Synchronization', objects: [{}] }],
  },
  {
    title: 'Synchronization of pods with 7 objects: Pod p0, Pod p1, Pod p2, Pod p3, Pod p4 and 2 more',
    contexts: [
      {
        binding: 'pods',
        type: 'Synchronization',
        objects: Array.from({ length: 7 }, (_, index) => ({ object: pod({ name: `p${index}` }) })),
      },
    ],
  },
  {
    title: 'Synchronization of pods with 0 objects',
    contexts: [{ binding: 'pods', type: 'Synchronization' }],
  },
  {
    title: 'Added event of pods: Pod shop/web, Deleted event of nodes: Node a, Modified event of secrets',
    contexts: [
      {
        binding: 'pods',
        type: 'Event',
        watchEvent: 'Added',
        object: pod({ name: 'web', namespace: 'shop' }),
      },
      {
        binding: 'nodes',
        type: 'Event',
        watchEvent: 'Deleted',
        object: { kind: 'Node', metadata: { name: 'a' } },
      },
      { binding: 'secrets', type: 'Event', watchEvent: 'Modified' },
    ],
  },
  { title: 'schedule hourly', contexts: [1, 2, 3].map(() => ({ binding: 'hourly', type: 'Schedule' })) },
])('runTitle() is "$title"', ({ title, contexts }) => {
  expect(runTitle(contexts)).toBe(title);
});

test.each([
  { stream: 'stdout', level: 'info', text: 'ok', fields: {}, line: '  | ok\n' },
  { stream: 'stdout', level: 'info', text: 'ok', fields: { n: 1 }, line: '  | ok n=1\n' },
  { stream: 'stdout', level: 'error', text: 'no', fields: {}, line: '  ! no\n' },
  { stream: 'stderr', level: 'info', text: 'no', fields: {}, line: '  ! no\n' },
] as const)('printedLineText() of $text on $stream at $level', ({ line, ...printed }) => {
  expect(printedLineText(printed, plain)).toBe(line);
});

const CHANGED: TrialRun = {
  ...RUN,
  values: [{ type: 'added', text: 'n: 1' }],
  configValues: [{ type: 'removed', text: 'n: 1' }],
  metrics: [
    { action: 'add', name: 'runs', value: 1, labels: { hook: 'a' } },
    { action: 'set', name: 'size', value: 2, labels: {} },
    { action: 'expire', group: 'g' },
    { action: 'expire' },
  ],
  objects: [
    {
      change: 'created',
      object: 'v1/ConfigMap shop/a',
      changed: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
      lines: [{ type: 'added', text: 'x' }],
    },
  ],
};

test('runText() says what a run would change, and what it has changed where it is applied', () => {
  expect(runText(CHANGED, plain).split('\n')).toEqual([
    '  values would change',
    '    + n: 1',
    '  config values in the ConfigMap would change',
    '    - n: 1',
    '  metric runs{hook="a"} add 1',
    '  metric size set 2',
    '  metric group g expires',
    '  metric group of the hook expires',
    '  v1/ConfigMap shop/a would be created',
    '    + x',
    '  succeeded in 12 ms',
    '',
  ]);
  const applied = runText(CHANGED, plain, true).split('\n');
  expect([applied[0], applied[2], applied[8]]).toEqual([
    '  values change',
    '  config values in the ConfigMap change',
    '  v1/ConfigMap shop/a was created',
  ]);
});

test('runText() says why a run failed', () => {
  const failure = { message: 'exit code 1', code: 'HOOK_FAILED' as const };
  expect(runText({ ...RUN, failure }, plain)).toBe('  failed after 12 ms: exit code 1\n');
});
