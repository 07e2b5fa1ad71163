import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { MODULE_CRD } from '../../src/status/module-crd.ts';
import { OPERATIONS } from '../../src/status/module-object.ts';
import { projectRoot } from './checkout.ts';

function read(file: string): unknown {
  return load(readFileSync(join(projectRoot, 'examples/k9s', file), 'utf8'));
}

test('the view of modules in k9s has columns that Module objects have', () => {
  const { group, names, versions } = MODULE_CRD.spec;
  const known = versions[0].additionalPrinterColumns.map(({ name }) => name.toUpperCase());
  const { views } = read('views.yaml') as {
    readonly views: Readonly<Record<string, { readonly columns: readonly string[] }>>;
  };
  expect(Object.keys(views)).toEqual([`${group}/${versions[0].name}/${names.plural}`]);
  for (const { columns } of Object.values(views))
    expect(columns.filter((column) => column !== 'NAME' && !known.includes(column))).toEqual([]);
});

test('the keys of k9s request each operation once', () => {
  const { plugins } = read('plugins.yaml') as {
    readonly plugins: Readonly<
      Record<string, { readonly shortCut: string; readonly args: readonly string[] }>
    >;
  };
  const all = Object.values(plugins);
  const operations = all.flatMap(({ args }) =>
    args.flatMap((argument) => /^addon-operator\.io\/operation=(.*)$/.exec(argument)?.[1] ?? []),
  );
  expect(operations.toSorted()).toEqual([...OPERATIONS].toSorted());
  expect(new Set(all.map(({ shortCut }) => shortCut)).size).toBe(all.length);
});
