import { expect, test } from 'vitest';
import { asModuleKey, asModuleName, keyOfName, nameOfKey } from './module-key.ts';

test.each([
  ['simple-module', 'simpleModule'],
  ['module2', 'module2'],
  ['x509', 'x509'],
  ['k8s', 'k8s'],
  ['l2-load-balancer', 'l2LoadBalancer'],
  ['ipv6-stack', 'ipv6Stack'],
  ['s3-gw', 's3Gw'],
  ['a1-b2', 'a1B2'],
  ['404-page', '404Page'],
  ['a-b', 'aB'],
  ['a-bc', 'aBc'],
])('the name %s and the key %s give each other', (name, key) => {
  expect(keyOfName(name)).toBe(key);
  expect(nameOfKey(key)).toBe(name);
  expect(asModuleName(name)).toBe(name);
  expect(asModuleKey(key)).toBe(key);
});

test.each([
  ['module-2', 'module2'],
  ['vm-2-metrics', 'vm2-metrics'],
  ['some-2nd', 'some2nd'],
  ['a-1b', 'a1b'],
  ['x-y-z', 'x-yz'],
  ['my_module', 'my-module'],
  ['MyModule', 'my-module'],
  ['openVPN', 'open-vpn'],
  ['io.foo', 'io-foo'],
  ['a--b', 'a-b'],
  ['-a', 'a'],
  ['a-', 'a'],
  ['__proto__', 'proto'],
])('%s is no module name, its key gives back %s', (text, restored) => {
  expect(asModuleName(text)).toBeUndefined();
  expect(nameOfKey(keyOfName(text))).toBe(restored);
});

test.each(['', '-', 'global'])('%j is no module name', (text) => {
  expect(asModuleName(text)).toBeUndefined();
});

test.each(['', 'kubeDNS', 'MalformedName', 'some-key', 'some_key', '__proto__'])(
  '%j is no module key',
  (text) => {
    expect(asModuleKey(text)).toBeUndefined();
  },
);

test('an upper-case run ends before the last letter when a lower-case one follows', () => {
  expect(nameOfKey('FOOBar')).toBe('foo-bar');
});

test('a dot between digits separates nothing', () => {
  expect(nameOfKey('v1.2')).toBe('v1.2');
});
