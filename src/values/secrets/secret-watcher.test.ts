import { silentLogger } from '@addon-operator/base/log';
import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import type { ReflectorSink, SharedReflectors } from '@addon-operator/kube-client/reflector-sink';
import { expect, test } from 'vitest';
import { JumpClock } from '../../../test/support/jump-clock.ts';
import type { SecretReference } from './secret-reference.ts';
import { SecretWatcher } from './secret-watcher.ts';

const pw: SecretReference = { namespace: 'ns', name: 'db', key: 'pw', isOptional: false };

function secret(data: Readonly<Record<string, string>>): KubeObject {
  const pairs = Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return { metadata: { name: 'db', namespace: 'ns' }, data: Object.fromEntries(pairs) as object };
}

/** A watcher on an API server that holds at most this Secret, and refuses while `failures` are left. */
function lab(initial: KubeObject | undefined, failures = 0) {
  const clock = new JumpClock();
  const selections: string[] = [];
  const signals: AbortSignal[] = [];
  const texts: string[] = [];
  const changes: string[] = [];
  let sink: ReflectorSink | undefined;
  let left = failures;
  const reflectors: SharedReflectors = {
    subscribe: async (selection, to, signal) => {
      if (left > 0) {
        left -= 1;
        throw new Error('secrets are forbidden');
      }
      selections.push(`${selection.namespace} ${selection.fieldSelector}`);
      signals.push(signal);
      sink = to;
      await to.stage(initial === undefined ? [] : [initial]);
      to.commit();
    },
  };
  const watcher = new SecretWatcher({
    reflectors,
    clock,
    random: () => 0,
    log: silentLogger,
    redactor: {
      add: (text) => texts.push(text),
      release: (text) => texts.splice(texts.indexOf(text), 1),
    },
    onChange: (references) => changes.push(...references.map(({ key }) => key)),
    stop: new AbortController().signal,
  });
  const apply = async (object: KubeObject | undefined): Promise<void> => {
    await sink?.apply(
      object === undefined ? { type: 'Deleted', key: '', object } : { type: 'Modified', key: '', object },
    );
  };
  return { watcher, clock, selections, signals, texts, changes, apply };
}

test('follow() reads the Secret once for all its keys, and reports their content', async () => {
  const { watcher, selections, texts, changes } = lab(secret({ pw: 'one', user: 'me', other: 'x' }));
  expect(watcher.lookup(pw)).toMatchObject({ type: 'unknown' });
  await watcher.follow([pw, { ...pw, key: 'user' }]);
  await watcher.follow([pw]);
  expect(watcher.lookup(pw)).toEqual({ type: 'known', text: 'one' });
  expect(selections).toEqual(['ns metadata.name=db']);
  expect(texts).toEqual(['one', 'me']);
  expect(changes).toEqual([]);
});

test('a change of a followed key is reported, any other is not', async () => {
  const { watcher, changes, apply } = lab(secret({ pw: 'one' }));
  await watcher.follow([pw]);
  await apply(secret({ pw: 'one', other: 'new' }));
  expect(changes).toEqual([]);
  await apply(secret({ pw: 'two' }));
  expect(changes).toEqual(['pw']);
  await apply(undefined);
  expect(watcher.lookup(pw)).toMatchObject({
    type: 'absent',
    why: expect.stringContaining('the Secret does not exist'),
  });
  await apply(secret({}));
  expect(watcher.lookup(pw)).toMatchObject({ type: 'absent', why: expect.stringContaining('no such key') });
  expect(changes).toEqual(['pw', 'pw']);
});

test('a Secret that cannot be read is tried again, and then reported', async () => {
  const { watcher, clock, changes } = lab(secret({ pw: 'one' }), 2);
  await watcher.follow([pw]);
  expect(watcher.lookup(pw)).toEqual({ type: 'unknown', why: 'it cannot be read: secrets are forbidden' });
  while (changes.length === 0) {
    clock.jump(60_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(watcher.lookup(pw)).toEqual({ type: 'known', text: 'one' });
});

test('keepOnly() ends what is not referred to any more', async () => {
  const { watcher, signals } = lab(secret({ pw: 'one' }));
  await watcher.follow([pw]);
  watcher.keepOnly([pw]);
  expect(signals[0]?.aborted).toBe(false);
  watcher.keepOnly([]);
  expect(signals[0]?.aborted).toBe(true);
  expect(watcher.lookup(pw)).toMatchObject({ type: 'unknown' });
});

test('a string is masked once for each key, until the key has another one or is not followed any more', async () => {
  const { watcher, texts, apply } = lab(secret({ pw: 'one', user: 'me' }));
  const user = { ...pw, key: 'user' };
  await watcher.follow([pw, user]);
  await watcher.follow([pw, user]);
  await apply(secret({ pw: 'two', user: 'me' }));
  expect(texts.toSorted()).toEqual(['me', 'two']);
  await apply(undefined);
  await apply(secret({ pw: 'me', user: 'me' }));
  expect(texts).toEqual(['me', 'me']);
  watcher.keepOnly([pw]);
  expect(texts).toEqual(['me', 'me']);
  watcher.keepOnly([]);
  expect(texts).toEqual([]);
});

test('a value that is no UTF-8 text is not used', async () => {
  const { watcher } = lab({ metadata: { name: 'db' }, data: { pw: Buffer.from([0xff]).toString('base64') } });
  await watcher.follow([pw]);
  expect(watcher.lookup(pw)).toEqual({ type: 'unknown', why: 'its value is not UTF-8' });
});
