import { silentLogger } from '@addon-operator/base/log';
import { resultOrAbort } from '@addon-operator/concurrency/result-or-abort';
import { expect, test } from 'vitest';
import { rejection } from '../../../test/support/rejection.ts';
import { NO_MANIFEST } from '../../modules/module-manifest.ts';
import { readReconcileWebhook } from '../../modules/reconcile-webhook.ts';
import type { ModuleName } from '../../values/module-key.ts';
import { ModuleFinalizers } from './module-finalizers.ts';

const never = new AbortController().signal;
const DEFINITION = { version: 'v1', address: { uri: 'http://web/' }, capabilities: ['finalize'] };

function moduleWith(capabilities: readonly string[] = ['finalize']) {
  const hook =
    capabilities.length === 0 ? undefined : readReconcileWebhook({ ...DEFINITION, capabilities }, []);
  return { name: 'web' as ModuleName, manifest: { ...NO_MANIFEST, hook } };
}

/** The requests to servers and to the cluster, in order. */
class Lab {
  readonly calls: string[] = [];
  noted: string | undefined;
  isRefusing = false;
  isWatchRead = true;
  /** Resolves when a server is asked that never answers. */
  readonly isAsked = Promise.withResolvers<void>();
  isHanging = false;
  readonly finalizers = new ModuleFinalizers({
    hooks: {
      finalize: async (module, { address }, children, signal) => {
        this.calls.push(`finalize ${module} at ${address.type} with ${children.length}`);
        this.isAsked.resolve();
        if (this.isHanging) await resultOrAbort(new Promise(() => undefined), signal);
        if (this.isRefusing) throw new Error('not now');
      },
    },
    objects: {
      isKnownAsHeld: () => (this.isWatchRead ? this.noted !== undefined : undefined),
      hold: async (_module, definition) => {
        this.noted = definition;
        this.calls.push('hold');
      },
      heldBy: async () => this.noted,
      release: async () => {
        if (this.noted === undefined) return;
        this.noted = undefined;
        this.calls.push('release');
      },
    },
    deployed: async () => [{ kind: 'ConfigMap', metadata: { name: 'web' } }],
    log: silentLogger,
    onSkip: async (module) => {
      this.calls.push(`skip ${module}`);
    },
  });
}

test('a module whose server finalizes is held, finalized and released, in this order', async () => {
  const { finalizers, calls } = new Lab();
  await finalizers.hold(moduleWith(), never);
  await finalizers.finalize(moduleWith(), never);
  await finalizers.release(moduleWith(), never);
  expect(calls).toEqual(['hold', 'finalize web at url with 1', 'release']);
});

test.each([[[]], [['pre-reconcile']]])(
  'a module with the capabilities %j costs nothing',
  async (capabilities) => {
    const { finalizers, calls } = new Lab();
    const module = moduleWith(capabilities);
    await finalizers.hold(module, never);
    await finalizers.finalize(module, never);
    await finalizers.release(module, never);
    expect(calls).toEqual([]);
  },
);

test('a module that is held no more lets go when it is run, and is finalized by what was noted when it goes before', async () => {
  const lab = new Lab();
  await lab.finalizers.hold(moduleWith(), never);
  await lab.finalizers.finalize(moduleWith([]), never);
  expect(lab.calls).toEqual(['hold', 'finalize web at url with 1']);
  await lab.finalizers.hold(moduleWith([]), never);
  expect(lab.calls.at(-1)).toBe('release');
});

test('a server that refused is called again, one that agreed is not until the module has run again', async () => {
  const lab = new Lab();
  lab.isRefusing = true;
  await expect(lab.finalizers.finalize(moduleWith(), never)).rejects.toThrow('not now');
  lab.isRefusing = false;
  await lab.finalizers.finalize(moduleWith(), never);
  await lab.finalizers.finalize(moduleWith(), never);
  expect(lab.calls).toHaveLength(2);
  await lab.finalizers.hold(moduleWith(), never);
  await lab.finalizers.finalize(moduleWith(), never);
  expect(lab.calls.slice(2)).toEqual(['hold', 'finalize web at url with 1']);
});

test('a server that is to be skipped is not called, unless the module runs again before', async () => {
  const lab = new Lab();
  lab.finalizers.skip('web');
  await lab.finalizers.finalize(moduleWith(), never);
  expect(lab.calls).toEqual(['skip web']);
  await lab.finalizers.hold(moduleWith(), never);
  await lab.finalizers.finalize(moduleWith(), never);
  expect(lab.calls.at(-1)).toBe('finalize web at url with 1');
});

test('a call in progress is not waited for when the server is to be skipped', async () => {
  const lab = new Lab();
  lab.isHanging = true;
  const finalized = lab.finalizers.finalize(moduleWith(), never);
  await lab.isAsked.promise;
  lab.finalizers.skip('web');
  await finalized;
  expect(lab.calls).toEqual(['finalize web at url with 1', 'skip web']);
});

test('an abort ends the wait for a server, and its module stays', async () => {
  const lab = new Lab();
  const stop = new AbortController();
  lab.isHanging = true;
  const reported = rejection(lab.finalizers.finalize(moduleWith(), stop.signal));
  await lab.isAsked.promise;
  stop.abort(new Error('stopping'));
  expect(await reported).toBe('stopping');
  expect(lab.calls).toEqual(['finalize web at url with 1']);
});

test.each(['', '{', '{"version":"v2"}'])(
  'a note that cannot be read is an error that says the way out: %j',
  async (noted) => {
    const lab = new Lab();
    lab.noted = noted;
    await expect(lab.finalizers.finalizeAbandoned('web', never)).rejects.toMatchObject({
      code: 'MODULE_INVALID',
      isPermanent: true,
      message: expect.stringContaining('addon-operator module release-finalizer web'),
    });
    lab.finalizers.skip('web');
    await lab.finalizers.finalizeAbandoned('web', never);
    expect(lab.calls).toEqual(['skip web']);
  },
);

test('a module that was held before a restart is finalized, also before the watch has read anything', async () => {
  const lab = new Lab();
  lab.noted = JSON.stringify(DEFINITION);
  lab.isWatchRead = false;
  await lab.finalizers.finalize(moduleWith([]), never);
  await lab.finalizers.release(moduleWith([]), never);
  expect(lab.calls).toEqual(['finalize web at url with 1', 'release']);
});

test('the first run after a restart releases what is held no more, also before the watch has read anything', async () => {
  const lab = new Lab();
  lab.noted = JSON.stringify(DEFINITION);
  lab.isWatchRead = false;
  await lab.finalizers.hold(moduleWith([]), never);
  expect(lab.calls).toEqual(['release']);
});
