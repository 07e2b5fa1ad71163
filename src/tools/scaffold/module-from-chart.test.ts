import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseYaml } from '@addon-operator/yaml';
import { expect, onTestFinished, test } from 'vitest';
import { writeModuleFromChart } from './module-from-chart.ts';

function chartWith(files: Readonly<Record<string, string>>): { directory: string; chart: string } {
  const root = mkdtempSync(join(tmpdir(), 'from-chart-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, 'chart', path)), { recursive: true });
    writeFileSync(join(root, 'chart', path), text);
  }
  return { directory: join(root, '030-shop'), chart: join(root, 'chart') };
}

const CHART = {
  'Chart.yaml': 'apiVersion: v2\nname: my-app\nversion: 1.2.3\n',
  'templates/a.yaml': 'a: 1\n',
};
const SHOP = { name: 'shop', key: 'shop' };

test('a chart becomes a dependency under the key of the module, and its CRDs those of the module', () => {
  const paths = chartWith({ ...CHART, 'crds/a.yaml': 'kind: CustomResourceDefinition\n' });
  expect(writeModuleFromChart({ ...SHOP, ...paths })).toEqual({ chart: 'my-app', version: '1.2.3' });
  const read = (file: string) => readFileSync(join(paths.directory, file), 'utf8');
  const yaml = (file: string): unknown => parseYaml(read(file), { source: file, booleans: 'yaml-1.2' }).value;
  expect(yaml('Chart.yaml')).toMatchObject({
    name: 'shop',
    dependencies: [{ name: 'my-app', version: '1.2.3', alias: 'shop' }],
  });
  expect(yaml('values.yaml')).toEqual({ shopEnabled: true, shop: {} });
  expect(read('charts/my-app/templates/a.yaml')).toBe('a: 1\n');
  expect(readdirSync(join(paths.directory, 'crds'))).toEqual(['a.yaml']);
});

test('a chart with nameOverride names its objects after a module with a hyphen', () => {
  const paths = chartWith({ ...CHART, 'values.yaml': 'nameOverride: ""\nreplicas: 1\n' });
  writeModuleFromChart({ name: 'shop-front', key: 'shopFront', ...paths });
  expect(readFileSync(join(paths.directory, 'values.yaml'), 'utf8')).toContain(
    'shopFront:\n  nameOverride: shop-front\n',
  );
});

test.each<{ what: string; files: Readonly<Record<string, string>>; module: object; message: string }>([
  { what: 'no chart', files: { a: '' }, module: {}, message: 'is not a chart: it has no Chart.yaml' },
  { what: 'no version', files: { 'Chart.yaml': 'name: a\n' }, module: {}, message: 'no name or no version' },
  {
    what: 'a key that cannot name objects',
    files: CHART,
    module: { name: 'shop-front', key: 'shopFront' },
    message: 'choose a name without "-", such as shopfront',
  },
  {
    what: 'dependencies that are not there',
    files: { 'Chart.yaml': `${CHART['Chart.yaml']}dependencies:\n- name: db\n  version: 1.0.0\n` },
    module: {},
    message: 'lacks its dependencies db',
  },
])('a module is not made of $what', ({ files, module, message }) => {
  const paths = chartWith(files);
  expect(() => writeModuleFromChart({ ...SHOP, ...module, ...paths })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) }),
  );
});
