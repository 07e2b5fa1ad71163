import { expect, test } from 'vitest';
import { paintFor } from '../output/paint.ts';
import { progressBlock } from './progress-block.ts';
import { type ModuleProgress, NO_PROGRESS, type Progress } from './progress-state.ts';

const plain = {
  width: 40,
  height: 24,
  elapsedMs: 2_400,
  longHooks: [],
  problem: undefined,
  paint: paintFor(false),
};

function progress(modules: Readonly<Record<string, ModuleProgress>>): Progress {
  return { ...NO_PROGRESS, phase: 'running modules', modules: new Map(Object.entries(modules)) };
}

test('progressBlock() has a head line and one for each module, aligned', () => {
  const modules: Record<string, ModuleProgress> = {
    web: { type: 'ready' },
    database: { type: 'hook', hook: 'hooks/init.sh' },
    cache: { type: 'helm' },
    late: { type: 'waiting' },
    bad: { type: 'failed', failures: 2, error: 'boom\nmore' },
    hook: { type: 'failed', failures: 1, error: 'run hooks by binding beforeHelm: a.sh failed: x' },
  };
  expect(progressBlock(progress(modules), plain)).toEqual([
    '2 s  running modules',
    '  web       ready',
    '  database  running hooks/init.sh',
    '  cache     running helm',
    '  late      waiting',
    '  bad       failed 2x: boom',
    '  hook      failed 1x: a.sh failed: x',
  ]);
});

test('progressBlock() fits the terminal in both directions, and leaves its last column free', () => {
  const modules = Object.fromEntries(
    Array.from({ length: 30 }, (_none, index) => [
      `module-${index}`,
      { type: 'failed', failures: 1, error: 'a reason that is much too long to be shown' } as const,
    ]),
  );
  const lines = progressBlock(progress(modules), { ...plain, height: 10 });
  expect(lines).toHaveLength(9);
  expect(lines.at(-1)).toBe('  … and 23 more');
  expect(Math.max(...lines.map((line) => line.length))).toBe(39);
});

test('progressBlock() paints states', () => {
  const lines = progressBlock(progress({ web: { type: 'ready' } }), { ...plain, paint: paintFor(true) });
  expect(lines[1]).toBe('  web  \u001b[32mready\u001b[0m');
});

test('progressBlock() names hooks that run for long above the modules, free of control characters', () => {
  const longHooks = ['hook hang\u001b[2J.sh runs for 35 s (queue main, task GlobalHookRun, pid 4711)'];
  expect(progressBlock(progress({ web: { type: 'waiting' } }), { ...plain, width: 90, longHooks })).toEqual([
    '2 s  running modules',
    '  hook hang\\u001b[2J.sh runs for 35 s (queue main, task GlobalHookRun, pid 4711)',
    '  web  waiting',
  ]);
});

test('the first line is the status of the operator while it needs a person', () => {
  const problem = 'queue main waits 4 s to try ConvergeModules again';
  expect(progressBlock(progress({}), { ...plain, width: 90, problem })).toEqual([`2 s  ${problem}`]);
});
