import { expect, test } from 'vitest';
import type { TaskOutcome } from '../queue/task-queue.ts';
import type { ModuleName } from '../values/module-key.ts';
import { ModuleTurns } from './module-turns.ts';
import type { Task } from './tasks.ts';

const run = (module: string): Task => ({
  type: 'ModuleRun',
  module: module as ModuleName,
  doModuleStartup: false,
  isPartOfConverge: false,
  trigger: 'test',
  activation: '',
});

const success: TaskOutcome<Task> = { type: 'success' };

test('run() lets one task at a time work on a module, and others on other modules', async () => {
  const turns = new ModuleTurns();
  const { promise, resolve } = Promise.withResolvers<TaskOutcome<Task>>();
  const first = turns.run(run('web'), () => promise);
  const second = await turns.run(run('web'), () => Promise.reject(new Error('must not run')));
  expect(second).toMatchObject({ type: 'repeat' });
  expect(await turns.run(run('dns'), async () => success)).toBe(success);
  resolve(success);
  expect(await first).toBe(success);
  expect(await turns.run(run('web'), async () => success)).toBe(success);
});

test('run() gives the turn on when an attempt throws', async () => {
  const turns = new ModuleTurns();
  await expect(turns.run(run('web'), () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await turns.run(run('web'), async () => success)).toBe(success);
});
