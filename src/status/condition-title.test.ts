import { expect, test } from 'vitest';
import { WHY_IDS } from './cause.ts';
import { conditionTitle } from './condition-title.ts';

const clock = (at: string): string => at.slice(11, 16);

test.each([
  ['not-paused', false, 'Paused', '2026-11-23T14:00:00Z', 'Paused until 14:00'],
  ['not-paused', false, 'Paused', null, 'Paused'],
  ['before-helm', false, 'RunFailed', null, 'beforeHelm hooks failed'],
  ['before-helm', false, 'HookHangs', null, 'A hook hangs'],
  ['before-helm', null, null, null, 'beforeHelm hooks'],
  ['enabled', false, 'QueueBlocked', null, 'Queue blocked'],
  ['enabled', false, null, null, 'Disabled'],
  ['helm', true, null, null, 'Chart deployed'],
  ['KubeConfig', false, null, null, 'KubeConfig'],
] as const)('condition %s that is %s for %s is called %s %s', (id, ok, reason, until, title) => {
  expect(conditionTitle({ id, ok, reason, until }, clock)).toBe(title);
});

test('no title of a condition has to be negated by the reader', () => {
  for (const id of WHY_IDS) {
    const open = conditionTitle({ id, ok: null, reason: null, until: null }, clock);
    const holds = conditionTitle({ id, ok: true, reason: null, until: null }, clock);
    expect([id, open, holds].join()).not.toMatch(/\bnot (?!paused)/i);
  }
});
