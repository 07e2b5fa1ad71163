import { expect, test } from 'vitest';
import { splitGlobalPatch } from '../values/enabled-patches.ts';
import { DynamicFlags } from './dynamic-flags.ts';

const add = (key: string, value: boolean | string) =>
  splitGlobalPatch([{ op: 'add', path: `/${key}Enabled`, value }]).flags;

test('apply() returns whether flags enable other modules now', () => {
  const flags = new DynamicFlags((all) => [...all].flatMap(([key, isEnabled]) => (isEnabled ? [key] : [])));
  const [on, off] = [add('web', true), add('web', 'false')];
  const { flags: forget } = splitGlobalPatch([{ op: 'remove', path: '/webEnabled' }]);
  const changes = [on, on, off, forget, forget, []].map((patches) => flags.apply(patches, 'switch.sh'));
  expect(changes).toEqual([true, false, true, false, false, false]);
  flags.apply(on, 'other.sh');
  expect([...flags.all]).toEqual([['web', true]]);
  expect([...flags.hooks]).toEqual([['web', 'other.sh']]);
});

test('apply() keeps a flag that another source overrides, but it is no change', () => {
  const flags = new DynamicFlags(() => ['web']);
  expect(flags.apply(add('web', false), 'switch.sh')).toBe(false);
  expect([...flags.all]).toEqual([['web', false]]);
});
