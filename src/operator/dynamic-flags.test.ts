import { expect, test } from 'vitest';
import { splitGlobalPatch } from '../values/enabled-patches.ts';
import { DynamicFlags } from './dynamic-flags.ts';

test('apply() tells whether any flag is different now', () => {
  const flags = new DynamicFlags();
  const { flags: on } = splitGlobalPatch([{ op: 'add', path: '/webEnabled', value: true }]);
  const { flags: off } = splitGlobalPatch([{ op: 'add', path: '/webEnabled', value: 'false' }]);
  const { flags: forget } = splitGlobalPatch([{ op: 'remove', path: '/webEnabled' }]);
  expect([on, on, off, forget, forget, []].map((patches) => flags.apply(patches, 'switch.sh'))).toEqual([
    true,
    false,
    true,
    true,
    false,
    false,
  ]);
  flags.apply(on, 'other.sh');
  expect([...flags.all]).toEqual([['web', true]]);
  expect([...flags.hooks]).toEqual([['web', 'other.sh']]);
});
