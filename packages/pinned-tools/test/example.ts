import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '@addon-operator/base/errors';
import { PINNED_KUBECTL_VERSION, pinnedHelm, pinnedKubectl } from '@addon-operator/pinned-tools';
import { cacheDirectory } from '@addon-operator/pinned-tools/cache-directory';

console.log(cacheDirectory({ XDG_CACHE_HOME: '/home/ann/.cache' }, '/home/ann'));

// A kubectl that was fetched before; otherwise it would be fetched now.
const cacheDir = await mkdtemp(join(tmpdir(), 'tools-'));
const fetched = join(cacheDir, `kubectl-${PINNED_KUBECTL_VERSION}/kubectl`);
await mkdir(dirname(fetched));
await writeFile(fetched, '#!/bin/sh\n', { mode: 0o755 });

const never = new AbortController().signal;
const options = { cacheDir, onProgress: (message: string) => console.log(message) };
console.log((await pinnedKubectl(options, never)) === fetched);
console.log(await pinnedHelm(4, { ...options, platform: 'darwin' }, never).catch(messageOf));
await rm(cacheDir, { recursive: true });
