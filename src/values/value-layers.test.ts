import { expect, test } from 'vitest';
import { parseConfigMapData } from './config-map-content.ts';
import type { ModuleName } from './module-key.ts';
import { layeredValues } from './value-layers.ts';
import { ValuesStore } from './values-store.ts';

const web = 'web' as ModuleName;

function storeWith(files: Parameters<ValuesStore['setStatic']>[0], config: string): ValuesStore {
  const store = new ValuesStore(files);
  store.setConfig(parseConfigMapData({ web: config }));
  return store;
}

test('each value names its layer, and what weaker layers have in its place', () => {
  const files = { size: 's', image: { tag: '1', name: 'nginx' }, ports: [80], 'a/b~c': true };
  const store = storeWith(
    { global: {}, modules: new Map([[web, files]]) },
    'image: {tag: "2"}\nsize: l\nextra: {}\nnone: null',
  );
  store.applyPatch(web, [{ op: 'add', path: '/web/size', value: 'xl' }], 'resize.sh');
  store.applyPatch(web, [{ op: 'add', path: '/web/hosts', value: { a: 'b' } }], 'hosts.sh');
  store.applyPatch(web, [{ op: 'add', path: '/web/ports/-', value: 443 }], 'ports.sh');
  const own = { layer: 'files', hook: '', below: [] };
  expect(layeredValues(store, web).toSorted((a, b) => (a.pointer < b.pointer ? -1 : 1))).toEqual([
    { ...own, pointer: '/a~1b~0c', value: true },
    { ...own, layer: 'config-map', pointer: '/extra', value: {} },
    { ...own, layer: 'hook', hook: 'hosts.sh', pointer: '/hosts/a', value: 'b' },
    { ...own, pointer: '/image/name', value: 'nginx' },
    {
      ...own,
      layer: 'config-map',
      pointer: '/image/tag',
      value: '2',
      below: [{ layer: 'files', value: '1' }],
    },
    { ...own, layer: 'config-map', pointer: '/none', value: null },
    {
      ...own,
      layer: 'hook',
      hook: 'ports.sh',
      pointer: '/ports',
      value: [80, 443],
      below: [{ layer: 'files', value: [80] }],
    },
    {
      ...own,
      layer: 'hook',
      hook: 'resize.sh',
      pointer: '/size',
      value: 'xl',
      below: [
        { layer: 'config-map', value: 'l' },
        { layer: 'files', value: 's' },
      ],
    },
  ]);
  expect(layeredValues(store, 'global')).toEqual([]);
});

test('a value that no layer has comes from a default of the schema', async () => {
  const schemas = {
    values: { withDefaults: (values: object) => ({ mode: 'fast', ...values }), problems: () => [] },
  };
  const store = storeWith(
    { global: {}, modules: new Map([[web, {}]]), schemas: new Map([[web, schemas as never]]) },
    'size: l',
  );
  expect(layeredValues(store, web)).toEqual([
    { pointer: '/mode', value: 'fast', layer: 'default', hook: '', below: [] },
    { pointer: '/size', value: 'l', layer: 'config-map', hook: '', below: [] },
  ]);
});
