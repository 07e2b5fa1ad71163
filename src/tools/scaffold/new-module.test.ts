import { parseYaml } from '@addon-operator/yaml';
import { expect, test } from 'vitest';
import { type NewModuleOptions, newModule } from './new-module.ts';

const OPTIONS: NewModuleOptions = {
  name: 'web-shop',
  key: 'webShop',
  modulesDir: '/project/modules',
  order: 30,
  parts: [],
};
const filesOf = (options: Partial<NewModuleOptions>): Readonly<Record<string, string>> =>
  Object.fromEntries(newModule({ ...OPTIONS, ...options }).map(({ path, text }) => [path, text]));

test.each<{ parts: readonly string[]; paths: readonly string[] }>([
  { parts: [], paths: ['values.yaml'] },
  { parts: ['schema'], paths: ['values.yaml', 'openapi/config-values.yaml'] },
  { parts: ['chart'], paths: ['values.yaml', 'Chart.yaml', '.helmignore', 'templates/config-map.yaml'] },
  { parts: ['crd'], paths: ['values.yaml', 'crds/web-shop.yaml'] },
  { parts: ['hook'], paths: ['values.yaml', 'hooks/web-shop.sh', 'tests/web-shop.hook-test.yaml'] },
])('newModule() with $parts', ({ parts, paths }) => {
  expect(Object.keys(filesOf({ parts }))).toEqual(
    paths.map((path) => `/project/modules/030-web-shop/${path}`),
  );
});

test('newModule() has the value that its template reads, in values.yaml or in the schema', () => {
  const yaml = (text = ''): unknown => parseYaml(text, { source: 'test', booleans: 'yaml-1.2' }).value;
  const plain = filesOf({ parts: ['chart'] });
  const directory = '/project/modules/030-web-shop';
  expect(yaml(plain[`${directory}/values.yaml`])).toEqual({
    webShopEnabled: true,
    webShop: { greeting: 'hello' },
  });
  expect(plain[`${directory}/templates/config-map.yaml`]).toContain('{{ .Values.webShop.greeting | quote }}');
  const withSchema = filesOf({ parts: ['chart', 'schema'] });
  expect(yaml(withSchema[`${directory}/values.yaml`])).toEqual({ webShopEnabled: true });
  expect(yaml(withSchema[`${directory}/openapi/config-values.yaml`])).toMatchObject({
    properties: { greeting: { default: 'hello' } },
  });
});

test('newModule() names the kind of its CRD after the module', () => {
  const text = filesOf({ parts: ['crd'] })['/project/modules/030-web-shop/crds/web-shop.yaml'] ?? '';
  expect(parseYaml(text, { source: 'test', booleans: 'yaml-1.2' }).value).toMatchObject({
    metadata: { name: 'webshops.example.com' },
    spec: { names: { kind: 'WebShop', listKind: 'WebShopList', plural: 'webshops', singular: 'webshop' } },
  });
});

test.each([
  { order: 0, directory: '000-web-shop' },
  { order: 7, directory: '007-web-shop' },
  { order: 999, directory: '999-web-shop' },
])('newModule() of order $order', ({ order, directory }) => {
  expect(Object.keys(filesOf({ order }))).toEqual([`/project/modules/${directory}/values.yaml`]);
});

test.each<{ what: string; options: Partial<NewModuleOptions>; message: string }>([
  { what: 'a part that does not exist', options: { parts: ['chrat'] }, message: '(did you mean "chart"?)' },
  {
    what: 'a number that is too large',
    options: { order: 1000 },
    message: '--order must be a number from 0 to 999',
  },
  { what: 'a negative number', options: { order: -1 }, message: '--order must be' },
  { what: 'no whole number', options: { order: 1.5 }, message: '--order must be' },
])('newModule() refuses $what', ({ options, message }) => {
  expect(() => filesOf(options)).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) }),
  );
});
