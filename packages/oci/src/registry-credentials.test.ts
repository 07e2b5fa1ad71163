import { hasCode, messageOf } from '@addon-operator/base/errors';
import { array, assert as assertProperty, constantFrom, property, uniqueArray } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDockerConfig } from './docker-config.ts';
import { credentialFor } from './registry-credentials.ts';

const { signal } = new AbortController();
const user = (username: string): { readonly username: string; readonly password: string } => ({
  username,
  password: 'secret',
});

describe('the account of a repository', () => {
  const chosen = (image: string, ...patterns: readonly string[]): string | undefined => {
    const found = credentialFor(
      image,
      Object.fromEntries(patterns.map((pattern) => [pattern, user(pattern)])),
    );
    return found && 'username' in found ? found.username : undefined;
  };

  for (const [image, patterns, expected] of [
    ['registry.example.com/team/web', ['registry.example.com'], 'registry.example.com'],
    [
      'registry.example.com/team/web',
      ['registry.example.com', 'registry.example.com/team'],
      'registry.example.com/team',
    ],
    [
      'registry.example.com/team/web',
      ['registry.example.com/team/web', 'registry.example.com/team'],
      'registry.example.com/team/web',
    ],
    ['registry.example.com/team2/web', ['registry.example.com/team'], undefined],
    ['registry.example.com/team', ['registry.example.com/team/web'], undefined],
    ['registry.example.com:5000/web', ['registry.example.com'], undefined],
    ['registry.example.com:5000/web', ['registry.example.com:5000'], 'registry.example.com:5000'],
    ['registry.example.com/web', ['registry.example.com.evil.org'], undefined],
    ['registry.example.com/web', ['https://registry.example.com'], 'https://registry.example.com'],
    ['registry.example.com/web', ['https://registry.example.com/v2/'], 'https://registry.example.com/v2/'],
    ['registry.example.com/web', ['Registry.Example.Com'], 'Registry.Example.Com'],
    ['docker.io/library/busybox', ['https://index.docker.io/v1/'], 'https://index.docker.io/v1/'],
    ['docker.io/team/web', ['docker.io/team', 'https://index.docker.io/v1/'], 'docker.io/team'],
    ['1.dkr.ecr.eu-west-1.amazonaws.com/web', ['*.dkr.ecr.*.amazonaws.com'], '*.dkr.ecr.*.amazonaws.com'],
    ['1.dkr.ecr.eu.west.amazonaws.com/web', ['*.dkr.ecr.*.amazonaws.com'], undefined],
    ['a.example.com/web', ['*.example.com', 'a.example.com'], 'a.example.com'],
    ['a.example.com/web', ['*'], undefined],
    ['axexample.com/web', ['a.example.com'], undefined],
    ['a.example.com/web', [], undefined],
  ] as const) {
    test(`of ${image} is ${expected} of ${patterns.join(', ')}`, () => {
      expect(chosen(image, ...patterns)).toBe(expected);
      expect(chosen(image, ...patterns.toReversed())).toBe(expected);
    });
  }

  test('is one whose pattern is the begin of it, and none is longer', () => {
    const part = constantFrom('a', 'b', 'ab');
    const path = array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    assertProperty(
      property(path, uniqueArray(path, { maxLength: 6 }), (image, patterns) => {
        const fitting = patterns.filter((pattern) => `${image}/`.startsWith(`${pattern}/`));
        expect(chosen(image, ...patterns)).toBe(fitting.toSorted((a, b) => b.length - a.length)[0]);
      }),
    );
  });
});

describe('a config.json of docker', () => {
  const read = async (config: unknown, image = 'registry.example.com/web'): Promise<unknown> =>
    await readDockerConfig(JSON.stringify(config), 'the Secret', undefined)(image, signal);
  const auths = (entry: unknown): unknown => ({ auths: { 'registry.example.com': entry } });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');

  for (const [name, entry, expected] of [
    ['auth', { auth: base64('me:pa:ss') }, { username: 'me', password: 'pa:ss' }],
    [
      'auth before a user and a password',
      { auth: base64('me:a'), username: 'x', password: 'y' },
      { username: 'me', password: 'a' },
    ],
    ['a user and a password', { username: 'x', password: 'y' }, { username: 'x', password: 'y' }],
    ['an identity token', { auth: base64('me:a'), identitytoken: 'token' }, { identityToken: 'token' }],
    ['auth padded by old clients', { auth: base64('me:a\0\0') }, { username: 'me', password: 'a' }],
    ['nothing', {}, undefined],
    ['null', null, undefined],
  ] as const) {
    test(`with ${name} is read`, async () => {
      expect(await read(auths(entry))).toEqual(expected);
    });
  }

  test('without auths has no accounts', async () => {
    expect(await read({})).toBeUndefined();
  });

  for (const content of [
    '',
    'auth: secret',
    '"secret"',
    '[]',
    `{"auths": {"a": {"auth": "${base64('secret')}"}}}`,
  ]) {
    test(`${content.slice(0, 20)} is refused without showing it`, () => {
      let error: unknown;
      try {
        readDockerConfig(content, 'the Secret');
      } catch (thrown) {
        error = thrown;
      }
      expect(hasCode(error, 'SOURCE_INVALID')).toBe(true);
      expect(messageOf(error)).not.toContain('secret');
    });
  }
});
