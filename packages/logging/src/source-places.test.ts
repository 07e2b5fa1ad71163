import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { rolldown } from 'rolldown';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sourcePlaces } from './source-places.ts';

const SOURCE = `interface Unused {
  readonly field: string;
}

export function failing(): string {
  throw new Error('it failed');
}
`;
let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'source-places-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The stack of an error that is thrown in bundled code. */
async function stackOfBundle(): Promise<string> {
  const source = join(root, 'failing.ts');
  writeFileSync(source, SOURCE);
  const build = await rolldown({ input: source, platform: 'node' });
  await build.write({ dir: join(root, 'dist'), sourcemap: true });
  await build.close();
  // Not in this process, whose traces the test runner translates.
  const program = `import(${JSON.stringify(pathToFileURL(join(root, 'dist/failing.js')).href)})
    .then(({ failing }) => failing()).catch(({ stack }) => process.stdout.write(stack))`;
  return (await execa(process.execPath, ['-e', program])).stdout;
}

test('a stack of built code names files and lines of the sources', async () => {
  const stack = await stackOfBundle();
  expect(stack).toContain(`at failing (${pathToFileURL(join(root, 'dist/failing.js')).href}:`);
  expect(sourcePlaces(stack, `${root}/dist/`)).toContain(`at failing (${join(root, 'failing.ts')}:6:`);
});

test.each([
  ['there is no map', () => rmSync(join(root, 'dist/failing.js.map'))],
  ['the map is damaged', () => writeFileSync(join(root, 'dist/failing.js.map'), '{"version":3,"mapp')],
  ['the map is of something else', () => writeFileSync(join(root, 'dist/failing.js.map'), '[]')],
])('a stack stays as it is where %s', async (_reason, spoil) => {
  const stack = await stackOfBundle();
  spoil();
  expect(sourcePlaces(stack, `${root}/dist/`)).toBe(stack);
});

test('a stack stays as it is in files of others, and where nothing was built', async () => {
  const stack = await stackOfBundle();
  expect(sourcePlaces(stack, `${root}/elsewhere/`)).toBe(stack);
  expect(sourcePlaces(stack, undefined)).toBe(stack);
});
