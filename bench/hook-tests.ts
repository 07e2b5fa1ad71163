import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type FileTree, shHook, writeTree } from '../test/support/world-files.ts';
import { report } from './figures.ts';

const root = join(import.meta.dirname, '..');
const PROGRAM = join(root, 'bin', 'addon-operator');
const CASES = 200;
/** At the start, and for an object. */
const RUNS_A_CASE = 2;

const BINDINGS = `onStartup: 1
kubernetes:
- {name: secrets, apiVersion: v1, kind: Secret, executeHookOnSynchronization: false, jqFilter: .metadata.name}`;

const SCRIPT = `import { defineHook } from 'addon-operator/sdk';
export default defineHook(
  {
    onStartup: 1,
    kubernetes: [{ name: 'secrets', apiVersion: 'v1', kind: 'Secret', executeHookOnSynchronization: false, jqFilter: '.metadata.name' }],
  },
  () => undefined,
);
`;

const step = (index: number): string =>
  `{apply: {apiVersion: v1, kind: Secret, metadata: {name: s${index}, namespace: shop}}, expect: {runs: 1, contexts: [{filterResult: s${index}}]}}`;
const tests = (hook: string, count: number): string =>
  `hook: ../global-hooks/${hook}\ncases:\n${Array.from({ length: count }, (_, index) => `- {name: case ${index}, steps: [start, ${step(index)}]}\n`).join('')}`;

const FILES: FileTree = {
  'global-hooks/hook.sh': shHook(BINDINGS, ':').replace('#!/bin/sh', '#!/bin/bash'),
  'global-hooks/hook.ts': SCRIPT,
  'first/one.hook-test.yaml': tests('hook.sh', 1),
  'bash/all.hook-test.yaml': tests('hook.sh', CASES),
  'script/all.hook-test.yaml': tests('hook.ts', CASES),
};

/** 200 cases of `hook test`, with bash hooks and with hooks in TypeScript, against as many bare runs of bash. */
export async function benchHookTests(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-hook-tests-'));
  try {
    await writeTree(directory, FILES);
    execFileSync(PROGRAM, ['version']);
    const bare = measured(directory, `for i in $(seq ${CASES * RUNS_A_CASE}); do bash -c :; done`);
    for (const [what, path, aim] of [
      ['one case of a bash hook', 'first', '< 1.5 s'],
      [`${CASES} cases of a bash hook`, 'bash', '< 5 s'],
      [`${CASES} cases of a hook in TypeScript`, 'script', '< 1 s'],
    ] as const) {
      const test = measured(directory, `'${PROGRAM}' hook test ${path} > /dev/null`);
      report(what, textOf(test), textOf(bare), test.wallMs / bare.wallMs, aim);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
}

interface Measured {
  readonly wallMs: number;
  /** Of all processes, which other work on the machine does not change. */
  readonly cpuSeconds: number;
}

function measured(cwd: string, command: string): Measured {
  const startMs = performance.now();
  const times = execFileSync('bash', ['-c', `set -e\n${command}\ntimes`], { cwd, encoding: 'utf8' });
  const wallMs = performance.now() - startMs;
  const [, children = ''] = times.trim().split('\n').slice(-2);
  const cpuSeconds = [...children.matchAll(/(\d+)m([\d.]+)s/g)]
    .map(([, minutes, seconds]) => Number(minutes) * 60 + Number(seconds))
    .reduce((total, each) => total + each, 0);
  return { wallMs, cpuSeconds };
}

function textOf({ wallMs, cpuSeconds }: Measured): string {
  return `${(wallMs / 1_000).toFixed(2)} s, CPU ${cpuSeconds.toFixed(2)} s`;
}
