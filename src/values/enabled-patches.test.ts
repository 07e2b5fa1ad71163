import { expect, test } from 'vitest';
import { applyFlagPatches, splitGlobalPatch } from './enabled-patches.ts';
import { keyOfName } from './module-key.ts';
import { parseValuesPatch } from './values-patch.ts';

const web = keyOfName('web');
const split = (text: string): ReturnType<typeof splitGlobalPatch> =>
  splitGlobalPatch(parseValuesPatch(text, 'values', 'global'));

test('splitGlobalPatch() parts operations on values from those on flags', () => {
  const text =
    '[{"op":"add","path":"/global/q","value":1},{"op":"add","path":"/webEnabled","value":true},' +
    '{"op":"add","path":"/myAppEnabled","value":"false"},{"op":"remove","path":"/dbEnabled"}]';
  expect(split(text)).toStrictEqual({
    values: [{ op: 'add', path: '/global/q', value: 1 }],
    flags: [
      { key: 'web', isEnabled: true },
      { key: 'myApp', isEnabled: false },
      { key: 'db', isEnabled: undefined },
    ],
    ignored: [],
  });
});

test.each([
  '{"op":"test","path":"/webEnabled","value":true}',
  '{"op":"add","path":"/some-keyEnabled","value":true}',
  '{"op":"add","path":"/Enabled","value":true}',
])('splitGlobalPatch() puts %s aside', (text) => {
  expect(split(text)).toMatchObject({ values: [], flags: [], ignored: [{}] });
});

test.each(['"yes"', '1', 'null', '"True"', '{}'])('splitGlobalPatch() refuses the flag value %s', (value) => {
  expect(() => split(`{"op":"add","path":"/webEnabled","value":${value}}`)).toThrow(
    "apply enabled patch operation 'add' for /webEnabled: unsupported module enabled value",
  );
});

test('splitGlobalPatch() refuses paths into a flag', () => {
  expect(() => split('{"op":"add","path":"/webEnabled/x","value":true}')).toThrow('a flag is not a map');
});

test('applyFlagPatches() sets, overwrites and forgets flags', () => {
  const first = applyFlagPatches(new Map(), [{ key: web, isEnabled: true }]);
  expect([...first]).toStrictEqual([['web', true]]);
  const second = applyFlagPatches(first, [{ key: web, isEnabled: false }]);
  expect([...second]).toStrictEqual([['web', false]]);
  expect([...applyFlagPatches(second, [{ key: web, isEnabled: undefined }])]).toStrictEqual([]);
});

test('applyFlagPatches() gives back the same map when nothing changes', () => {
  const flags = new Map([[web, true]]);
  expect(
    applyFlagPatches(flags, [
      { key: web, isEnabled: true },
      { key: keyOfName('db'), isEnabled: undefined },
    ]),
  ).toBe(flags);
});
