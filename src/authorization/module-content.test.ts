import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rejection } from '../../test/support/rejection.ts';
import { readContent } from './module-content.ts';

const never = new AbortController().signal;
let root = '';
let module = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'module-content-'));
  module = join(root, '010-web');
  mkdirSync(join(module, 'hooks'), { recursive: true });
  writeFileSync(join(module, 'Chart.yaml'), 'name: web\n');
  writeFileSync(join(module, 'hooks', 'a.sh'), '#!/bin/sh\n');
  chmodSync(join(module, 'hooks', 'a.sh'), 0o755);
});

afterEach(() => rmSync(root, { recursive: true }));

function reasonOf(limits?: { readonly entries: number; readonly bytes: number }): Promise<string> {
  const copyTo = mkdtempSync(join(root, 'copy-'));
  return rejection(readContent(module, { copyTo, ...(limits !== undefined && { limits }) }, never));
}

test('readContent() lists files and links by path, with digests, sizes and what is executable', async () => {
  symlinkSync('../Chart.yaml', join(module, 'hooks', 'chart'));
  mkdirSync(join(module, 'empty'));
  writeFileSync(join(module, 'module.manifest'), 'no content');
  writeFileSync(join(module, 'module.manifest.sig'), 'no content');
  expect(await readContent(module, {}, never)).toEqual([
    {
      path: 'Chart.yaml',
      sha256: '8d9f4d9cc27b15d3c5801a3dc232b84226036cacd4025e4a7b615ce78e7ec44b',
      size: 10,
    },
    {
      path: 'hooks/a.sh',
      sha256: 'a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf',
      size: 10,
      executable: true,
    },
    { path: 'hooks/chart', link: '../Chart.yaml' },
  ]);
});

test('readContent() copies what it reads, for us alone and without the signature', async () => {
  symlinkSync('a.sh', join(module, 'hooks', 'b.sh'));
  writeFileSync(join(module, 'module.manifest'), '');
  mkdirSync(join(module, 'empty'));
  const copyTo = mkdtempSync(join(root, 'copy-'));
  const content = await readContent(module, { copyTo }, never);
  expect(await readContent(copyTo, {}, never)).toEqual(content);
  expect(readdirSync(copyTo).toSorted()).toEqual(['Chart.yaml', 'hooks']);
  const modes = ['hooks', 'hooks/a.sh', 'Chart.yaml'].map(
    (path) => statSync(join(copyTo, path)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o500, 0o400]);
});

test('readContent() copies an empty directory that a link leads to, as lib64 of a virtual environment does', async () => {
  mkdirSync(join(module, 'venv', 'lib'), { recursive: true });
  mkdirSync(join(module, 'venv', 'include'));
  symlinkSync('lib/', join(module, 'venv', 'lib64'));
  const copyTo = mkdtempSync(join(root, 'copy-'));
  const content = await readContent(module, { copyTo }, never);
  expect(await readContent(copyTo, {}, never)).toEqual(content);
  expect(readdirSync(join(copyTo, 'venv')).toSorted()).toEqual(['lib', 'lib64']);
});

test('readContent() copies files that are larger than its buffer', async () => {
  const bytes = Buffer.alloc(700_000, 'abc');
  writeFileSync(join(module, 'large'), bytes);
  const copyTo = mkdtempSync(join(root, 'copy-'));
  await readContent(module, { copyTo }, never);
  expect(readFileSync(join(copyTo, 'large')).equals(bytes)).toBe(true);
});

test.each([
  ['/etc/passwd', 'is a link to /etc/passwd, outside of the module'],
  ['../020-db/Chart.yaml', 'outside of the module'],
  ['missing', 'has no target in the module'],
  ['link', 'cannot be followed'],
])('readContent() refuses a link to %s', async (target, reason) => {
  mkdirSync(join(root, '020-db'));
  writeFileSync(join(root, '020-db', 'Chart.yaml'), '');
  symlinkSync(target, join(module, 'link'));
  expect(await reasonOf()).toContain(reason);
});

test('readContent() refuses a link that leads out only by way of another link', async () => {
  mkdirSync(join(module, 'p', 'q'), { recursive: true });
  symlinkSync('../..', join(module, 'p', 'q', 'up'));
  symlinkSync('up/../secret', join(module, 'p', 'q', 'out'));
  // Where the copy lies there is such a file, too.
  writeFileSync(join(root, 'secret'), '');
  expect(await reasonOf()).toBe(
    'p/q/out is a link to a target outside of the module: copy the target into the module',
  );
});

test('readContent() copies nothing to where a link led that was replaced by a directory while it was read', async () => {
  const copyTo = mkdtempSync(join(root, 'copy-'));
  symlinkSync('hooks', join(module, 'link'));
  /** A file system may list a name again that is removed and created while its directory is listed. */
  async function* list(directory: string) {
    if (directory === join(module, 'hooks')) {
      rmSync(join(module, 'link'));
      mkdirSync(join(module, 'link'));
      writeFileSync(join(module, 'link', 'b.sh'), '#!/bin/sh\n');
    }
    const names = readdirSync(directory);
    const isRoot = directory === module;
    for (const name of isRoot ? ['link', 'hooks', 'link'] : names) yield { name };
  }
  const read = readContent(module, { copyTo, list: async (directory) => list(directory) }, never);
  expect(await rejection(read)).toBe('link was replaced while it was read');
  expect(readdirSync(copyTo)).toEqual([]);
});

test('readContent() refuses special files without waiting for them', async () => {
  execFileSync('mkfifo', [join(module, 'hooks', 'pipe')]);
  expect(await reasonOf()).toBe('hooks/pipe is not a file, link or directory: remove it');
});

test('readContent() refuses names that are no UTF-8', async () => {
  writeFileSync(Buffer.concat([Buffer.from(`${module}/`), Buffer.from([0xff])]), '');
  expect(await reasonOf()).toContain('is not UTF-8');
});

test('readContent() refuses more files or bytes than the limits allow, however large they are', async () => {
  expect(await reasonOf({ entries: 2, bytes: 1_000 })).toContain('more than 2 files and directories');
  mkdirSync(join(module, 'empty', 'empty'), { recursive: true });
  expect(await reasonOf({ entries: 4, bytes: 1_000 })).toContain('more than 4 files and directories');
  expect(await readContent(module, { limits: { entries: 5, bytes: 1_000 } }, never)).toHaveLength(2);
  writeFileSync(join(module, 'huge'), '');
  truncateSync(join(module, 'huge'), 1e12);
  expect(await reasonOf()).toContain('more than 268435456 bytes');
});

test('readContent() refuses a directory that does not exist', async () => {
  rmSync(module, { recursive: true });
  await expect(readContent(module, {}, never)).rejects.toMatchObject({
    code: 'MODULE_UNAUTHORIZED',
    isPermanent: true,
    message: expect.stringContaining('ENOENT'),
  });
});

test('readContent() ends when the signal aborts', async () => {
  const abort = new AbortController();
  abort.abort(new Error('stop'));
  await expect(readContent(module, {}, abort.signal)).rejects.toThrow('stop');
});

test('readContent() takes a file that is called as the manifest for content, below the module', async () => {
  writeFileSync(join(module, 'hooks', 'module.manifest'), '');
  const content = await readContent(module, {}, never);
  expect(content.map(({ path }) => path)).toContain('hooks/module.manifest');
});

test('readContent() refuses files that exceed the limit only together', async () => {
  expect(await reasonOf({ entries: 10, bytes: 19 })).toContain('more than 19 bytes');
  expect(await readContent(module, { limits: { entries: 10, bytes: 20 } }, never)).toHaveLength(2);
});

test('readContent() reads a large file, such as a hook binary, in pieces', async () => {
  const binary = join(module, 'hooks', 'batch');
  writeFileSync(binary, '');
  truncateSync(binary, 200 * 1024 * 1024);
  const script = `import { readContent } from ${JSON.stringify(join(import.meta.dirname, 'module-content.ts'))};
    const before = process.resourceUsage().maxRSS;
    const found = await readContent(${JSON.stringify(module)}, {}, new AbortController().signal);
    console.log(JSON.stringify([found.length, process.resourceUsage().maxRSS - before]));`;
  const { stdout } = await execa(process.execPath, ['--no-warnings', '--input-type=module', '-e', script]);
  const [files, addedKib] = JSON.parse(stdout) as readonly [number, number];
  expect(files).toBe(3);
  expect(addedKib).toBeLessThan(100 * 1024);
});
