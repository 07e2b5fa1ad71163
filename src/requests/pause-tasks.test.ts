import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { failing, name, operatorLab } from '../../test/support/operator-lab.ts';
import { filesDigest, readDigests } from '../modules/file-set.ts';
import { onPausesChange } from './pause-tasks.ts';

const PAUSE = { reason: 'disks', sinceMs: 0, untilMs: undefined };

function deployed(calls: readonly string[]): readonly string[] {
  return calls.filter((call) => call.startsWith('deploy'));
}

test('a paused module is not run, and made up for when it is resumed', async () => {
  await using lab = await operatorLab(['db', 'web']);
  lab.pauses.set('db', PAUSE);
  await lab.converge();
  expect(deployed(lab.takeCalls())).toEqual(['deploy web']);
  lab.pauses.delete('db');
  onPausesChange(lab.operator);
  onPausesChange(lab.operator);
  await lab.settle();
  expect(deployed(lab.takeCalls())).toEqual(['deploy db']);
});

test.each(['paused', 'handed over'])(
  'runs of a module that is %s are skipped, and are no successes of it',
  async (what) => {
    await using lab = await operatorLab(['db', 'web'], { 'db/a.sh': { beforeHelm: 1 } });
    lab.behaviours.set('db/a.sh', failing);
    await lab.converge();
    expect(lab.journal.byModule().get('db')?.recent).toBe('f');
    if (what === 'paused') lab.pauses.set('db', PAUSE);
    if (what === 'handed over') lab.handedOver.add('db');
    lab.operator.router.main.cutDelay();
    await lab.settle();
    expect(lab.journal.list({ module: 'db', limit: 1 }).runs[0]).toMatchObject({
      result: 'skipped',
      error: '',
    });
    expect(lab.journal.byModule().get('db')?.recent).toBe('f');
    expect(lab.calls).not.toContain('deploy db');
  },
);

test.each([
  ['run', { 'db/a.sh': { beforeHelm: 1 } }, 'hook is broken'],
  ['CRDs', {}, 'refused'],
])('a module whose %s failed holds up no task once it is paused', async (what, hooks, error) => {
  await using lab = await operatorLab(['db', 'web'], hooks);
  lab.behaviours.set('db/a.sh', failing);
  if (what === 'CRDs') lab.withCrds.add('db');
  lab.obstacles.set('crds db', () => {
    throw new Error('refused');
  });
  await lab.converge();
  expect(lab.operator.router.main.entries[0]?.lastError).toContain(error);
  lab.pauses.set('db', PAUSE);
  onPausesChange(lab.operator);
  await lab.settle();
  expect(lab.calls).toContain('deploy web');
  expect(lab.calls).not.toContain('deploy db');
  expect(lab.operator.router.main.length).toBe(0);
});

test('a hold of a rollback ends with a run of other files, and not before', async () => {
  await using lab = await operatorLab(['db', 'web']);
  await lab.converge();
  const path = await mkdtemp(join(tmpdir(), 'hold-'));
  const { registry, router } = lab.operator;
  registry.setModules(registry.modules.map((module) => ({ ...module, path })));
  await writeFile(join(path, 'values.yaml'), 'a: 1');
  lab.pauses.set('db', { ...PAUSE, files: filesDigest(await readDigests(path)) });
  lab.takeCalls();
  // The files are read, which takes longer than what else the lab waits for.
  const run = async (): Promise<readonly string[]> => {
    router.queueModuleRun(name('db'), 'change');
    await vi.waitFor(() => expect(router.main.length).toBe(0), { timeout: 60_000 });
    return deployed(lab.takeCalls());
  };
  expect(await run()).toEqual([]);
  await rename(path, `${path}-away`);
  expect(await run()).toEqual([]);
  await rename(`${path}-away`, path);
  await writeFile(join(path, 'values.yaml'), 'a: 2');
  expect(await run()).toEqual(['deploy db']);
  expect(lab.pauses.has('db')).toBe(false);
  // The deferred run was this one.
  onPausesChange(lab.operator);
  await lab.settle();
  expect(deployed(lab.takeCalls())).toEqual([]);
  await rm(path, { recursive: true });
});
