import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import type { ClusterAccess, Identity } from './cluster-access.ts';
import { CredentialStore, type PluginCredentials } from './credentials.ts';

const signal = new AbortController().signal;

function accessOf(identity: Identity, tls: ClusterAccess['tls'] = { isVerified: true }): ClusterAccess {
  return { server: 'https://a', currentNamespace: 'default', source: '/kc', tls, identity };
}

function storeOf(access: ClusterAccess, texts: Map<string, string>, plugin?: PluginCredentials) {
  const clock = new FakeClock();
  const store = new CredentialStore(access, {
    clock,
    readFile: async (path) => {
      const text = texts.get(path);
      if (text === undefined) throw new Error('no such file');
      return text;
    },
    loadPlugin: async () => plugin ?? (async () => ({})),
  });
  return { clock, store };
}

const tokenFile: Identity = { type: 'token', token: { type: 'file', path: '/token' } };

test('CredentialStore makes the Authorization header of a token and of a password', async () => {
  const token = storeOf(accessOf({ type: 'token', token: { type: 'text', text: 'abc\n' } }), new Map());
  expect(await token.store.current(signal)).toEqual({ authorization: 'Bearer abc' });
  const basic = storeOf(accessOf({ type: 'basic', username: 'joe', password: 'pä' }), new Map());
  expect(await basic.store.current(signal)).toEqual({
    authorization: `Basic ${Buffer.from('joe:pä').toString('base64')}`,
  });
});

test('CredentialStore uses a rotated token, CA and certificate within 60 s', async () => {
  const texts = new Map([
    ['/token', 'one'],
    ['/ca', 'CA1'],
    ['/crt', 'C1'],
    ['/key', 'K1'],
  ]);
  const { clock, store } = storeOf(
    accessOf(tokenFile, {
      isVerified: true,
      ca: { type: 'file', path: '/ca' },
      client: { cert: { type: 'file', path: '/crt' }, key: { type: 'file', path: '/key' } },
    }),
    texts,
  );
  const first = { authorization: 'Bearer one', ca: 'CA1', cert: 'C1', key: 'K1' };
  expect(await store.current(signal)).toEqual(first);
  for (const [path, text] of texts) texts.set(path, text.replace('1', '2').replace('one', 'two'));
  await clock.advance(29_999);
  expect(await store.current(signal)).toEqual(first);
  await clock.advance(30_001);
  expect(await store.current(signal)).toEqual({
    authorization: 'Bearer two',
    ca: 'CA2',
    cert: 'C2',
    key: 'K2',
  });
});

test('CredentialStore reads at once when the server refused the token', async () => {
  const texts = new Map([['/token', 'one']]);
  const { store } = storeOf(accessOf(tokenFile), texts);
  await store.current(signal);
  texts.set('/token', 'two');
  expect(await store.refresh(signal)).toEqual({ authorization: 'Bearer two' });
  expect(await store.current(signal)).toEqual({ authorization: 'Bearer two' });
});

test('CredentialStore keeps what it has while a file is being replaced', async () => {
  const texts = new Map([['/token', 'one']]);
  const { clock, store } = storeOf(accessOf(tokenFile), texts);
  await store.current(signal);
  texts.delete('/token');
  await clock.advance(60_000);
  expect(await store.current(signal)).toEqual({ authorization: 'Bearer one' });
});

test('CredentialStore names the file that it cannot read, and never shows a broken token', async () => {
  const { store } = storeOf(accessOf(tokenFile), new Map());
  await expect(store.current(signal)).rejects.toThrow('/kc: token: /token cannot be read');
  const broken = storeOf(accessOf(tokenFile), new Map([['/token', 'canary one\ntwo']]));
  await expect(broken.store.current(signal)).rejects.not.toThrow(/canary/);
});

test('CredentialStore calls a plug-in, and calls it again when its credentials were refused', async () => {
  const forced: boolean[] = [];
  const { store } = storeOf(
    accessOf({ type: 'plugin', user: { name: 'u' } }),
    new Map(),
    async (isForced) => {
      forced.push(isForced);
      return { authorization: `Bearer ${forced.length}` };
    },
  );
  expect(await store.current(signal)).toEqual({ authorization: 'Bearer 1' });
  expect(await store.refresh(signal)).toEqual({ authorization: 'Bearer 2' });
  expect(forced).toEqual([false, true]);
});

test('CredentialStore reads files again after 30 s, when the wall clock was set back', async () => {
  const texts = new Map([['/token', 'one']]);
  const { clock, store } = storeOf(accessOf(tokenFile), texts);
  await store.current(signal);
  texts.set('/token', 'two');
  clock.setWall(-3_600_000);
  await clock.advance(30_000);
  expect(await store.current(signal)).toEqual({ authorization: 'Bearer two' });
});
