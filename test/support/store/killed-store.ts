/**
 * A process that changes a module store at random, and kills itself at one of its points. Its
 * arguments are the store, a seed, and the number of points until then.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { systemClock } from '@addon-operator/base/clock';
import { ModuleStore } from '../../../src/module-store/module-store.ts';

const [directory = '', seed = '1', points = '0'] = process.argv.slice(2);

let state = Number(seed) * 2_654_435_761;

function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

let left = Number(points);

function die(): void {
  left -= 1;
  if (left < 0) process.kill(process.pid, 'SIGKILL');
}

const store = new ModuleStore({ directory, clock: systemClock, at: die });
await store.recover();
for (;;) {
  const module = ['web', 'db'][random(2)] ?? 'web';
  const version = String(random(4));
  const digest = `sha256:${(module + version).padEnd(64, '0').replace(/[^0-9a-f]/g, 'e')}`;
  const act = random(8);
  if (act < 4)
    await store.add({ digest, module, version }, async (path) => {
      for (const file of ['Chart.yaml', 'templates/a.yaml', 'hooks/run.sh']) {
        await mkdir(join(path, file, '..'), { recursive: true });
        await writeFile(join(path, file), `${module} ${version} ${file}\n`);
        die();
      }
    });
  else if (act < 6) {
    if (await store.has(digest)) await store.link(`0${1 + random(2)}0-${module}`, digest);
  } else if (act === 6) await store.collect(new Set(), 0);
  else await store.unlink([...(await store.links()).keys()][0] ?? '010-web');
}
