import { expect, test } from 'vitest';
import { parseDirectoryName, parseModuleName } from './module-name.ts';

test.each([
  ['001-nginx', 'nginx', 1],
  ['20-l2-load-balancer', 'l2-load-balancer', 20],
  ['404-page', 'page', 404],
  ['2147483647-a', 'a', 2_147_483_647],
])('parseDirectoryName() reads %s as module %s with order %i', (directory, name, order) => {
  expect(parseDirectoryName(directory)).toStrictEqual({ name, order });
});

test.each(['nginx', '2147483648-nginx'])('parseDirectoryName() finds no order in %s', (directory) => {
  expect(parseDirectoryName(directory)).toStrictEqual({ name: 'nginx', order: undefined });
});

test('parseDirectoryName() proposes the name that could be restored', () => {
  expect(() => parseDirectoryName('001-module-2')).toThrow(
    "'module-2' name should be in kebab-case and be restorable from camelCase: consider renaming to 'module2'",
  );
});

test.each(['lost+found_', 'my_module', 'MyModule', 'a--b', '-', '001-'])(
  'parseDirectoryName() refuses %s',
  (directory) => {
    expect(() => parseDirectoryName(directory)).toThrow('name should be in kebab-case');
  },
);

test.each([
  '001-a\nb',
  'a\0b',
  '001-a;b',
  '001-$(id)',
  'a/b',
  '001-\u0430dmin',
  'a\uff0db',
  'caf\u00e9',
  'a'.repeat(254),
])('parseDirectoryName() refuses %j, which programs could read as more than a name', (directory) => {
  expect(() => parseDirectoryName(directory)).toThrow('cannot be the name of a module: use small letters');
});

test.each(['..', '001-..', '--post-renderer', '-a', 'a.', 'a b'])(
  'parseDirectoryName() refuses %j as kebab-case',
  (directory) => {
    expect(() => parseDirectoryName(directory)).toThrow('name should be in kebab-case');
  },
);

test.each(['web', 'cert-manager-v2', 'a'.repeat(253)])('parseDirectoryName() accepts %j', (directory) => {
  expect(parseDirectoryName(directory).name).toBe(directory);
});

test('parseModuleName() refuses the name under which everybody finds the shared values', () => {
  expect(() => parseModuleName('global')).toThrow("'global' cannot be the name of a module");
});
