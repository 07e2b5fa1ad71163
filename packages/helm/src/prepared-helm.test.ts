import { setTimeout as pause } from 'node:timers/promises';
import { silentLogger } from '@addon-operator/base/log';
import { expect, test, vi } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { HelmOutcome } from './helm-process.ts';
import { type Preparation, PreparedHelm } from './prepared-helm.ts';

const { signal } = new AbortController();
const DONE: HelmOutcome = { type: 'succeeded', stdout: '', isStdoutTruncated: false };

/** A helm that ends when it is stopped, or on request. */
class FakeHelm {
  readonly ended = Promise.withResolvers<HelmOutcome>();
  isStopped = false;
  preparation: Preparation | undefined;
  readonly start = async (preparation: Preparation, stopping: AbortSignal): Promise<HelmOutcome> => {
    this.preparation = preparation;
    stopping.addEventListener('abort', () => {
      this.isStopped = true;
      this.ended.reject(stopping.reason);
    });
    return await this.ended.promise;
  };
}

function lab(places: number) {
  const clock = new FakeClock();
  return { clock, prepared: new PreparedHelm({ clock, log: silentLogger, places }) };
}

test('PreparedHelm gives the helm that was started ahead to the run with the same key, and to no other', async () => {
  const { prepared } = lab(2);
  const helm = new FakeHelm();
  prepared.prepare('web', 'key', helm.start);
  expect(await prepared.take('other', 'key')).toBeUndefined();
  const taken = await prepared.take('web', 'key');
  const finished = taken?.finish({}, () => Promise.resolve({ type: 'cancel' }), signal);
  helm.ended.resolve(DONE);
  expect(await finished).toBe(DONE);
  expect(helm.isStopped).toBe(false);
  expect(await prepared.take('web', 'key')).toBeUndefined();
});

test('PreparedHelm stops a helm whose release turns out to need another run', async () => {
  const { prepared } = lab(2);
  const helm = new FakeHelm();
  prepared.prepare('web', 'key', helm.start);
  expect(await prepared.take('web', 'another key')).toBeUndefined();
  expect(helm.isStopped).toBe(true);
});

test('PreparedHelm starts nothing ahead when all places are taken', async () => {
  const { prepared } = lab(1);
  const start = vi.fn<FakeHelm['start']>();
  await prepared.run('web', async () => await Promise.resolve(prepared.prepare('db', 'key', start)), signal);
  expect(start).not.toHaveBeenCalled();
});

test('PreparedHelm stops the helm started ahead when another release needs its place', async () => {
  const { prepared } = lab(1);
  const helm = new FakeHelm();
  prepared.prepare('web', 'key', helm.start);
  await prepared.run('db', async () => await Promise.resolve(), signal);
  expect(helm.isStopped).toBe(true);
});

test('PreparedHelm stops a helm that stays unused, after ten seconds', async () => {
  const { prepared, clock } = lab(2);
  const helm = new FakeHelm();
  prepared.prepare('web', 'key', helm.start);
  await clock.advance(10_000);
  await vi.waitFor(() => expect(helm.isStopped).toBe(true), { timeout: 20_000 });
  expect(prepared.hasRoom).toBe(true);
});

test('PreparedHelm stops the helm that was taken when the run is aborted', async () => {
  const { prepared } = lab(2);
  const helm = new FakeHelm();
  prepared.prepare('web', 'key', helm.start);
  const stopping = new AbortController();
  const taken = await prepared.take('web', 'key');
  const finished = taken?.finish({}, () => Promise.resolve({ type: 'cancel' }), stopping.signal);
  stopping.abort(new Error('the daemon stops'));
  await expect(finished).rejects.toThrow('the daemon stops');
});

test('PreparedHelm does without a helm that could not be started ahead', async () => {
  const { prepared } = lab(2);
  prepared.prepare('web', 'key', () => Promise.reject(new Error('no space left')));
  await pause(0);
  expect(await prepared.take('web', 'key')).toBeUndefined();
  expect(prepared.hasRoom).toBe(true);
});
