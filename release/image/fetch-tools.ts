// Runs in the build stage of the image: fetch-tools.ts HELM_MAJOR DIRECTORY. Puts helm, kubectl and Node there, and their
// versions into versions.json.
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import {
  PINNED_HELM_VERSIONS,
  PINNED_KUBECTL_VERSION,
  pinnedHelm,
  pinnedKubectl,
} from '@addon-operator/pinned-tools';
import { tarEntry } from '@addon-operator/pinned-tools/archive-entry';

const TIME_LIMIT_MS = 600_000;

/**
 * The official build for a platform that has no pinned tools, compared with the sum published beside it. That proves that
 * the download is complete, not who made it.
 *
 * @throws Error when the server does not send it, or the sum differs
 */
async function download(url: string, sumUrl: string, signal: AbortSignal): Promise<Buffer> {
  const [content, sum] = await Promise.all([url, sumUrl].map(async (each) => await get(each, signal)));
  const expected = sum?.toString().trim().split(/\s+/)[0];
  const actual = createHash('sha256')
    .update(content ?? '')
    .digest('hex');
  if (content === undefined || actual !== expected) {
    throw new Error(`${url} has the SHA-256 ${actual}, published is ${expected ?? 'none'}`);
  }
  return content;
}

async function get(url: string, signal: AbortSignal): Promise<Buffer> {
  const response = await fetch(url, { signal });
  if (!response.ok) throw new Error(`GET ${url}: HTTP ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

async function fetchOfficial(helm: string, arch: string, into: string, signal: AbortSignal): Promise<void> {
  const archive = `https://get.helm.sh/helm-v${helm}-linux-${arch}.tar.gz`;
  const tarball = await download(archive, `${archive}.sha256sum`, signal);
  const helmProgram = tarEntry(gunzipSync(tarball), `linux-${arch}/helm`);
  if (helmProgram === undefined) throw new Error(`${archive} has no linux-${arch}/helm`);
  const kubectl = `https://dl.k8s.io/release/v${PINNED_KUBECTL_VERSION}/bin/linux/${arch}/kubectl`;
  await writeFile(join(into, 'helm'), helmProgram);
  await writeFile(join(into, 'kubectl'), await download(kubectl, `${kubectl}.sha256`, signal));
}

async function fetchPinned(major: 3 | 4, into: string, signal: AbortSignal): Promise<void> {
  const cacheDir = await mkdtemp(join(tmpdir(), 'tools-'));
  const options = { cacheDir, onProgress: (message: string) => console.log(message) };
  try {
    await copyFile(await pinnedHelm(major, options, signal), join(into, 'helm'));
    await copyFile(await pinnedKubectl(options, signal), join(into, 'kubectl'));
  } finally {
    await rm(cacheDir, { recursive: true });
  }
}

const [majorText, into = ''] = process.argv.slice(2);
if ((majorText !== '3' && majorText !== '4') || into === '') {
  throw new Error(`usage: fetch-tools.ts 3|4 DIRECTORY, got "${process.argv.slice(2).join(' ')}"`);
}
const major = majorText === '3' ? 3 : 4;
const helm = PINNED_HELM_VERSIONS[major];
const signal = AbortSignal.timeout(TIME_LIMIT_MS);
await mkdir(into, { recursive: true });
if (process.arch === 'x64') await fetchPinned(major, into, signal);
else await fetchOfficial(helm, process.arch, into, signal);
await copyFile(process.execPath, join(into, 'node'));
for (const name of ['helm', 'kubectl', 'node']) await chmod(join(into, name), 0o755);
const versions = { helm, kubectl: PINNED_KUBECTL_VERSION, node: process.versions.node };
await writeFile(join(into, 'versions.json'), JSON.stringify(versions));
