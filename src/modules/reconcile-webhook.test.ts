import { expect, test } from 'vitest';
import { type ReconcileWebhook, readReconcileWebhook } from './reconcile-webhook.ts';

const REF = { apiVersion: 'v1', kind: 'Service', name: 'web' };
const HOOK = { version: 'v1', address: { uri: 'http://web/hook' }, capabilities: ['pre-reconcile'] };

function read(value: unknown): ReconcileWebhook {
  const problems: string[] = [];
  const hook = readReconcileWebhook(value, problems);
  expect(problems).toEqual([]);
  if (hook === undefined) throw new Error('there is no hook');
  return hook;
}

function problemsOf(value: unknown): readonly string[] {
  const problems: string[] = [];
  expect(readReconcileWebhook(value, problems)).toBeUndefined();
  return problems;
}

test('readReconcileWebhook() returns undefined for a module without a webhook', () => {
  expect(readReconcileWebhook(undefined, [])).toBeUndefined();
  expect(readReconcileWebhook(null, [])).toBeUndefined();
});

test('readReconcileWebhook() reads a webhook at a URL, with a timeout of 15 seconds', () => {
  expect(read(HOOK)).toEqual({
    address: { type: 'url', url: new URL('http://web/hook') },
    timeoutMs: 15_000,
    capabilities: ['pre-reconcile'],
    definition: HOOK,
  });
});

test('readReconcileWebhook() reads capabilities once each, and an ISO 8601 timeout', () => {
  const hook = read({ ...HOOK, timeout: 'PT1M30S', capabilities: ['finalize', 'pre-reconcile', 'finalize'] });
  expect(hook).toMatchObject({ timeoutMs: 90_000, capabilities: ['finalize', 'pre-reconcile'] });
});

test.each([
  [undefined, { scheme: undefined, port: undefined, path: undefined }],
  ['http://:8080/v1', { scheme: 'http', port: 8080, path: '/v1' }],
  ['HTTPS://', { scheme: 'https', port: undefined, path: undefined }],
  ['/v1?team=a', { scheme: undefined, port: undefined, path: '/v1?team=a' }],
  ['?team=a', { scheme: undefined, port: undefined, path: '/?team=a' }],
])('readReconcileWebhook() takes a reference with the uri %s', (uri, parts) => {
  const address = { ref: { ...REF, namespace: 'infra' }, ...(uri !== undefined && { uri }) };
  expect(read({ ...HOOK, address }).address).toEqual({
    type: 'ref',
    ref: { ...REF, namespace: 'infra' },
    uri: parts,
  });
});

test.each<[string, unknown, readonly string[]]>([
  ['a list', [], ['hook: expected a map with the keys version, address, timeout, capabilities']],
  [
    'the number 1 as its version',
    { ...HOOK, version: 1 },
    ['hook.version: expected v1, the only supported version, got 1'],
  ],
  ['no address', { ...HOOK, address: undefined }, ['hook.address: expected a map with uri, ref or both']],
  [
    'a URL of another scheme',
    { ...HOOK, address: { uri: 'ftp://web' } },
    ['hook.address.uri: expected a URL that begins with http:// or https://, got "ftp://web"'],
  ],
  [
    'a password',
    { ...HOOK, address: { uri: 'http://me:pw@web/#a' } },
    [
      'hook.address.uri: must not contain a user or password',
      'hook.address.uri: must not have a fragment (#…)',
    ],
  ],
  [
    'a host beside a reference',
    { ...HOOK, address: { ref: REF, uri: 'http://web:80/' } },
    [
      'hook.address.uri: must not have a host together with ref, which sets the host: omit it, as in http://:8080/v1',
    ],
  ],
  [
    'a port out of range',
    { ...HOOK, address: { ref: REF, uri: 'http://:70000' } },
    ['hook.address.uri: the port 70000 is not between 1 and 65535'],
  ],
  [
    'a uri beside a reference that is none',
    { ...HOOK, address: { ref: REF, uri: 'v1' } },
    [
      'hook.address.uri: expected the scheme, port and path for the host of ref, such as http://:8080/v1 or /v1, got "v1"',
    ],
  ],
  [
    'a reference without a name',
    { ...HOOK, address: { ref: { apiVersion: 'v1', kind: 'Service', port: 1 } } },
    [
      'hook.address.ref.port: unknown key, expected one of apiVersion, kind, name, namespace',
      'hook.address.ref.name: expected a string, got nothing',
    ],
  ],
  [
    'a Go duration',
    { ...HOOK, timeout: '5s' },
    [
      'hook.timeout: expected an ISO 8601 duration such as PT5S or PT1M30S, with fractions of seconds only, got "5s"',
    ],
  ],
  [
    'too much time',
    { ...HOOK, timeout: 'PT1H' },
    ['hook.timeout: expected more than PT0S and at most PT5M, got "PT1H"'],
  ],
  [
    'no capability',
    { ...HOOK, capabilities: [] },
    ['hook.capabilities: expected a list with pre-reconcile or finalize, or both'],
  ],
  [
    'an unknown capability',
    { ...HOOK, capabilities: ['finalise'] },
    ['hook.capabilities[0]: expected pre-reconcile or finalize, got "finalise" (did you mean "finalize"?)'],
  ],
])('readReconcileWebhook() refuses %s', (_name, value, expected) => {
  expect(problemsOf(value)).toEqual(expected);
});

test('readReconcileWebhook() reports what is wrong with uri and with ref at once', () => {
  const problems = problemsOf({ ...HOOK, address: { uri: 5, ref: { kind: 7 } } });
  expect(problems[0]).toBe('hook.address.uri: expected a string, got 5');
  expect(problems.slice(1).join()).toContain('hook.address.ref.kind');
});

test('readReconcileWebhook() reports every problem at once', () => {
  expect(problemsOf({ version: 2, timeout: 5, retries: 1 })).toEqual([
    'hook.retries: unknown key, expected one of version, address, timeout, capabilities',
    'hook.version: expected v1, the only supported version, got 2',
    'hook.address: expected a map with uri, ref or both',
    'hook.timeout: expected an ISO 8601 duration such as PT5S or PT1M30S, with fractions of seconds only, got 5',
    'hook.capabilities: expected a list with pre-reconcile or finalize, or both',
  ]);
});
