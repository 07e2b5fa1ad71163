import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, assert, asyncProperty, constant, constantFrom, integer, oneof, record } from 'fast-check';
import { expect, test, vi } from 'vitest';
import { failing, name, type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import type { Pause } from '../model/pause-entry.ts';
import { EMPTY_CONTENT } from '../values/config-map-content.ts';
import { keyOfName } from '../values/module-key.ts';
import { onPausesChange } from './pause-tasks.ts';
import { createRollback, type RollbackParts } from './rollback-module.ts';

const signal = new AbortController().signal;
const ORDER = { to: undefined, withValues: false, isDryRun: false };
const WEB = name('web');

/** A module `web` whose version is a file, and the parts of a rollback. */
class RollbackLab implements AsyncDisposable {
  readonly lab: OperatorLab;
  readonly path: string;
  readonly events: string[] = [];
  readonly rollback: ReturnType<typeof createRollback>;

  constructor(lab: OperatorLab, path: string, more: Partial<RollbackParts> = {}) {
    this.lab = lab;
    this.path = path;
    const { operator } = lab;
    this.rollback = createRollback({
      ...operator,
      pauses: {
        ...operator.pauses,
        pause: async (module, wanted: Omit<Pause, 'sinceMs'>) => {
          await Promise.resolve();
          lab.pauses.set(module, { ...wanted, sinceMs: 0 });
          onPausesChange(operator);
        },
      },
      configuration: operator,
      requesting: operator,
      clock: lab.clock,
      log: lab.log.logger,
      writeSection: async () => await Promise.resolve(),
      record: (_module, { reason }) => this.events.push(reason),
      stop: lab.stop.signal,
      ...more,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lab[Symbol.asyncDispose]();
    await rm(this.path, { recursive: true, force: true });
  }

  /** Puts a version in place, as an edit of the files does, and runs the module. */
  async edit(version: string): Promise<void> {
    await writeFile(join(this.path, 'values.yaml'), `# ${version}`);
    const { registry } = this.lab.operator;
    registry.setModules(registry.modules.map((module) => ({ ...module, path: this.path, version })));
    await this.run();
  }

  async run(): Promise<void> {
    this.lab.operator.router.queueModuleRun(WEB, 'change');
    await this.untilIdle();
  }

  async resume(): Promise<void> {
    if (!this.lab.pauses.delete('web')) return;
    onPausesChange(this.lab.operator);
    await this.untilIdle();
  }

  /** Until no task is left, or the first one waits after a failure. */
  async untilIdle(): Promise<void> {
    const { main } = this.lab.operator.router;
    const isIdle = (): boolean => main.length === 0 || main.status.type === 'delayed';
    await vi.waitUntil(isIdle, { interval: 1, timeout: 60_000 });
    await this.lab.settle();
  }

  /** Version and outcome of each revision, the oldest first. */
  get history(): readonly string[] {
    const revisions = this.lab.revisions.get('web') ?? [];
    return revisions.map(({ version, outcome }) => `${version} ${outcome}`).toReversed();
  }
}

async function created(
  hooks: Parameters<typeof operatorLab>[1] = {},
  more?: Partial<RollbackParts>,
): Promise<RollbackLab> {
  const lab = await operatorLab(['web'], hooks);
  const world = new RollbackLab(lab, await mkdtemp(join(tmpdir(), 'rollback-')), more);
  await lab.converge();
  lab.revisions.clear();
  await world.edit('1.0.0');
  return world;
}

test('a module that is resumed after a rollback deploys its files again', async () => {
  await using world = await created();
  await world.edit('1.1.0');
  expect(await world.rollback('web', ORDER, signal)).toEqual({
    type: 'done',
    revision: 1,
    version: '1.0.0',
    newRevision: 3,
  });
  expect(world.events).toEqual(['RolledBack']);
  expect(world.lab.operator.registry.tracked.get(WEB)?.release.deployed).toMatchObject({ revision: 3 });
  expect(world.history).toEqual(['1.0.0 replaced', '1.1.0 rolled-back', '1.0.0 running']);
  await world.resume();
  expect(world.history.at(-1)).toBe('1.1.0 running');
});

test('a run that is in progress ends before the rollback, and deploys nothing after it', async () => {
  await using world = await created({ 'web/a.sh': { beforeHelm: 1 } });
  await world.edit('1.1.0');
  const { promise, resolve } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  world.lab.behaviours.set('web/a.sh', async () => {
    begun.resolve();
    await promise;
  });
  world.lab.operator.router.queueModuleRun(WEB, 'change');
  await begun.promise;
  world.lab.takeCalls();
  expect(await world.rollback('web', ORDER, signal)).toMatchObject({ type: 'done' });
  resolve();
  await world.untilIdle();
  expect(world.lab.takeCalls().filter((call) => /^(?:deploy|rollback)/.test(call))).toEqual([
    'rollback web 1',
  ]);
});

test('a rollback that fails leaves the module paused with the reason, and can be tried again', async () => {
  await using world = await created();
  await world.edit('1.1.0');
  world.lab.obstacles.set('rollback web 1', () => {
    throw new Error('no quota\n\nat line 1');
  });
  await expect(world.rollback('web', ORDER, signal)).rejects.toThrow('no quota');
  expect(world.lab.pauses.get('web')).toMatchObject({
    reason: 'the rollback to revision 1 failed: no quota',
  });
  expect(world.events).toEqual(['RollbackFailed']);
  await world.run();
  expect(world.history).toEqual(['1.0.0 replaced', '1.1.0 running']);
  world.lab.obstacles.clear();
  expect(await world.rollback('web', ORDER, signal)).toMatchObject({ type: 'done' });
});

test('a second rollback is refused while one is running, which goes on without its request', async () => {
  await using world = await created();
  await world.edit('1.1.0');
  const { promise, resolve } = Promise.withResolvers<void>();
  world.lab.obstacles.set('rollback web 1', () => promise);
  const request = new AbortController();
  const first = world.rollback('web', ORDER, request.signal);
  await vi.waitFor(() => expect(world.lab.calls).toContain('rollback web 1'), { timeout: 60_000 });
  expect(await world.rollback('web', ORDER, signal)).toEqual({
    type: 'refused',
    reason: 'a rollback of it is running',
  });
  request.abort();
  await world.lab.clock.advance(20_000);
  expect(await first).toEqual({ type: 'continues', revision: 1, version: '1.0.0' });
  resolve();
  await vi.waitFor(() => expect(world.events).toEqual(['RolledBack']), { timeout: 60_000 });
  expect(world.history.at(-1)).toBe('1.0.0 running');
});

test.each<readonly [string, (world: RollbackLab) => void]>([
  ['it is disabled', ({ lab }) => void lab.flaggedOff.add('web')],
  [
    'it is handed over: take it back with "module resume" first',
    ({ lab }) =>
      void lab.pauses.set('web', { reason: 'x', sinceMs: 0, untilMs: undefined, handedOverTo: 'me' }),
  ],
  [
    'webMaintenance is set',
    ({ lab }) => {
      lab.content = { ...EMPTY_CONTENT, maintenance: new Set([keyOfName('web')]) };
    },
  ],
  ['it has no release', ({ lab }) => lab.revisions.clear()],
])('a rollback is refused: %s', async (reason, prepare) => {
  await using world = await created();
  await world.edit('1.1.0');
  prepare(world);
  world.lab.takeCalls();
  expect(await world.rollback('web', ORDER, signal)).toEqual({ type: 'refused', reason });
  expect(world.lab.takeCalls()).toEqual([]);
});

test('a module from a source is rolled back by its delivery', async () => {
  const deliveryRollback: RollbackParts['deliveryRollback'] = async (module) =>
    await Promise.resolve(module === 'web' ? { type: 'planned', revision: 7, version: '2.0.0' } : undefined);
  await using world = await created({}, { deliveryRollback });
  expect(await world.rollback('web', ORDER, signal)).toMatchObject({ revision: 7 });
  expect(await world.rollback('db', ORDER, signal)).toMatchObject({ reason: 'there is no such module' });
});

test('in any sequence the history is what happened, nothing undoes a rollback, and nothing is uninstalled', async () => {
  const step = oneof(
    record({ do: constant('edit' as const), version: integer({ min: 0, max: 3 }) }),
    record({ do: constantFrom('run' as const, 'resume', 'converge', 'rollback', 'fail', 'mend') }),
    record({ do: constant('rollback-to' as const), revision: integer({ min: 1, max: 5 }) }),
  );
  await assert(
    asyncProperty(array(step, { maxLength: 12 }), async (steps) => {
      await using world = await created({ 'web/a.sh': { beforeHelm: 1 } });
      const { lab } = world;
      let onDisk = '1.0.0';
      let isHeld = false;
      let isFailing = false;
      const happened = ['1.0.0'];
      const outcomes = new Set<string>();
      const expectDeployed = (): void => {
        if (!isHeld && !isFailing && happened.at(-1) !== onDisk) happened.push(onDisk);
      };
      for (const what of steps) {
        if (what.do === 'edit') {
          const version = `1.0.${what.version}`;
          if (version !== onDisk) isHeld = false;
          onDisk = version;
          await world.edit(version);
        } else if (what.do === 'rollback' || what.do === 'rollback-to') {
          const to = 'revision' in what ? String(what.revision) : undefined;
          const outcome = await world.rollback('web', { ...ORDER, to }, signal);
          outcomes.add(outcome.type);
          if (outcome.type === 'done') {
            happened.push(outcome.version);
            isHeld = true;
          }
        } else if (what.do === 'resume') {
          isHeld = false;
          await world.resume();
        } else if (what.do === 'converge') lab.startOver();
        else if (what.do === 'fail' || what.do === 'mend') {
          isFailing = what.do === 'fail';
          if (isFailing) lab.behaviours.set('web/a.sh', failing);
          else lab.behaviours.clear();
          lab.operator.router.main.cutDelay();
        } else await world.run();
        await world.untilIdle();
        expectDeployed();
        const revisions = (lab.revisions.get('web') ?? []).toReversed();
        expect(revisions.map(({ version }) => version)).toEqual(happened);
        expect(lab.pauses.has('web')).toBe(isHeld);
        expect([...outcomes].filter((type) => type !== 'done' && type !== 'refused')).toEqual([]);
        expect(lab.calls.filter((call) => call.startsWith('uninstall'))).toEqual([]);
      }
    }),
    { numRuns: 60 },
  );
});
