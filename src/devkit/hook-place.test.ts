import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeTree } from '../../test/support/world-files.ts';
import { findHookFile, placeOf } from './hook-place.ts';

const root = mkdtempSync(join(tmpdir(), 'place-'));
const globalHooksDir = join(root, 'global-hooks');

beforeAll(async () => {
  await writeTree(root, {
    'modules/030-web/hooks/dns/records.sh': '#!/bin/sh\n',
    'modules/plain/values.yaml': '',
    'modules/plain/hooks/a.sh': '#!/bin/sh\n',
    'modules/plain/hooks/notes.md': '',
    'modules/plain/hooks/no-mode': 'echo\n',
    'modules/plain/hooks/script.ts': 'export default 1;\n',
    'modules/plain/hooks/lib/shared.sh': '#!/bin/sh\n',
    'modules/1-Bad_Name/hooks/a.sh': '#!/bin/sh\n',
    'global-hooks/hooks/g.sh': '#!/bin/sh\n',
    'elsewhere/hooks/x.sh': '#!/bin/sh\n',
  });
});
afterAll(() => rmSync(root, { recursive: true }));

test.each([
  [
    'modules/030-web/hooks/dns/records.sh',
    { type: 'module', module: 'web', modulesDir: 'modules' },
    'hooks/dns/records.sh',
  ],
  ['modules/plain/hooks/a.sh', { type: 'module', module: 'plain', modulesDir: 'modules' }, 'hooks/a.sh'],
  ['global-hooks/hooks/g.sh', { type: 'global', globalHooksDir: 'global-hooks' }, 'hooks/g.sh'],
  ['elsewhere/hooks/x.sh', { type: 'global', globalHooksDir: 'elsewhere/hooks' }, 'x.sh'],
])('%s has its place', async (path, expected, name) => {
  const place = placeOf(join(root, path), globalHooksDir);
  const relative = Object.fromEntries(
    Object.entries(place).map(([key, value]) => [key, String(value).replace(`${root}/`, '')]),
  );
  expect(relative).toMatchObject(expected);
  expect(await findHookFile(join(root, path), place, [])).toMatchObject({ name, transport: 'executable' });
});

test.each([
  ['modules/plain/hooks/none.sh', 'there is no such file'],
  ['modules/plain/hooks/notes.md', /it is a data file or not executable/],
  ['modules/plain/hooks/no-mode', /'chmod \+x .*no-mode' makes it executable/],
  ['modules/plain/hooks/script.ts', /it does not import defineHook/],
  ['modules/plain/hooks/lib/shared.sh', "the operator ignores 'lib' in a hooks directory"],
])('%s is no hook, with the reason', async (path, message) => {
  const file = join(root, path);
  await expect(findHookFile(file, placeOf(file, globalHooksDir), [])).rejects.toThrow(message);
});

test('a module with a name that cannot be one is refused', () => {
  expect(() => placeOf(join(root, 'modules/1-Bad_Name/hooks/a.sh'), globalHooksDir)).toThrow(/kebab-case/);
});
