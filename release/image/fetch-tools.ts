// Runs in the build stage of the image: fetch-tools.ts HELM_MAJOR DIRECTORY. Puts helm, kubectl and Node there, and their
// versions into versions.json.
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  PINNED_HELM_VERSIONS,
  PINNED_KUBECTL_VERSION,
  pinnedHelm,
  pinnedKubectl,
} from '../../src/tools/pinned-tools/pinned-tools.ts';
import { fetchOfficialTools, OFFICIAL_SERVERS } from './official-tools.ts';

const TIME_LIMIT_MS = 600_000;

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
else {
  const wanted = { helm, kubectl: PINNED_KUBECTL_VERSION, arch: process.arch };
  const tools = await fetchOfficialTools(wanted, OFFICIAL_SERVERS, signal);
  for (const [name, program] of Object.entries(tools)) await writeFile(join(into, name), program);
}
await copyFile(process.execPath, join(into, 'node'));
for (const name of ['helm', 'kubectl', 'node']) await chmod(join(into, name), 0o755);
const versions = { helm, kubectl: PINNED_KUBECTL_VERSION, node: process.versions.node };
await writeFile(join(into, 'versions.json'), JSON.stringify(versions));
