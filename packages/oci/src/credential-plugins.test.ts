import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { kubeletCredentialProvider, type RunPlugin } from './credential-plugins.ts';
import { readDockerConfig } from './docker-config.ts';

const { signal } = new AbortController();

/** Runs with the output that a test chooses, and what was run. */
function pluginWith(respond: (stdin: string) => { readonly exitCode?: number; readonly stdout: string }): {
  readonly run: RunPlugin;
  readonly runs: { readonly command: string; readonly stdin: string }[];
} {
  const runs: { command: string; stdin: string }[] = [];
  const run: RunPlugin = async (program, args, stdin) => {
    runs.push({ command: [program, ...args].join(' '), stdin });
    return await Promise.resolve({ exitCode: 0, ...respond(stdin) });
  };
  return { run, runs };
}

describe('a credential helper of docker', () => {
  const config = {
    credHelpers: { 'a.example.com': 'one' },
    credsStore: 'all',
    auths: { 'b.example.com': { username: 'x', password: 'y' } },
  };
  const find = async (image: string, run?: RunPlugin): Promise<unknown> =>
    await readDockerConfig(JSON.stringify(config), 'config.json', run)(image, signal);

  test('is chosen by the host, else the store is asked', async () => {
    const { run, runs } = pluginWith(() => ({ stdout: '{"ServerURL":"","Username":"me","Secret":"s"}' }));
    expect(await find('a.example.com/web', run)).toEqual({ username: 'me', password: 's' });
    await find('b.example.com/web', run);
    await find('docker.io/library/web', run);
    expect(runs).toEqual([
      { command: 'docker-credential-one get', stdin: 'a.example.com' },
      { command: 'docker-credential-all get', stdin: 'b.example.com' },
      { command: 'docker-credential-all get', stdin: 'https://index.docker.io/v1/' },
    ]);
  });

  test('that has a token for a user gives an identity token', async () => {
    const { run } = pluginWith(() => ({ stdout: '{"Username":"<token>","Secret":"s"}' }));
    expect(await find('a.example.com/web', run)).toEqual({ identityToken: 's' });
  });

  test('without an account leaves it to auths', async () => {
    const { run } = pluginWith(() => ({ exitCode: 1, stdout: 'credentials not found in native keychain\n' }));
    expect(await find('b.example.com/web', run)).toEqual({ username: 'x', password: 'y' });
  });

  test('is not run for a Secret', async () => {
    expect(await find('a.example.com/web')).toBeUndefined();
  });

  for (const [output, problem] of [
    [{ exitCode: 2, stdout: 'secret' }, 'it exited with 2; run it manually to see why'],
    [{ stdout: 'secret' }, 'its output is not JSON'],
    [{ stdout: '{"Secret":"secret"}' }, 'its output lacks Username or Secret'],
  ] as const) {
    test(`that fails is named, and its output is not: ${problem}`, async () => {
      await expect(find('a.example.com/web', pluginWith(() => output).run)).rejects.toMatchObject({
        code: 'REGISTRY_REFUSED',
        message: `Cannot get credentials from docker-credential-one: ${problem}`,
      });
    });
  }
});

describe('a credential provider of the kubelet', () => {
  const response = (fields: object): { readonly stdout: string } => ({
    stdout: JSON.stringify({
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      kind: 'CredentialProviderResponse',
      ...fields,
    }),
  });
  const auth = { '*.example.com': { username: 'me', password: 'p' } };

  test('gets the image, and its response is matched by pattern', async () => {
    const { run, runs } = pluginWith(() => response({ cacheKeyType: 'Registry', cacheDuration: '1h', auth }));
    const find = kubeletCredentialProvider('/plugins/ecr', { run, clock: new FakeClock() });
    expect(await find('a.example.com/team/web', signal)).toEqual({ username: 'me', password: 'p' });
    expect(runs).toEqual([
      {
        command: '/plugins/ecr',
        stdin:
          '{"apiVersion":"credentialprovider.kubelet.k8s.io/v1","kind":"CredentialProviderRequest","image":"a.example.com/team/web"}',
      },
    ]);
  });

  for (const [cacheKeyType, expected] of [
    ['Image', 3],
    ['Registry', 2],
    ['Global', 1],
  ] as const) {
    test(`is run ${expected} times for three images at two hosts, when it caches by ${cacheKeyType}`, async () => {
      const { run, runs } = pluginWith(() => response({ cacheKeyType, cacheDuration: '10m', auth }));
      const clock = new FakeClock();
      const find = kubeletCredentialProvider('/plugins/ecr', { run, clock });
      for (let round = 0; round < 2; round += 1)
        for (const image of ['a.example.com/one', 'a.example.com/two', 'b.example.com/one'])
          await find(image, signal);
      expect(runs).toHaveLength(expected);
      await clock.advance(600_000);
      await find('a.example.com/one', signal);
      expect(runs).toHaveLength(expected + 1);
    });
  }

  test('is run each time, when it says that nothing is kept', async () => {
    const { run, runs } = pluginWith(() => response({ cacheKeyType: 'Global', cacheDuration: '0s', auth }));
    const find = kubeletCredentialProvider('/plugins/ecr', { run, clock: new FakeClock() });
    for (let round = 0; round < 2; round += 1) await find('a.example.com/one', signal);
    expect(runs).toHaveLength(2);
  });

  for (const [output, problem] of [
    [{ exitCode: 1, stdout: 'secret' }, 'it exited with 1'],
    [{ stdout: 'secret' }, 'its output is not JSON'],
    [
      { stdout: '{"kind":"secret"}' },
      'its output is not a CredentialProviderResponse of credentialprovider.kubelet.k8s.io/v1',
    ],
    [response({ cacheKeyType: 'secret', auth }), 'cacheKeyType is neither Image, Registry nor Global'],
    [response({ cacheKeyType: 'Image', cacheDuration: 'secret', auth }), 'cacheDuration is not a duration'],
  ] as const) {
    test(`that fails is named, and its output is not: ${problem}`, async () => {
      const find = kubeletCredentialProvider('/plugins/ecr', {
        run: pluginWith(() => output).run,
        clock: new FakeClock(),
      });
      await expect(find('a.example.com/web', signal)).rejects.toMatchObject({
        code: 'REGISTRY_REFUSED',
        message: `Cannot get credentials from /plugins/ecr: ${problem}`,
      });
    });
  }
});
