import { expect, test } from 'vitest';
import {
  type ConfigDifference,
  configDifference,
  isEmptyDifference,
  parseConfigMapData,
  parseSection,
  unknownModuleKeys,
} from './config-map-content.ts';
import { keyOfName } from './module-key.ts';

test('parseConfigMapData() reads sections, flags and maintenance', () => {
  const content = parseConfigMapData({
    global: 'a: yes',
    myWeb: 'b: yes',
    myWebEnabled: 'true',
    dbEnabled: 'false',
    dbMaintenance: 'NoResourceReconciliation',
    cacheMaintenance: '',
  });
  expect(content.global).toStrictEqual({ a: true });
  expect([...content.sections]).toStrictEqual([['myWeb', { b: 'yes' }]]);
  expect([...content.flags]).toStrictEqual([
    ['myWeb', true],
    ['db', false],
  ]);
  expect([...content.maintenance]).toStrictEqual(['db']);
});

test('parseConfigMapData() skips a byte order mark at the start of a section', () => {
  const content = parseConfigMapData({ global: '\u{FEFF}a: 1', web: '\u{FEFF}b: 2' });
  expect(content.global).toStrictEqual({ a: 1 });
  expect([...content.sections]).toStrictEqual([['web', { b: 2 }]]);
});

test('parseConfigMapData() reads nothing as nothing', () => {
  const content = parseConfigMapData({});
  expect(content.global).toBeUndefined();
  expect(content.sections.size + content.flags.size + content.maintenance.size).toBe(0);
});

test('parseConfigMapData() takes an empty global section for an empty map', () => {
  expect(parseConfigMapData({ global: '' }).global).toStrictEqual({});
});

test('parseConfigMapData() keeps nulls', () => {
  expect(parseConfigMapData({ web: 'l: [null]\nm: {b: null}' }).sections.get(keyOfName('web'))).toStrictEqual(
    {
      l: [null],
      m: { b: null },
    },
  );
});

test.each([
  ['kubeDNS', 'a: 1', "bad module name 'kubeDNS': should be camelCased"],
  ['MalformedName', '{}', "bad module name 'MalformedName': should be camelCased"],
  ['some-key', '{}', "bad module name 'some-key': should be camelCased"],
  ['some-keyEnabled', 'true', "bad module name 'some-key': should be camelCased"],
  ['Enabled', 'true', "bad module name '': should be camelCased"],
  ['__proto__', '{}', "bad module name '__proto__': should be camelCased"],
  ['webEnabled', 'True', "module enabled key 'webEnabled' should have a boolean value, got 'True'"],
  ['webEnabled', 'yes', "got 'yes'"],
  ['webEnabled', '1', "got '1'"],
  ['webEnabled', '', "got ''"],
  ['webMaintenance', 'yes', "module maintenanceState key 'webMaintenance' can only take"],
  ['web', '', "bad yaml at key 'web': load 'web' values: ConfigMap key 'web': expected a map, got nothing"],
  ['web', 'false', 'expected a map, got a boolean'],
  ['web', '[1]', 'expected a map, got a list'],
  ['web', 'a: 1\na: 2', "ConfigMap key 'web':2: at a: the key is given twice"],
  [
    'web',
    'a:\n\tb: 1',
    "ConfigMap key 'web':2: tab characters must not be used in indentation: write spaces",
  ],
  ['global', 'a: [', "ConfigMap: bad yaml at key 'global'"],
  ['global', '[]', 'expected a map, got a list'],
])('parseConfigMapData() refuses %s: %j', (key, text, message) => {
  const data = Object.fromEntries([
    [key, text],
    ['other', '{}'],
  ]);
  expect(() => parseConfigMapData(data)).toThrow(message);
});

test('parseConfigMapData() lists every problem', () => {
  expect(() => parseConfigMapData({ kubeDNS: '{}', webEnabled: 'on', db: '1' })).toThrow(
    /kubeDNS[^]*webEnabled[^]*expected a map, got a number/,
  );
});

test('parseSection() gives the same error code as the whole ConfigMap', () => {
  expect(() => parseSection(keyOfName('web'), '- 1')).toThrow(
    expect.objectContaining({ code: 'CONFIG_MAP_INVALID' }),
  );
});

test('unknownModuleKeys() finds keys of any kind that belong to no module', () => {
  const content = parseConfigMapData({
    web: '{}',
    ghost: '{}',
    goneEnabled: 'true',
    oldMaintenance: '',
    newMaintenance: 'noresourcereconciliation',
  });
  expect(unknownModuleKeys(content, new Set([keyOfName('web')]))).toStrictEqual(['ghost', 'gone', 'new']);
});

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
