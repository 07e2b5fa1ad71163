import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { paxHeader, type RawEntry, rawTar, rawTgz } from '../../test/support/tar-builder.ts';
import { contentDigest } from '../authorization/content-manifest.ts';
import { readContent } from '../authorization/module-content.ts';
import { readArchive, unpackArchive } from './unpack-archive.ts';
import { unpackLayers } from './unpack-layers.ts';

const SIGNAL = new AbortController().signal;
const MODULE: readonly RawEntry[] = [
  { name: 'module.yaml', content: 'version: "1.4.2"\n' },
  { name: 'hooks/a.sh', content: '#!/bin/sh\n', mode: 0o755 },
];

let world: string;
let directory: string;

beforeEach(async () => {
  world = await mkdtemp(join(tmpdir(), 'artifacts-'));
  directory = join(world, 'unpacked');
  await mkdir(directory);
});

async function archive(bytes: Buffer, name = 'web-1.4.2.tgz'): Promise<string> {
  const file = join(world, name);
  await writeFile(file, bytes);
  return file;
}

async function digestOf(path: string, name = 'web'): Promise<string> {
  return contentDigest({ name, files: await readContent(path, {}, SIGNAL) });
}

test('an archive is unpacked with its modes and links, and its facts are those of the directory', async () => {
  const file = await archive(
    rawTgz([...MODULE, { name: 'hooks/b.sh', type: '2', linkName: 'a.sh' }, { name: 'empty/' }]),
  );
  const facts = await unpackArchive(file, directory, SIGNAL);
  expect(facts).toEqual({ module: 'web', version: '1.4.2', digest: await digestOf(directory) });
  expect(await readArchive(file, SIGNAL)).toEqual(facts);
  expect((await stat(join(directory, 'hooks/a.sh'))).mode & 0o777).toBe(0o755 & ~process.umask());
  expect(await readlink(join(directory, 'hooks/b.sh'))).toBe('a.sh');
  expect(await readFile(join(directory, 'module.yaml'), 'utf8')).toBe('version: "1.4.2"\n');
});

test('a package of helm loses its top directory, and Chart.yaml names the version', async () => {
  const file = await archive(
    rawTgz([
      { name: 'web/Chart.yaml', content: 'name: web\nversion: 1.0.0+build.1\n' },
      { name: 'web/templates/a.yaml' },
    ]),
    'renamed.tgz',
  );
  expect(await unpackArchive(file, directory, SIGNAL)).toMatchObject({
    module: 'web',
    version: '1.0.0+build.1',
  });
  expect((await readdir(directory)).toSorted()).toEqual(['Chart.yaml', 'templates']);
});

test('hooks/ alone at the top is a module, and its name and version are those of the file', async () => {
  const file = await archive(rawTgz([{ name: 'hooks/a.sh', mode: 0o700 }]), 'web-shop-2.0.0-rc.1.tgz');
  expect(await unpackArchive(file, directory, SIGNAL)).toMatchObject({
    module: 'web-shop',
    version: '2.0.0-rc.1',
  });
  expect(await readdir(directory)).toEqual(['hooks']);
});

test.each([
  ['ustar', 'ustar'],
  ['GNU', 'gnu'],
  ['PAX', 'pax'],
])('archives of GNU tar in the format %s are read as tar reads them', async (_title, format) => {
  const source = join(world, 'source');
  const deep = `templates/${'directory-with-a-long-name/'.repeat(format === 'ustar' ? 3 : 8)}`;
  await mkdir(join(source, deep), { recursive: true });
  await writeFile(join(source, 'Chart.yaml'), 'name: web\nversion: 1.0.0\n');
  await writeFile(join(source, deep, 'größe-✓.yaml'), 'x'.repeat(70_000));
  await writeFile(join(source, deep, 'run.sh'), '#!/bin/sh\n');
  await chmod(join(source, deep, 'run.sh'), 0o755);
  await symlink('run.sh', join(source, deep, 'link'));
  execFileSync('tar', [`--format=${format}`, '-czf', join(world, 'web-1.0.0.tgz'), '-C', source, '.']);
  const { digest } = await unpackArchive(join(world, 'web-1.0.0.tgz'), directory, SIGNAL);
  expect(digest).toBe(await digestOf(source));
  expect(await digestOf(directory)).toBe(digest);
});

const MANY = Array.from({ length: 20_001 }, (_, index): RawEntry => ({ name: `files/${index}` }));
const DEEP = Array.from({ length: 203 }, (_, index) => [
  paxHeader({ path: `${index}/${'d/'.repeat(98)}f` }),
  { name: 'f' },
]).flat();
const LONG = `${'long/'.repeat(60)}file`;

test.each<[string, readonly RawEntry[], RegExp]>([
  ['a name with ..', [...MODULE, { name: '../x' }], /"\.\.\/x" leads out of the module/],
  ['.. in the middle', [...MODULE, { name: 'a/../../x' }], /leads out/],
  ['an absolute name', [...MODULE, { name: '/etc/passwd' }], /is absolute/],
  ['an empty part', [...MODULE, { name: 'a//b' }], /has an empty part/],
  ['a line feed in a name', [...MODULE, { name: 'a\nb' }], /has control characters/],
  [
    'a link to an absolute path',
    [...MODULE, { name: 'l', type: '2', linkName: '/etc/passwd' }],
    /outside of the module/,
  ],
  ['a link out', [...MODULE, { name: 'hooks/l', type: '2', linkName: '../../x' }], /outside of the module/],
  [
    'a link out by way of another',
    [
      ...MODULE,
      { name: 'a/b/l', type: '2', linkName: '../../hooks' },
      { name: 'm', type: '2', linkName: 'a/b/l/../../x' },
    ],
    /m is a link to a\/b\/l\/\.\.\/\.\.\/x, outside/,
  ],
  ['a link to nothing', [...MODULE, { name: 'l', type: '2', linkName: 'nothing' }], /is not in it/],
  ['a link to itself', [...MODULE, { name: 'l', type: '2', linkName: 'l' }], /in a circle/],
  [
    'a file below a link',
    [...MODULE, { name: 'l', type: '2', linkName: '/etc' }, { name: 'l/x' }],
    /outside of the module/,
  ],
  [
    'a file below a link inside',
    [...MODULE, { name: 'l', type: '2', linkName: 'hooks' }, { name: 'l/x' }],
    /l\/x is below l, which is a symlink/,
  ],
  ['a hard link out', [...MODULE, { name: 'l', type: '1', linkName: '../x' }], /leads out/],
  ['an absolute hard link', [...MODULE, { name: 'l', type: '1', linkName: '/etc/shadow' }], /is absolute/],
  [
    'a hard link to what follows',
    [{ name: 'l', type: '1', linkName: 'x' }, { name: 'x' }],
    /not a file before it/,
  ],
  [
    'a hard link through a link',
    [...MODULE, { name: 'l', type: '2', linkName: 'hooks' }, { name: 'm', type: '1', linkName: 'l/a.sh' }],
    /not a file before it/,
  ],
  ['a character device', [...MODULE, { name: 'dev', type: '3' }], /"dev" is a character device/],
  ['a block device', [...MODULE, { name: 'dev', type: '4' }], /a block device/],
  ['a pipe', [...MODULE, { name: 'pipe', type: '6' }], /a named pipe/],
  ['a sparse file', [...MODULE, { name: 'sparse', type: 'S' }], /a sparse file/],
  [
    'a sparse file of PAX',
    [...MODULE, paxHeader({ 'GNU.sparse.major': '1' }), { name: 's' }],
    /sparse files are not accepted/,
  ],
  ['an unknown type', [...MODULE, { name: 'v', type: 'V' }], /of the unknown type "V"/],
  ['a name of PAX with ..', [...MODULE, paxHeader({ path: '../x' }), { name: 'harmless' }], /leads out/],
  [
    'a name of PAX with a NUL',
    [...MODULE, paxHeader({ path: 'a\0b' }), { name: 'harmless' }],
    /has control characters/,
  ],
  [
    'a link target of PAX',
    [...MODULE, paxHeader({ linkpath: '/etc' }), { name: 'l', type: '2', linkName: 'hooks' }],
    /outside/,
  ],
  [
    'a long name of GNU with ..',
    [...MODULE, { name: 'L', type: 'L', content: `${'../'.repeat(50)}x\0` }, { name: 'x' }],
    /leads out/,
  ],
  ['a global header with a name', [paxHeader({ path: 'x' }, 'g'), ...MODULE], /a global header sets names/],
  [
    'two long names for an entry',
    [...MODULE, paxHeader({ path: 'a' }), paxHeader({ path: 'b' }), { name: 'x' }],
    /two long names/,
  ],
  [
    'a damaged PAX header',
    [...MODULE, { name: 'P', type: 'x', content: '99 path=x\n' }, { name: 'x' }],
    /PAX header P is damaged/,
  ],
  [
    'a PAX header of a megabyte',
    [...MODULE, paxHeader({ comment: 'x'.repeat(1_000_000) }), { name: 'x' }],
    /more than 65536 bytes/,
  ],
  [
    'names that differ in case',
    [...MODULE, { name: 'hooks/A.sh' }],
    /hooks\/a\.sh and hooks\/A\.sh differ only in case/,
  ],
  ['directories that differ in case', [...MODULE, { name: 'Hooks/b.sh' }], /differ only in case/],
  [
    'names that differ in composition',
    [...MODULE, { name: '\u00FC' }, { name: 'u\u0308' }],
    /differ only in case/,
  ],
  ['a file twice', [...MODULE, { name: 'hooks/a.sh' }], /hooks\/a\.sh is contained twice/],
  ['a file in place of a directory', [...MODULE, { name: 'hooks', type: '0' }], /hooks is contained twice/],
  ['a directory in place of a file', [...MODULE, { name: 'module.yaml/' }], /contained twice/],
  [
    'a name with too many directories',
    [...MODULE, paxHeader({ path: `${'d/'.repeat(100)}f` }), { name: 'f' }],
    /has more than 100 parts/,
  ],
  [
    'a file that is too large',
    [...MODULE, { name: 'huge', sizeBytes: 2 ** 30, content: '' }],
    /more than 268435456 bytes/,
  ],
  [
    'a size beyond all numbers',
    [...MODULE, paxHeader({ size: '9'.repeat(30) }), { name: 'x' }],
    /a size is not a number/,
  ],
  ['a directory with content', [...MODULE, { name: 'd/', content: 'x' }], /is no file, but has content/],
])('%s is refused, and nothing is left in the directory', async (_title, entries, message) => {
  const file = await archive(rawTgz(entries), 'web.tgz');
  const layer = { isCompressed: true, chunks: createReadStream(file) };
  for (const attempt of [
    () => unpackLayers([layer], { title: 'web', directory }, SIGNAL),
    () => readArchive(file, SIGNAL),
  ])
    await expect(attempt()).rejects.toMatchObject({
      code: 'ARTIFACT_INVALID',
      message: expect.stringMatching(message),
    });
  expect(await readdir(directory)).toEqual([]);
  expect((await readdir(world)).toSorted()).toEqual(['unpacked', 'web.tgz']);
});

test.each([
  ['20,001 files', MANY],
  ['20,001 directories in few names', DEEP],
])('%s are refused', async (_title, entries) => {
  const file = await archive(rawTgz(entries));
  await expect(readArchive(file, SIGNAL)).rejects.toMatchObject({
    code: 'ARTIFACT_INVALID',
    message: expect.stringMatching(/more than 20000 files and directories/),
  });
});

test('long names of GNU and of PAX are understood', async () => {
  const file = await archive(
    rawTgz([
      ...MODULE,
      { name: 'L', type: 'L', content: `${LONG}\0` },
      { name: 'cut' },
      paxHeader({ path: `${LONG}2`, mtime: '1.5' }),
      { name: 'cut' },
    ]),
  );
  await unpackArchive(file, directory, SIGNAL);
  expect(await readdir(join(directory, 'long/'.repeat(60)))).toEqual(['file', 'file2']);
});

const NOT_UTF8 = (() => {
  const tar = rawTar([...MODULE, { name: 'x' }]);
  const at = tar.length - 1_024 - 512;
  tar[at] = 0xff;
  // The checksum covers the name.
  tar.write(
    `${(Number.parseInt(tar.toString('latin1', at + 148, at + 155), 8) + 0xff - 0x78).toString(8).padStart(7, '0')}\0`,
    at + 148,
    'latin1',
  );
  return tar;
})();

test.each<[string, Buffer, RegExp]>([
  ['no gzip', Buffer.from('hello'), /cannot be read: incorrect header check/],
  ['nothing', Buffer.alloc(0), /cannot be read: (?:unexpected end|it is cut short)/],
  ['a cut gzip', rawTgz(MODULE).subarray(0, 100), /cannot be read: unexpected end of file/],
  ['a cut archive', gzipSync(rawTar(MODULE).subarray(0, 1_600)), /it is cut short/],
  ['no end mark', gzipSync(rawTar(MODULE).subarray(0, -1_024)), /it is cut short/],
  [
    'half of an end mark',
    gzipSync(Buffer.concat([rawTar(MODULE).subarray(0, -512), rawTar(MODULE)])),
    /end mark is incomplete/,
  ],
  [
    'a second archive behind the end',
    gzipSync(Buffer.concat([rawTar(MODULE), rawTar(MODULE)])),
    /data behind its end mark/,
  ],
  [
    'data behind the gzip',
    Buffer.concat([rawTgz(MODULE), Buffer.alloc(200_000), Buffer.from('x')]),
    /data behind the end of the archive|header check/,
  ],
  [
    'a wrong checksum',
    gzipSync(Buffer.concat([Buffer.alloc(512, 'x'), rawTar(MODULE)])),
    /number field is invalid|checksum is wrong/,
  ],
  ['a name that is not UTF-8', gzipSync(NOT_UTF8), /is not UTF-8/],
  [
    'a bomb',
    rawTgz([...MODULE, { name: 'zeros', content: Buffer.alloc(8 * 1024 * 1024) }]),
    /grows to more than 100 times/,
  ],
])('an archive with %s is refused', async (_title, bytes, message) => {
  const file = await archive(bytes);
  await expect(unpackArchive(file, directory, SIGNAL)).rejects.toMatchObject({
    code: 'ARTIFACT_INVALID',
    message: expect.stringMatching(message),
  });
  expect(await readdir(directory)).toEqual([]);
});

test.each([
  ['no version', { name: 'hooks/a.sh' }, 'web.tgz', /has no version: set it/],
  ['no name', { name: 'module.yaml', content: 'version: "1.0.0"' }, 'Module.tgz', /has no name/],
  [
    'a name that no module may have',
    { name: 'Chart.yaml', content: 'name: Web_A\nversion: 1.0.0' },
    'x.tgz',
    /kebab-case/,
  ],
  ['a Chart.yaml that is no YAML', { name: 'Chart.yaml', content: '{' }, 'web-1.0.0.tgz', /Chart\.yaml/],
])('an archive with %s is refused', async (_title, entry, name, message) => {
  await expect(readArchive(await archive(rawTgz([entry]), name), SIGNAL)).rejects.toMatchObject({
    code: 'ARTIFACT_INVALID',
    message: expect.stringMatching(message),
  });
});

test('an aborted read ends with the reason, and leaves nothing', async () => {
  const file = await archive(rawTgz(MODULE));
  const reason = new Error('stop');
  await expect(unpackArchive(file, directory, AbortSignal.abort(reason))).rejects.toBe(reason);
  expect(await readdir(directory)).toEqual([]);
});
