import { hasCode } from '@addon-operator/base/errors';
import { describe, expect, test } from 'vitest';
import { parseRepositoryUrl } from './repository-url.ts';

const registry = (host: string, name: string): unknown => ({ type: 'registry', host, name });

describe('a URL of a repository', () => {
  for (const [url, expected] of [
    ['oci://registry.example.com/platform/web', registry('registry.example.com', 'platform/web')],
    ['oci://localhost:5000/web/', registry('localhost:5000', 'web')],
    ['oci://[::1]:5000/web', registry('[::1]:5000', 'web')],
    ['oci://Registry.Example.Com/a__b/c-d.e', registry('registry.example.com', 'a__b/c-d.e')],
    ['oci://docker.io/busybox', registry('docker.io', 'library/busybox')],
    ['oci://docker.io/team/web', registry('docker.io', 'team/web')],
    ['oci-layout:///modules/web', { type: 'layout', directory: '/modules/web' }],
    ['oci-layout:///with%20space', { type: 'layout', directory: '/with space' }],
  ] as const) {
    test(`${url} is read`, () => {
      expect(parseRepositoryUrl(url)).toEqual(expected);
    });
  }

  for (const url of [
    '',
    'registry.example.com/web',
    'https://registry.example.com/web',
    'oci://',
    'oci://registry.example.com',
    'oci:///web',
    'oci://registry.example.com/Web',
    'oci://registry.example.com/web:1.0.0',
    'oci://registry.example.com/../web',
    'oci://registry.example.com/a//b',
    'oci://registry.example.com/web?x=y',
    'oci://registry.example.com:http/web',
    'oci-layout://modules/web',
    `oci://registry.example.com/${'a'.repeat(256)}`,
  ]) {
    test(`${url.slice(0, 60)} is refused`, () => {
      expect(() => parseRepositoryUrl(url)).toThrow(
        expect.toSatisfy((error) => hasCode(error, 'SOURCE_INVALID')),
      );
    });
  }

  test('one with a password is refused without showing it', () => {
    expect(() => parseRepositoryUrl('oci://me:secret@registry.example.com/web')).toThrow(
      'a URL of a registry: credentials belong into a Secret or into the docker config, not into the URL',
    );
  });
});
