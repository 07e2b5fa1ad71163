import { describe, expect, test } from 'vitest';
import { type ModulePlan, NOTHING, type Plan, type PlannedAction } from '../../plan/plan.ts';
import { paintFor } from '../output/paint.ts';
import { diffLine, planText } from './plan-text.ts';

const plain = paintFor(false);
const planOf = (action: PlannedAction, more: Partial<ModulePlan> = {}): ModulePlan => ({
  ...NOTHING,
  module: 'web',
  action,
  isEnabled: true,
  reason: '',
  ...more,
});
const textOf = (plan: Partial<Plan>): string =>
  planText({ globalHooks: [], modules: [], problems: [], ...plan }, plain);
const SUMMARY = 'Modules: 0 to install, 0 to upgrade, 0 to delete, 0 without a change';

describe('planText()', () => {
  test.each<[PlannedAction, string, string]>([
    ['install', '+ web: install', 'Modules: 1 to install, 0 to upgrade, 0 to delete, 0 without a change.'],
    ['upgrade', '~ web: upgrade', 'Modules: 0 to install, 1 to upgrade, 0 to delete, 0 without a change.'],
    ['none', '= web: no change', 'Modules: 0 to install, 0 to upgrade, 0 to delete, 1 without a change.'],
    ['apply-crds', '~ web: only its CRDs change', `${SUMMARY}, 1 with changed CRDs only.`],
    ['delete', '- web: delete', 'Modules: 0 to install, 0 to upgrade, 1 to delete, 0 without a change.'],
    ['orphan', '- web: keep the release', `${SUMMARY}, 1 to keep without their module.`],
    ['purge', '- web: purge', 'Modules: 0 to install, 0 to upgrade, 1 to delete, 0 without a change.'],
    [
      'hold',
      '  web: stays until its purge is confirmed',
      'Modules: 0 to install, 0 to upgrade, 0 to delete, 1 without a change.',
    ],
    ['stay-off', '  web: stays off', 'Modules: 0 to install, 0 to upgrade, 0 to delete, 1 without a change.'],
    [
      'wait',
      '  web: waits for the end of its pause',
      'Modules: 0 to install, 0 to upgrade, 0 to delete, 1 without a change.',
    ],
    ['refuse', '  web: is not run', 'Modules: 0 to install, 0 to upgrade, 0 to delete, 1 without a change.'],
  ])('of a module to %s', (action, title, summary) => {
    expect(textOf({ modules: [planOf(action)] })).toBe(`${title}\n\n${summary}\n`);
  });

  test('shows all that is known of a module', () => {
    const lines = [
      { type: 'same', text: 'a: 1' },
      { type: 'removed', text: 'b: 1' },
      { type: 'added', text: 'b: 2' },
    ] as const;
    const module = planOf('upgrade', {
      reason: 'enabled by values.yaml',
      hooks: [{ hook: 'hooks/a.sh', when: ['beforeHelm 10', 'schedule 0 * * * *'] }],
      crds: [{ change: 'change', object: 'widgets.example.com', lines: [] }],
      causes: ['its values changed', 'the last upgrade failed'],
      changes: [{ change: 'change', object: 'v1/ConfigMap shop/web', lines }],
      mayDifferBy: ['hooks/a.sh'],
      asksHttpHook: true,
    });
    expect(
      textOf({ modules: [module] })
        .split('\n')
        .slice(0, -2),
    ).toEqual([
      '~ web: upgrade  (enabled by values.yaml)',
      '  hooks: hooks/a.sh (beforeHelm 10, schedule 0 * * * *)',
      '  because its values changed, and the last upgrade failed',
      '  CRD widgets.example.com would be updated',
      'the following may differ: hooks/a.sh may change values before helm runs',
      'the reconcile webhook of the module decides the following; a plan does not call it',
      '  v1/ConfigMap shop/web is changed',
      '      a: 1',
      '    - b: 1',
      '    + b: 2',
      '',
    ]);
  });

  test('says what cannot be determined, and does not count it', () => {
    const text = textOf({
      globalHooks: [{ hook: 'all.sh', when: ['beforeAll 1'] }],
      modules: [planOf('install', { error: 'no schema\nin line 2' })],
      problems: ['cannot list releases'],
    });
    expect(text).toBe(
      `! cannot list releases
Global hooks: all.sh (beforeAll 1)
+ web: cannot be determined
  ! no schema
  ! in line 2

${SUMMARY}, 1 that cannot be determined.
`,
    );
  });
});

test.each([
  [{ type: 'same', text: 'a' } as const, '      a'],
  [{ type: 'removed', text: 'a' } as const, '\u001b[31m    - a\u001b[0m'],
  [{ type: 'added', text: 'a' } as const, '\u001b[32m    + a\u001b[0m'],
  [{ type: 'gap', lines: 1 } as const, '\u001b[2m      … 1 equal line\u001b[0m'],
  [{ type: 'gap', lines: 2 } as const, '\u001b[2m      … 2 equal lines\u001b[0m'],
])('diffLine() of %j', (line, text) => {
  expect(diffLine(line, paintFor(true))).toBe(text);
});
