import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { LogFields, Logger } from '@addon-operator/base/log';
import { silentLogger } from '@addon-operator/base/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ModuleName } from '../values/module-key.ts';
import { type FindModulesOptions, type FoundModules, findModules } from './find-modules.ts';
import { NO_MANIFEST } from './module-manifest.ts';

let root = '';
let warnings: { fields: LogFields; message: string }[] = [];

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'find-modules-'));
  warnings = [];
});

afterEach(() => rm(root, { recursive: true }));

const log: Logger = {
  ...silentLogger,
  warn: (fields, message) => {
    warnings.push({ fields, message });
  },
};

/** Makes files from paths and texts; a path that ends with a slash is an empty directory. */
async function make(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const target = join(root, path);
    await mkdir(path.endsWith('/') ? target : dirname(target), { recursive: true });
    if (!path.endsWith('/')) await writeFile(target, text);
  }
}

function find(options: Partial<FindModulesOptions> = {}): Promise<FoundModules> {
  return findModules({ dirs: [join(root, 'modules')], defaultOrder: 1, isStrict: false, log, ...options });
}

const names = ({ modules }: FoundModules): string[] => modules.map(({ name }) => name);

test.each(['module.yaml', 'values.yaml', 'openapi/values.yaml'])(
  'findModules() refuses a module whose %s is a pipe',
  async (file) => {
    await make({ 'modules/web/openapi/': '', 'modules/other/': '' });
    execFileSync('mkfifo', [join(root, 'modules/web', file)]);
    const { modules } = await find({ isolatesInvalid: true });
    const reasons = modules.map(({ name, refusal }) => [name, refusal?.type, refusal?.reason]);
    expect(reasons).toEqual([
      ['other', undefined, undefined],
      ['web', 'invalid', expect.stringContaining(`${file} is not a regular file`)],
    ]);
  },
);

test('findModules() sorts by number, then by name', async () => {
  await make({ 'modules/020-a/': '', 'modules/010-c/': '', 'modules/010-b/': '', 'modules/d/': '' });
  expect(names(await find())).toStrictEqual(['d', 'b', 'c', 'a']);
  expect(names(await find({ defaultOrder: 15 }))).toStrictEqual(['b', 'c', 'd', 'a']);
});

test('findModules() reads what a module directory says', async () => {
  await make({
    'modules/values.yaml': 'myWeb: {a: 1, b: {c: 1}}\nother: {x: 1}',
    'modules/001-my-web/values.yaml': 'myWeb: {b: {d: yes}}\nmyWebEnabled: true\nother: {y: 1}',
    'modules/001-my-web/Chart.yaml': 'name: my-web',
    'modules/001-my-web/enabled': '',
    'modules/002-other/templates/': '',
    'modules/003-hooks-only/hooks/': '',
  });
  await chmod(join(root, 'modules/001-my-web/enabled'), 0o755);
  const { modules, staticValues } = await find();
  const path = join(root, 'modules/001-my-web');
  expect(modules[0]).toStrictEqual({
    name: 'my-web',
    key: 'myWeb',
    order: 1,
    path,
    entries: ['values.yaml', 'Chart.yaml', 'enabled', '../values.yaml'],
    chart: 'chart-yaml',
    enabledScript: join(path, 'enabled'),
    ownFlag: true,
    loadedValues: { text: await readFile(join(path, 'values.yaml'), 'utf8') },
    manifest: NO_MANIFEST,
    version: undefined,
    staticValues: { a: 1, b: { c: 1, d: true } },
  });
  expect(modules.map(({ chart }) => chart)).toStrictEqual(['chart-yaml', 'templates-only', 'none']);
  expect([...staticValues.modules.values()]).toStrictEqual([{ a: 1, b: { c: 1, d: true } }, { x: 1 }, {}]);
  expect(warnings).toStrictEqual([]);
});

test('findModules() merges global sections and flags of several directories, later ones win', async () => {
  await make({
    'modules/values.yaml':
      'global: {a: 1, b: {x: 1}}\nwebEnabled: true\ndbEnabled: "TRUE"\nbad-nameEnabled: true',
    'modules/web/': '',
    'more/values.yaml': 'global: {b: {y: 1}}\nwebEnabled: no\nweb: {never: used}',
    'more/db/': '',
  });
  const found = await find({ dirs: [join(root, 'modules'), join(root, 'more')] });
  expect(found.staticValues.global).toStrictEqual({ a: 1, b: { x: 1, y: 1 } });
  expect([...found.commonFlags]).toStrictEqual([
    ['web', false],
    ['db', true],
  ]);
  expect(found.modules.map(({ name, staticValues }) => [name, staticValues])).toStrictEqual([
    ['db', {}],
    ['web', {}],
  ]);
});

test('findModules() refuses a link that leads out of a module, unless that is allowed', async () => {
  await make({ 'shared/values.yaml': 'web: {a: 1}', 'modules/web/': '' });
  await symlink('../../shared/values.yaml', join(root, 'modules/web/values.yaml'));
  await expect(find()).rejects.toMatchObject({ code: 'MODULE_INVALID' });
  const { modules } = await find({ allowsLinksOutside: true });
  expect(modules.map(({ staticValues }) => staticValues)).toEqual([{ a: 1 }]);
});

test('findModules() takes the first of modules with the same name', async () => {
  await make({ 'modules/001-web/': '', 'more/002-web/': '' });
  const found = await find({ dirs: [join(root, 'modules'), join(root, 'more')] });
  expect(found.modules.map(({ path }) => path)).toStrictEqual([join(root, 'modules/001-web')]);
  expect(warnings).toMatchObject([
    {
      message: 'module is not registered, because it has a duplicate',
      fields: { module: 'web', path: join(root, 'more/002-web') },
    },
  ]);
});

test('findModules() follows symbolic links, and names the module after the link', async () => {
  await make({ 'storage/x/Chart.yaml': '', 'modules/': '', 'storage/file': '' });
  await symlink('../storage/x', join(root, 'modules/002-frontend'));
  await symlink('../storage/gone', join(root, 'modules/003-gone'));
  await symlink('../storage/file', join(root, 'modules/004-file'));
  const { modules } = await find();
  expect(modules).toMatchObject([
    { name: 'frontend', order: 2, path: join(root, 'storage/x'), chart: 'chart-yaml' },
  ]);
  expect(warnings.map(({ message }) => message)).toStrictEqual([
    'Symlink target does not exist. Ignoring module',
    'Symlink target is not a directory. Ignoring module',
  ]);
});

test('findModules() ignores dot names silently and files with a warning', async () => {
  await make({
    'modules/.git/config': '',
    'modules/..data/': '',
    'modules/README.md': '',
    'modules/values.yaml': '',
  });
  expect(names(await find())).toStrictEqual([]);
  expect(warnings.map(({ fields }) => fields['path'])).toStrictEqual([join(root, 'modules/README.md')]);
});

test('findModules() takes a script that is not executable for none, with a warning that names the fix', async () => {
  await make({ 'modules/web/enabled': '#!/bin/sh', 'modules/db/enabled/': '' });
  const { modules } = await find();
  expect(modules.map(({ enabledScript }) => enabledScript)).toStrictEqual([undefined, undefined]);
  expect(warnings.map(({ message }) => message)).toStrictEqual(
    Array(2).fill('Found non-executable enabled script for module - assuming enabled state'),
  );
  // Modules are read at the same time: their warnings come in any order.
  expect(new Set(warnings.map(({ fields }) => fields['fix']))).toStrictEqual(
    new Set(['db', 'web'].map((name) => `chmod +x ${join(root, 'modules', name, 'enabled')}`)),
  );
});

test('findModules() finds nothing where no directory is set', async () => {
  expect(names(await find({ dirs: [] }))).toStrictEqual([]);
  expect(warnings).toHaveLength(1);
});

test.each<{ name: string; files: Record<string, string>; message: string; isStrict?: boolean }>([
  { name: 'a missing directory', files: {}, message: "modules' does not exist" },
  {
    name: 'a file in place of the directory',
    files: { modules: '' },
    message: "modules' is not a directory",
  },
  {
    name: 'a bad name',
    files: { 'modules/001-module-2/': '' },
    message:
      "modules/001-module-2: 'module-2' name should be in kebab-case and be restorable from camelCase: consider renaming to 'module2'",
  },
  {
    name: 'a module called global',
    files: { 'modules/001-global/': '' },
    message: "'global' cannot be the name of a module",
  },
  { name: 'broken YAML', files: { 'modules/values.yaml': 'a: 1\nb: [' }, message: 'modules/values.yaml:2: ' },
  {
    name: 'a list as values',
    files: { 'modules/values.yaml': '- a' },
    message: 'modules/values.yaml: expect map[string]interface{} in module values: the file is a list',
  },
  {
    name: 'a global section that is no map',
    files: { 'modules/values.yaml': 'global: text' },
    message: "section 'global' is a string",
  },
  {
    name: 'a module section that is no map',
    files: { 'modules/web/values.yaml': 'web: [1]' },
    message:
      "modules/web/values.yaml: expect map[string]interface{} in module values: section 'web' is a list",
  },
  {
    name: 'a flag that is a number',
    files: { 'modules/values.yaml': 'webEnabled: 1' },
    message: 'modules/values.yaml: unknown type for Enabled flag: webEnabled: number',
  },
  {
    name: 'a flag that is no boolean word',
    files: { 'modules/web/values.yaml': 'webEnabled: "yes"' },
    message: 'unknown type for Enabled flag: webEnabled: string',
  },
  {
    name: 'a missing common file in strict mode',
    files: { 'modules/web/values.yaml': '' },
    isStrict: true,
    message: 'modules/values.yaml',
  },
  {
    name: 'a missing module file in strict mode',
    files: { 'modules/values.yaml': '', 'modules/web/': '' },
    isStrict: true,
    message: 'strict mode is on',
  },
])('findModules() refuses $name', async ({ files, message, isStrict = false }) => {
  await make(files);
  await expect(find({ isStrict })).rejects.toThrow(message);
});

test('findModules() refuses a file that is no UTF-8 text', async () => {
  await make({ 'modules/web/': '' });
  await writeFile(join(root, 'modules/web/values.yaml'), Buffer.from([0x61, 0x3a, 0xff]));
  await expect(find()).rejects.toThrow('cannot read');
});

test('findModules() skips a byte order mark at the start of each file', async () => {
  const mark = '\u{FEFF}';
  await make({
    'modules/values.yaml': `${mark}web: {a: 1}\nwebEnabled: true`,
    'modules/web/values.yaml': `${mark}web: {b: 2}`,
    'modules/web/Chart.yaml': `${mark}name: web\nversion: 1.2.3`,
    'modules/web/module.yaml': `${mark}deletionPolicy: orphan`,
    'modules/web/openapi/values.yaml': `${mark}type: object\nproperties: {a: {type: string}}`,
  });
  const { modules, staticValues } = await find();
  expect(modules).toMatchObject([{ version: '1.2.3', manifest: { deletionPolicy: 'orphan' } }]);
  expect([...staticValues.modules.values()]).toStrictEqual([{ a: 1, b: 2 }]);
  const values = staticValues.schemas?.get('web' as ModuleName)?.values;
  expect(values?.problems('web', { a: 1 })).toHaveLength(1);
});

test.each([
  ['a chart and 53 characters', 53, { 'Chart.yaml': 'name: x\nversion: 1.0.0\n' }, undefined],
  ['templates and 54 characters', 54, { 'templates/': '' }, 'invalid'],
  ['a chart and 54 characters', 54, { 'Chart.yaml': 'name: x\nversion: 1.0.0\n' }, 'invalid'],
  ['hooks only and 54 characters', 54, { 'hooks/': '' }, undefined],
])('findModules() refuses names that are too long for a release: %s', async (_what, length, files, type) => {
  const name = 'a'.repeat(length);
  const paths = Object.entries(files).map(([path, text]) => [`modules/${name}/${path}`, text]);
  await make({ ...Object.fromEntries(paths), 'modules/web/templates/': '' });
  const { modules } = await find();
  expect(modules.map(({ refusal }) => refusal?.type)).toEqual([type, undefined]);
  if (type === undefined) return;
  const reason = `the name ${name} has 54 characters, but a helm release may have 53`;
  expect(modules[0]?.refusal).toEqual({ type, reason, remedy: 'rename the directory of the module' });
});

test('findModules() warns about further documents in a file', async () => {
  await make({ 'modules/values.yaml': 'webEnabled: true\n---\nwebEnabled: false', 'modules/web/': '' });
  expect([...(await find()).commonFlags]).toStrictEqual([['web', true]]);
  expect(warnings.map(({ message }) => message)).toStrictEqual([
    'only the first YAML document of the file is used',
  ]);
});

test('findModules() reads schemas of modules and of the global section, and refuses a bad one by name', async () => {
  await make({
    'modules/web/openapi/config-values.yaml': 'type: object\nproperties: {a: {type: integer, default: 1}}',
    'modules/web/openapi/values.yaml': '# later',
    'modules/db/values.yaml': '',
    'global-hooks/openapi/values.yaml': 'type: object',
  });
  const { staticValues } = await find({ globalHooksDir: join(root, 'global-hooks') });
  const [web, global] = [staticValues.schemas?.get('web' as ModuleName), staticValues.schemas?.get('global')];
  expect(web?.config?.withDefaults({})).toStrictEqual({ a: 1 });
  expect(web?.values).toBeUndefined();
  expect(global?.values?.problems('global', { b: 1 })).toEqual(['global.b in body is a forbidden property']);
  await make({ 'modules/db/openapi/values.yaml': 'type: objekt' });
  await expect(find()).rejects.toThrow(
    `load 'values' schema: ${join(root, 'modules/db/openapi/values.yaml')}: schema/type must be`,
  );
});

test('findModules() reads nothing of a module that the gate refuses, and others where the gate says', async () => {
  await make({
    'modules/values.yaml': 'evil: {a: 1}\nevilEnabled: true\n',
    'modules/010-evil/values.yaml': '{ no yaml',
    'modules/010-evil/module.yaml': '{ no yaml',
    'modules/010-evil/openapi/values.yaml': '{ no yaml',
    'modules/010-evil/Chart.yaml': '',
    'modules/020-web/values.yaml': 'web: {swapped: true}\n',
    'copies/020-web/values.yaml': 'web: {checked: true}\n',
  });
  const asked: string[] = [];
  const { modules, staticValues, commonFlags } = await find({
    gate: {
      admit: async (name, source) => {
        asked.push(`${name} ${relative(root, source)}`);
        return name === 'evil'
          ? { type: 'refused', reason: 'not signed' }
          : { type: 'admitted', path: join(root, 'copies/020-web') };
      },
    },
  });
  expect(asked).toEqual(['evil modules/010-evil', 'web modules/020-web']);
  expect(modules).toMatchObject([
    {
      name: 'evil',
      refusal: { type: 'unauthorized', reason: 'not signed' },
      chart: 'none',
      staticValues: { a: 1 },
    },
    { name: 'web', path: join(root, 'copies/020-web'), source: join(root, 'modules/020-web') },
  ]);
  expect(staticValues.modules.get('web' as ModuleName)).toEqual({ checked: true });
  expect([...commonFlags]).toEqual([['evil', true]]);
});

test('findModules() fails for a cycle of requirements, or refuses its modules alone', async () => {
  await make({
    'modules/a/module.yaml': 'requires: [{name: b}]',
    'modules/b/module.yaml': 'requires: [{name: a}]',
    'modules/c/values.yaml': '',
  });
  const reason = 'modules require each other in a cycle: a -> b -> a';
  await expect(find()).rejects.toThrow(`${reason}; remove one of these entries from requires in module.yaml`);
  const { modules } = await find({ isolatesInvalid: true });
  const refusal = expect.objectContaining({ type: 'cycle', reason });
  expect(modules).toMatchObject([{ name: 'c' }, { name: 'a', refusal }, { name: 'b', refusal }]);
});
