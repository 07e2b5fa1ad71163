import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tarArchive } from '../../test/support/archives.ts';
import { fetchOfficialTools } from './official-tools.ts';

const signal = new AbortController().signal;
const WANTED = { helm: '4.1.4', kubectl: '1.34.5', arch: 'arm64' };
const HELM = '/helm-v4.1.4-linux-arm64.tar.gz';
const KUBECTL = '/v1.34.5/bin/linux/arm64/kubectl';
const sumOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

let files: Map<string, Buffer>;
let server: Server;
let servers: { helm: string; kubectl: string };

beforeEach(async () => {
  const tarball = gzipSync(tarArchive({ 'linux-arm64/helm': 'the helm', 'linux-arm64/README.md': '' }));
  const kubectl = Buffer.from('the kubectl');
  files = new Map([
    [HELM, tarball],
    [`${HELM}.sha256sum`, Buffer.from(`${sumOf(tarball)}  helm-v4.1.4-linux-arm64.tar.gz\n`)],
    [KUBECTL, kubectl],
    [`${KUBECTL}.sha256`, Buffer.from(sumOf(kubectl))],
  ]);
  server = createServer(({ url = '' }, response) => {
    const content = files.get(url);
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  servers = { helm: url, kubectl: url };
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

test('the official tools are those whose sums are published beside them', async () => {
  const { helm, kubectl } = await fetchOfficialTools(WANTED, servers, signal);
  expect([helm.toString(), kubectl.toString()]).toEqual(['the helm', 'the kubectl']);
});

test.each([HELM, KUBECTL])(
  'the official tools are refused when %s is not what was published',
  async (path) => {
    files.set(path, Buffer.from('something else'));
    await expect(fetchOfficialTools(WANTED, servers, signal)).rejects.toThrow(
      `${path} has the SHA-256 ${sumOf(Buffer.from('something else'))}, published is `,
    );
  },
);

test.each([`${HELM}.sha256sum`, KUBECTL])(
  'the official tools are refused when there is no %s',
  async (path) => {
    files.delete(path);
    await expect(fetchOfficialTools(WANTED, servers, signal)).rejects.toThrow(`${path}: HTTP 404`);
  },
);
