import { expect, test } from 'vitest';
import { NO_MANIFEST, parseModuleManifest } from './module-manifest.ts';

test('parseManifest() reads requirements, version, deletion policy and what is done about changes by others', () => {
  const content = {
    version: '1.2.3',
    operator: '>=1.2',
    deletionPolicy: 'orphan',
    drift: { mode: 'warn' },
    conflicts: 'fail',
    requires: [
      { name: 'cert-manager', version: '>=1.2 <3' },
      { name: 'dns', optional: true },
    ],
  };
  expect(parseModuleManifest(content, 'web', 'module.yaml')).toEqual({
    version: '1.2.3',
    operator: '>=1.2',
    deletionPolicy: 'orphan',
    drift: { mode: 'warn', ignore: [] },
    conflicts: 'fail',
    waitsUntilReady: false,
    batchHooks: [],
    requires: [
      { name: 'cert-manager', version: '>=1.2 <3', isOptional: false },
      { name: 'dns', version: undefined, isOptional: true },
    ],
    about: {},
    remarks: [],
  });
});

test.each(['10m', '1h30m', '0 3 * * *', '0 0 3 * * *', '@daily', 'TZ=Europe/Rome 0 3 * * *'])(
  'parseManifest() reads reconcileEvery %s',
  (reconcileEvery) => {
    expect(parseModuleManifest({ reconcileEvery }, 'web', 'm').reconcileEvery).toBe(reconcileEvery);
  },
);

test('parseManifest() reads whether a module waits until its objects are ready', () => {
  expect(parseModuleManifest({ waitUntilReady: true }, 'web', 'm').waitsUntilReady).toBe(true);
  expect(parseModuleManifest({ waitUntilReady: false }, 'web', 'm').waitsUntilReady).toBe(false);
});

test('parseManifest() takes an empty file for no manifest', () => {
  expect(parseModuleManifest(null, 'web', 'module.yaml')).toEqual(NO_MANIFEST);
  expect(parseModuleManifest({}, 'web', 'module.yaml')).toEqual(NO_MANIFEST);
});

test.each([
  [[], 'm: expected a map, got a list'],
  [{ drift: { mode: 'mend' } }, 'm: drift.mode: expected one of off, warn, heal, got "mend"'],
  [{ waitUntilReady: 'yes' }, 'm: waitUntilReady: expected true or false, got a string'],
  [{ conflicts: 'stop' }, 'm: conflicts: expected one of overwrite, fail, got "stop"'],
  [{ reconcileEvery: '10 minutes' }, 'm: reconcileEvery: expected a duration of at least 1s such as 10m'],
  [{ reconcileEvery: '10ms' }, 'or a crontab such as "0 3 * * *" or "@daily", got "10ms"'],
  [{ reconcileEvery: 600 }, 'm: reconcileEvery: expected a duration of at least 1s'],
  [{ hook: { version: 2 } }, 'm: hook.version: expected v1'],
  [{ version: 1.2 }, 'm: version: expected a semantic version in quotes, such as "1.2.3", got a number'],
  [{ version: 'one' }, 'm: version: expected a semantic version in quotes, such as "1.2.3", got "one"'],
  [{ operator: 'new' }, 'm: operator: expected a range of versions, such as ">=1.2", got "new"'],
  [{ operator: 1 }, 'm: operator: expected a range of versions, such as ">=1.2", got 1'],
  [{ deletionPolicy: 'keep' }, 'm: deletionPolicy: expected one of delete, orphan, protect, got "keep"'],
  [{ requires: 'dns' }, 'm: requires: expected a list, got a string'],
  [{ requires: ['dns'] }, 'm: requires[0]: expected a map with the key name, got a string'],
  [{ requires: [{}] }, 'm: requires[0].name: expected the name of a module, got nothing'],
  [
    { requires: [{ name: 'a', version: 'x y z' }] },
    'm: requires[0].version: expected a range of versions, such as ">=1.2", got "x y z"',
  ],
  [{ requires: [{ name: 'a', optional: 1 }] }, 'm: requires[0].optional: expected true or false'],
  [
    { requires: [{ name: 'a', when: 1 }] },
    'm: requires[0].when: unknown key, expected one of name, version, optional',
  ],
  [{ requires: [{ name: 'a' }, { name: 'a' }] }, 'm: requires: "a" is listed more than once'],
])('parseManifest() refuses %j with its path', (content, message) => {
  expect(() => parseModuleManifest(content, 'web', 'm')).toThrow(message);
});

test('parseManifest() reports all problems at once', () => {
  expect(() => parseModuleManifest({ version: 1, drift: 2 }, 'web', 'm')).toThrow(
    /m: version: .*\nm: drift: /,
  );
});

test('parseManifest() ignores unknown keys with a remark that names the key that was probably meant', () => {
  const { remarks, requires } = parseModuleManifest(
    { require: [], colour: 'red', version: '1.2.3' },
    'web',
    'm',
  );
  expect(remarks).toEqual([
    'require: unknown key, it is ignored (did you mean "requires"?)',
    'colour: unknown key, it is ignored',
  ]);
  expect(requires).toEqual([]);
});

test('parseManifest() takes requirements of both keys, and those of requires count more', () => {
  const { requires } = parseModuleManifest(
    { requires: [{ name: 'db', version: '>=2' }], requirements: { modules: { db: '>=1', dns: '' } } },
    'web',
    'm',
  );
  expect(requires).toEqual([
    { name: 'db', version: '>=2', isOptional: false },
    { name: 'dns', version: undefined, isOptional: false },
  ]);
});
