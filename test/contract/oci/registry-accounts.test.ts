import { randomBytes } from 'node:crypto';
import { messageOf } from '@addon-operator/base/errors';
import { readDockerConfig } from '@addon-operator/oci/docker-config';
import { openRepository, RegistrySession } from '@addon-operator/oci/open-repository';
import type { CredentialSource } from '@addon-operator/oci/registry-credentials';
import type { WritableRepository } from '@addon-operator/oci/repository';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { ACCOUNTS, type AccountName, basicOf, dockerConfigFor } from '../../support/oci/accounts.ts';
import { pushArtifact } from '../../support/oci/artifacts.ts';
import { DistributionRegistry } from '../../support/oci/distribution-registry.ts';
import { FaultRegistry } from '../../support/oci/fault-registry.ts';
import { describeRegistries } from '../../support/oci/oci-suite.ts';
import { TokenServer } from '../../support/oci/token-server.ts';

const { signal } = new AbortController();

const rejectionOf = async (work: Promise<unknown>): Promise<unknown> =>
  await work.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
const account = (name: AccountName, password: string = ACCOUNTS[name].password): CredentialSource => {
  return async () => await Promise.resolve({ username: name, password });
};

describeRegistries('accounts of a registry', () => {
  let basic: DistributionRegistry;
  let tokens: DistributionRegistry;
  let faults: FaultRegistry;
  beforeAll(async () => {
    basic = await DistributionRegistry.start(signal, { auth: 'basic' });
    tokens = await DistributionRegistry.start(signal, { auth: 'token' });
    faults = await FaultRegistry.start(signal);
  });
  afterEach(() => {
    issued().splice(0);
  });
  afterAll(async () => {
    for (const registry of [basic, tokens, faults]) await registry[Symbol.asyncDispose]();
  });

  const server = (): TokenServer => tokens.tokens ?? expect.unreachable();
  const issued = (): TokenServer['issued'] => server().issued;
  const open = (
    registry: DistributionRegistry,
    name: string,
    credentials?: CredentialSource,
  ): WritableRepository =>
    openRepository(registry.url(name), { clock: new FakeClock(), ...(credentials && { credentials }) });

  for (const [kind, registry] of [
    ['Basic', () => basic],
    ['tokens', () => tokens],
  ] as const) {
    test(`an account of a docker config pushes and pulls with ${kind}`, async () => {
      const config = readDockerConfig(dockerConfigFor(registry().host, 'alice'), 'config.json');
      const repository = open(registry(), 'alice/web', config);
      const { descriptor } = await pushArtifact(repository, '1.0.0', randomBytes(10));
      expect(await repository.resolve('1.0.0', signal)).toEqual(descriptor);
      expect(await repository.tags(signal)).toEqual(['1.0.0']);
    });

    test(`a wrong password is refused with ${kind}, and not shown`, async () => {
      const error = await rejectionOf(open(registry(), 'alice/web', account('alice', 'not-it')).tags(signal));
      expect(error).toMatchObject({ code: 'REGISTRY_REFUSED' });
      expect(messageOf(error)).toMatch(/401/);
      expect(messageOf(error)).not.toContain('not-it');
      expect(messageOf(error)).not.toContain(Buffer.from('alice:not-it').toString('base64'));
    });

    test(`a request without an account is refused with ${kind}`, async () => {
      await expect(open(registry(), 'alice/web').tags(signal)).rejects.toMatchObject({
        code: 'REGISTRY_REFUSED',
      });
    });
  }

  test('a token is requested once for each repository and kind of access', async () => {
    const repository = open(tokens, 'alice/scopes', account('alice'));
    await pushArtifact(repository, '1.0.0', randomBytes(10));
    await repository.tags(signal);
    await repository.resolve('1.0.0', signal);
    expect(issued().map(({ scopes }) => scopes)).toEqual([
      ['repository:alice/scopes:pull,push'],
      ['repository:alice/scopes:pull'],
    ]);
  });

  test('a token is replaced when nine tenths of its time are over', async () => {
    const clock = new FakeClock();
    const repository = openRepository(tokens.url('alice/web'), { clock, credentials: account('alice') });
    await pushArtifact(open(tokens, 'alice/web', account('alice')), '1.0.0', randomBytes(10));
    issued().splice(0);
    await repository.tags(signal);
    await clock.advance(269_999);
    await repository.tags(signal);
    expect(issued()).toHaveLength(1);
    await clock.advance(1);
    await repository.tags(signal);
    expect(issued()).toHaveLength(2);
  });

  test('a token that the registry refuses is replaced once', async () => {
    await pushArtifact(
      openRepository(faults.url('alice/web'), { clock: new FakeClock() }),
      '1.0.0',
      randomBytes(10),
    );
    const repository = openRepository(faults.url('alice/web'), {
      clock: new FakeClock(),
      credentials: account('alice'),
    });
    const refusal = {
      path: '/v2/',
      status: 401,
      headers: { 'WWW-Authenticate': `Bearer realm="${server().realm}",service="registry.test"` },
    };
    await faults.setFaults({ ...refusal, times: 1 });
    await repository.tags(signal);
    await faults.setFaults({ ...refusal, times: 1 });
    await repository.tags(signal);
    expect(issued()).toHaveLength(2);
    await faults.setFaults(refusal);
    await faults.clearLog();
    await expect(repository.tags(signal)).rejects.toMatchObject({ code: 'REGISTRY_REFUSED' });
    expect(issued()).toHaveLength(3);
    const sent = (await faults.accessLog()).map(({ authorization }) => authorization);
    expect(sent).toEqual(
      issued()
        .slice(1)
        .map(({ token }) => `Bearer ${token}`),
    );
    await faults.setFaults();
  });

  test('two accounts at one registry never use the token of each other', async () => {
    const sessions = (['alice', 'bob'] as const).map((name) => ({
      name,
      session: new RegistrySession({ clock: new FakeClock(), credentials: account(name) }),
    }));
    const config = JSON.stringify({
      auths: {
        [`${tokens.host}/alice`]: { auth: basicOf('alice') },
        [`${tokens.host}/bob`]: { auth: basicOf('bob') },
      },
    });
    const one = new RegistrySession({
      clock: new FakeClock(),
      credentials: readDockerConfig(config, 'config.json'),
    });
    for (const { name, session } of sessions)
      await pushArtifact(session.open(tokens.url(`${name}/web`)), '1.0.0', randomBytes(10));
    issued().splice(0);
    // The same repository for both of them, and one session with both accounts.
    for (const { session } of [...sessions, ...sessions]) {
      await rejectionOf(session.open(tokens.url('shared/none')).tags(signal));
    }
    for (const name of ['alice', 'bob'] as const) {
      expect(await one.open(tokens.url(`${name}/web`)).tags(signal)).toEqual(['1.0.0']);
      const other = name === 'alice' ? 'bob' : 'alice';
      await expect(
        sessions
          .find((entry) => entry.name === other)
          ?.session.open(tokens.url(`${name}/web`))
          .tags(signal),
      ).rejects.toMatchObject({ code: 'REGISTRY_REFUSED' });
    }
    const uses = issued().map(({ account: name, scopes }) => `${name} ${scopes.join(' ')}`);
    expect(uses).toEqual([
      'alice repository:shared/none:pull',
      'bob repository:shared/none:pull',
      'alice repository:alice/web:pull',
      'bob repository:alice/web:pull',
      'bob repository:bob/web:pull',
      'alice repository:bob/web:pull',
    ]);
  });

  test('an account that was replaced never uses the token of the previous one', async () => {
    let name: AccountName = 'alice';
    const credentials: CredentialSource = async (...args) => await account(name)(...args);
    const repository = open(tokens, 'shared/rotated', credentials);
    await rejectionOf(repository.tags(signal));
    name = 'bob';
    await rejectionOf(repository.tags(signal));
    expect(issued().map((entry) => entry.account)).toEqual(['alice', 'bob']);
  });

  test('a token server that asks to wait is not asked again', async () => {
    await using busy = await FaultRegistry.start(signal);
    await busy.setFaults({ path: '/token', status: 429, headers: { 'Retry-After': '60' } });
    const challenge = { 'WWW-Authenticate': `Bearer realm="http://${busy.host}/token",service="x"` };
    await faults.setFaults({ path: '/v2/', status: 401, headers: challenge });
    const repository = openRepository(faults.url('alice/web'), {
      clock: new FakeClock(),
      credentials: account('alice'),
    });
    const error = await rejectionOf(repository.tags(signal));
    await faults.setFaults();
    expect(error).toMatchObject({ code: 'REGISTRY_UNREACHABLE', retryAfterMs: 60_000 });
    expect(messageOf(error)).toContain(
      'returned 429 with the account that was given; it asks to wait for 60 s',
    );
    expect(await busy.accessLog()).toHaveLength(1);
  });

  test('an identity token is exchanged for a token', async () => {
    const identityToken = TokenServer.refreshTokenOf('alice');
    const credentials: CredentialSource = async () => await Promise.resolve({ identityToken });
    const repository = open(tokens, 'alice/identity', credentials);
    await pushArtifact(repository, '1.0.0', randomBytes(10));
    expect(await repository.tags(signal)).toEqual(['1.0.0']);
    expect(issued().map((entry) => entry.account)).toEqual(['alice', 'alice']);
  });

  test('a registry that repeats what it was sent gives no account away', async () => {
    const credentials = account('alice');
    const repository = openRepository(faults.url('alice/echo'), { clock: new FakeClock(), credentials });
    const body = JSON.stringify({ errors: [{ code: 'DENIED', message: `no: ${basicOf('alice')}` }] });
    await faults.setFaults({
      path: '/v2/',
      status: 401,
      body,
      headers: { 'WWW-Authenticate': 'Basic realm="x"' },
    });
    const error = await rejectionOf(repository.tags(signal));
    expect(messageOf(error)).toMatch(/returned 401: DENIED no: \*\*\*$/);
    await faults.setFaults();
  });

  test('an account is sent to no other host that an upload is referred to', async () => {
    await using other = await FaultRegistry.start(signal);
    await faults.setFaults(
      {
        method: 'POST',
        path: '/uploads/',
        status: 202,
        headers: { Location: `http://${other.host}/v2/x/blobs/uploads/1` },
      },
      {
        method: 'GET',
        path: '/tags/',
        times: 1,
        status: 401,
        headers: { 'WWW-Authenticate': 'Basic realm="x"' },
      },
      {
        method: 'HEAD',
        path: '/v2/',
        times: 1,
        status: 401,
        headers: { 'WWW-Authenticate': 'Basic realm="x"' },
      },
    );
    const repository = openRepository(faults.url('alice/elsewhere'), {
      clock: new FakeClock(),
      credentials: account('alice'),
    });
    await pushArtifact(repository, '1.0.0', randomBytes(10));
    const requests = await other.accessLog();
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.map(({ authorization }) => authorization)).toEqual(requests.map(() => undefined));
    expect((await faults.accessLog()).at(-1)?.authorization).toBe(`Basic ${basicOf('alice')}`);
    await faults.setFaults();
  });
});
