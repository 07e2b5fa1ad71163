import { canonicalJson } from '@addon-operator/json';
import { expect, test } from 'vitest';
import { parseConfigMapData } from './config-map-content.ts';
import type { ModuleName } from './module-key.ts';
import { ValuesStore } from './values-store.ts';
import { visibleToGlobalHook, visibleToHelm, visibleToModule } from './visible-values.ts';

const web = 'my-web' as ModuleName;
const other = 'other' as ModuleName;

function storeWith(data: Readonly<Record<string, string>>): ValuesStore {
  const modules = new Map([
    [web, { size: 's' }],
    [other, { secret: 1 }],
  ]);
  const store = new ValuesStore({ global: { a: 1 }, modules });
  store.setConfig(parseConfigMapData(data));
  return store;
}

test('a module sees global values with the enabled modules, and its own section', () => {
  const { values, configValues } = visibleToModule(storeWith({ global: 'a: 2', myWeb: 'x: 1' }), web, [
    other,
  ]);
  expect(canonicalJson(values)).toBe(
    '{"global":{"a":2,"enabledModules":["other"]},"myWeb":{"size":"s","x":1}}',
  );
  expect(canonicalJson(configValues)).toBe('{"global":{"a":2},"myWeb":{"x":1}}');
});

test('sections that the ConfigMap does not have are null in the config values', () => {
  const store = storeWith({});
  expect(canonicalJson(visibleToModule(store, web, []).configValues)).toBe('{"global":null,"myWeb":null}');
  expect(canonicalJson(visibleToGlobalHook(store).configValues)).toBe('{"global":null}');
});

test('a global hook sees the global section alone', () => {
  const { values, configValues } = visibleToGlobalHook(storeWith({ global: 'b: 2', myWeb: 'x: 1' }));
  expect(canonicalJson(values)).toBe('{"global":{"a":1,"b":2}}');
  expect(canonicalJson(configValues)).toBe('{"global":{"b":2}}');
});

test('helm gets no list of enabled modules', () => {
  expect(canonicalJson(visibleToHelm(storeWith({}), web))).toBe('{"global":{"a":1},"myWeb":{"size":"s"}}');
});
