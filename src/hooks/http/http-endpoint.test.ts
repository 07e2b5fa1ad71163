import { expect, test } from 'vitest';
import { HttpHookParser, secretsOf, shownUrl } from './http-endpoint.ts';

const parser = new HttpHookParser('own');

function problemOf(text: string): string {
  try {
    parser.parse(text, '/hooks/a.http.yaml');
  } catch (error) {
    return String(error);
  }
  throw new Error('it was accepted');
}

test('parse() separates where the hook is from its configuration, which gets its version', () => {
  const { endpoint, config } = parser.parse(
    'address: https://hooks.shop:8443/a?b=c\ntimeout: 1m5s\nonStartup: 1\n',
    '/hooks/a.http.yaml',
  );
  expect(endpoint).toMatchObject({ timeoutMs: 65_000, ca: undefined, bearerToken: undefined });
  expect(endpoint.url.href).toBe('https://hooks.shop:8443/a?b=c');
  expect(shownUrl(endpoint.url)).toBe('https://hooks.shop:8443/a');
  expect(secretsOf(endpoint)).toEqual([]);
  expect(JSON.parse(config)).toEqual({ configVersion: 'v1', onStartup: 1 });
});

test('parse() resolves Secrets in the own namespace by default, and files beside the hook', () => {
  const text = `
address: https://hooks.shop/
tls:
  ca: {file: lib/ca.pem}
  clientCertificate: {secretRef: {name: client, namespace: other}}
auth: {bearerToken: {secretKeyRef: {name: tokens, key: a}}}
`;
  const { endpoint } = parser.parse(text, '/hooks/deep/a.http.yaml');
  expect(endpoint.ca).toEqual({ type: 'file', path: '/hooks/deep/lib/ca.pem' });
  expect(secretsOf(endpoint)).toEqual([
    { namespace: 'other', name: 'client', key: 'tls.crt', isOptional: false },
    { namespace: 'other', name: 'client', key: 'tls.key', isOptional: false },
    { namespace: 'own', name: 'tokens', key: 'a', isOptional: false },
  ]);
});

test.each([
  ['no address', 'onStartup: 1', 'address is required'],
  [
    'an address that is none',
    'address: hooks.shop',
    'address must be a URL that begins with http:// or https://',
  ],
  ['another protocol', 'address: file:///etc/passwd', 'address must be a URL that begins with http'],
  ['an address of another type', 'address: 5', 'address must be of type string: "number"'],
  ['a password', 'address: http://a:geheim@b/', 'address must not contain a user or password'],
  ['a fragment', 'address: http://b/#c', 'address must not have a fragment'],
  ['tls without https', 'address: http://b/\ntls: {ca: {file: a}}', 'tls requires an address'],
  [
    'two authorities',
    'address: https://b/\ntls: {ca: {file: a, secretKeyRef: {name: a, key: b}}}',
    'tls.ca must NOT have more than 1 properties',
  ],
  [
    'a wrong word',
    'address: https://b/\nauth: {bearertoken: {}}',
    'auth.bearertoken is a forbidden property (did you mean "bearerToken"?)',
  ],
  ['a bad limit', 'address: http://b/\ntimeout: fast', "timeout is invalid: 'fast' is not a duration"],
  ['a limit of nothing', 'address: http://b/\ntimeout: 0s', 'timeout must be more than 0'],
  [
    'two limits',
    'address: http://b/\ntimeout: 1s\nsettings: {timeout: 1s}',
    'timeout and settings.timeout are the same setting',
  ],
  ['the old format', 'configVersion: v0\naddress: http://b/', "configVersion must be 'v1'"],
  ['no mapping', '- a', 'a mapping is expected'],
  ['broken YAML', 'address: [', 'config unmarshal'],
])('parse() refuses %s', (_what, text, problem) => {
  const said = problemOf(text);
  expect(said).toContain(problem);
  expect(said).not.toContain('geheim');
});
