import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { sandboxBackend } from '../test/support/backends.ts';
import { bareNodeMb } from './bare-node.ts';
import { note, percentile, report } from './figures.ts';
import { rssMb } from './process-usage.ts';

const root = join(import.meta.dirname, '..');
const PROGRAM = join(root, 'bin', 'addon-operator');
const ROUNDS = 9;

/** Start-up of the compiled program, and its memory after an empty converge, against a bare Node. */
export async function benchStart(): Promise<void> {
  execFileSync(PROGRAM, ['version']);
  const helpMs = medianMs(() => execFileSync(PROGRAM, ['--help']));
  const nodeMs = medianMs(() => execFileSync(process.execPath, ['-e', '0']));
  report(
    'addon-operator --help',
    `${helpMs.toFixed(0)} ms`,
    `${nodeMs.toFixed(0)} ms`,
    helpMs / nodeMs,
    '< 300 ms',
  );
  const bare = await bareNodeMb();
  const daemon = await emptyConverge();
  report(
    'RSS of the daemon after an empty converge',
    `${daemon.daemonMb.toFixed(0)} MB`,
    `${bare.toFixed(0)} MB`,
    daemon.daemonMb / bare,
    '< 120 MB',
  );
  for (const { name, mb } of daemon.children) note(`  beside it: ${name} ${mb.toFixed(0)} MB`);
}

function medianMs(run: () => void): number {
  const durations = Array.from({ length: ROUNDS }, () => {
    const startMs = performance.now();
    run();
    return performance.now() - startMs;
  });
  return percentile(durations, 0.5);
}

async function emptyConverge() {
  const backend = await sandboxBackend();
  const directory = await mkdtemp(join(tmpdir(), 'bench-start-'));
  const child = spawn(
    PROGRAM,
    [
      'start',
      '--namespace',
      'default',
      '--kube-config',
      backend.kubeconfigPath,
      '--modules-dir',
      directory,

      '--global-hooks-dir',
      directory,
      '--tmp-dir',
      join(directory, 'tmp'),
      '--helm-bin-path',
      backend.helmPath,
      '--debug-unix-socket',
      join(directory, 'socket'),
      '--prometheus-listen-port',
      '0',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  for await (const line of createInterface({ input: child.stdout }))
    if (line.includes('first converge is finished')) break;
  const daemonMb = rssMb(child.pid ?? 0);
  const children = await childrenOf(child.pid ?? 0);
  child.kill();
  await new Promise((resolve) => child.on('exit', resolve));
  await backend[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
  return { daemonMb, children };
}

async function childrenOf(parent: number) {
  const found: { name: string; mb: number }[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (Number(stat.split(') ')[1]?.split(' ')[1]) !== parent) continue;
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8');
    const name =
      command.split('\0').find((part) => /launcher|jq/.test(part)) ?? command.split('\0')[0] ?? pid;
    found.push({ name: name.split('/').at(-1) ?? name, mb: rssMb(Number(pid)) });
  }
  return found;
}
