import { expect, test } from 'vitest';
import { operatorLab } from '../../test/support/operator-lab.ts';
import { moduleFacts } from '../views/collect-module-facts.ts';
import { explainModule, summarizeModules } from '../views/explain-module.ts';
import { finishDeletion } from './finish-deletion.ts';
import { confirmPurge, handleModulePurge } from './purge-releases.ts';

const signal = new AbortController().signal;
const EMPTY = { path: '/modules', modules: [] };

test('releases of modules whose directory became empty stay, and are explained', async () => {
  await using lab = await operatorLab(['web']);
  lab.releases.add('old');
  lab.directories = [EMPTY];
  lab.rememberedDirectories = [{ path: '/modules', modules: ['old'] }];
  await lab.converge();
  expect(lab.calls.filter((call) => call.startsWith('uninstall'))).toEqual([]);
  expect(lab.operator.converge.purge).toEqual({
    releases: ['old'],
    reason: '/modules contained modules before and is empty now',
  });
  expect(lab.rememberedDirectories).toEqual([{ path: '/modules', modules: ['old'] }]);
  expect(summarizeModules(lab.operator)).toMatchObject([
    { module: 'web' },
    { module: 'old', status: 'held' },
  ]);
  expect(moduleFacts(lab.operator)[1]?.explanation).toMatchObject({
    status: 'held',
    reason: expect.stringContaining('addon-operator module confirm-purge') as string,
  });
  const [web] = lab.operator.registry.modules;
  expect(web && explainModule(lab.operator, web, []).status).toBe('ready');
});

test('confirmPurge() removes the releases that were held, once, and forgets the directory', async () => {
  await using lab = await operatorLab([]);
  lab.releases.add('a');
  lab.releases.add('b');
  lab.directories = [EMPTY];
  await lab.converge();
  lab.takeCalls();
  expect(await confirmPurge(lab.operator, signal)).toEqual(['a', 'b']);
  await lab.settle();
  expect(lab.takeCalls()).toEqual(['uninstall b', 'uninstall a']);
  expect(lab.rememberedDirectories).toEqual([EMPTY]);
  expect(await confirmPurge(lab.operator, signal)).toEqual([]);
});

test('a module object that waits for its HTTP hook purges nothing before that is decided', async () => {
  const finalizers = {
    isHeld: async () => true,
    finalize: async () => undefined,
    release: async () => undefined,
    finalizeAbandoned: async () => undefined,
    releaseAbandoned: async () => undefined,
    skip: () => undefined,
  };
  await using lab = await operatorLab([], {}, { finalizers } as never);
  lab.releases.add('old');
  lab.directories = [EMPTY];
  expect(await finishDeletion(lab.operator, 'old', signal)).toBe('too early');
  await lab.converge();
  expect(await finishDeletion(lab.operator, 'old', signal)).toBe('done');
  await lab.settle();
  expect(lab.calls.filter((call) => call.startsWith('uninstall'))).toEqual([]);
});

test('a memory that cannot be read removes nothing, and is tried again', async () => {
  await using lab = await operatorLab([]);
  lab.releases.add('old');
  lab.obstacles.set('read directories', () => {
    throw new Error('API server is away');
  });
  await lab.converge();
  expect([...lab.releases]).toEqual(['old']);
  lab.obstacles.clear();
  await lab.pass(10_000, 1);
  expect([...lab.releases]).toEqual([]);
});

test('a release is not purged whose module came back before its turn', async () => {
  await using lab = await operatorLab(['web']);
  await lab.converge();
  lab.takeCalls();
  lab.operator.router.main.append({ type: 'ModulePurge', release: 'web', trigger: 'test' });
  await lab.settle();
  expect(lab.calls).toEqual([]);
});

test('a purge that the stop of the operator ends is no purge that failed', async () => {
  await using lab = await operatorLab([]);
  await lab.converge();
  const stop = new AbortController();
  lab.obstacles.set('uninstall old', () => {
    stop.abort(new Error('the operator stops'));
    throw new Error('helm was ended');
  });
  await expect(handleModulePurge(lab.operator, 'old', stop.signal)).rejects.toThrow('the operator stops');
});
