import { expect, test } from 'vitest';
import { parseConfigMapData } from './config-map-content.ts';
import { type ConfigDifference, configDifference, isEmptyDifference } from './config-map-diff.ts';

type Data = Readonly<Record<string, string>>;

test.each<{
  name: string;
  before: Data;
  after: Data;
  difference: Partial<Record<keyof ConfigDifference, unknown>>;
}>([
  {
    name: 'a new global section',
    before: {},
    after: { global: '{}' },
    difference: { isGlobalChanged: true },
  },
  {
    name: 'a changed global section',
    before: { global: 'a: 1' },
    after: { global: 'a: 2' },
    difference: { isGlobalChanged: true },
  },
  {
    name: 'a removed global section',
    before: { global: 'a: 1' },
    after: {},
    difference: { isGlobalChanged: true },
  },
  {
    name: 'sections added, changed and removed',
    before: { web: 'a: 1', db: 'a: 1' },
    after: { web: 'a: 2', app: '{}' },
    difference: { sections: ['app', 'db', 'web'] },
  },
  {
    name: 'a flag that is toggled beside its section',
    before: { web: '{}', webEnabled: 'true' },
    after: { web: '{}', webEnabled: 'false' },
    difference: { flags: ['web'] },
  },
  {
    name: 'a flag added and one removed',
    before: { dbEnabled: 'false' },
    after: { webEnabled: 'false' },
    difference: { flags: ['db', 'web'] },
  },
  {
    name: 'maintenance',
    before: {},
    after: { webMaintenance: 'NoResourceReconciliation' },
    difference: { maintenance: ['web'] },
  },
])('configDifference() sees $name', ({ before, after, difference }) => {
  const found = configDifference(parseConfigMapData(before), parseConfigMapData(after));
  expect(found).toStrictEqual({
    isGlobalChanged: false,
    sections: [],
    flags: [],
    maintenance: [],
    ...difference,
  });
  expect(isEmptyDifference(found)).toBe(false);
});

test('configDifference() does not see comments, spelling and the order of keys', () => {
  const before = parseConfigMapData({ global: 'a: 1\nb: 2', web: 'x: {y: "z"}', webEnabled: 'true' });
  const after = parseConfigMapData({ webEnabled: 'true', web: '# c\nx:\n  y: z\n', global: 'b: 0x2\na: 1' });
  expect(isEmptyDifference(configDifference(before, after))).toBe(true);
});
