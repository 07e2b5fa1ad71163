import type { KubeObject } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import type { HookResponse } from '../../hooks/http/hook-response.ts';
import { readResponse, type SentRequest, type WebhookResponse } from './webhook-response.ts';

const MODULE: KubeObject = { kind: 'Module', metadata: { name: 'web' }, status: { phase: 'Init' } };
const PRE_RECONCILE: SentRequest = { phase: 'pre-reconcile', object: MODULE, namespace: 'ns' };
const FINALIZE: SentRequest = { ...PRE_RECONCILE, phase: 'finalize' };
const MAP = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
const UNCHANGED: WebhookResponse = { type: 'success', status: undefined, children: undefined };

function responseOf(body: string, status = 200, contentType = 'application/json'): HookResponse {
  return { status, contentType, location: undefined, body: Buffer.from(body) };
}

function read(body: unknown): WebhookResponse {
  return readResponse(responseOf(JSON.stringify(body)), PRE_RECONCILE);
}

test.each(['', ' \n', 'null', '{}', '{"object":null,"children":null}', '{"object":{},"children":{}}'])(
  'readResponse() takes %j for no changes',
  (text) => {
    expect(readResponse(responseOf(text), PRE_RECONCILE)).toEqual(UNCHANGED);
  },
);

test('readResponse() takes of the object its status only, and of the children all', () => {
  const object = { ...MODULE, spec: { a: 1 }, status: { phase: 'Init', endpoint: 'x' } };
  expect(read({ object, children: { any: MAP } })).toEqual({
    type: 'success',
    status: { phase: 'Init', endpoint: 'x' },
    children: [MAP],
  });
  expect(read({ object: { status: { a: 1 } } })).toMatchObject({ status: { a: 1 }, children: undefined });
});

test('readResponse() does not insist on a content type', () => {
  const reply = readResponse(responseOf('{"object":{"status":{"a":1}}}', 200, 'text/plain'), PRE_RECONCILE);
  expect(reply).toMatchObject({ status: { a: 1 } });
});

test('readResponse() keeps integers exact', () => {
  const text = JSON.stringify({ children: { a: MAP } }).replace(
    '"name":"a"',
    '"name":"a","n":12345678901234567890',
  );
  const reply = readResponse(responseOf(text), PRE_RECONCILE);
  expect(JSON.stringify(reply)).toContain('12345678901234567890');
});

test('readResponse() ignores the content of a response to finalize', () => {
  expect(readResponse(responseOf('<html>', 200, 'text/html'), FINALIZE)).toEqual(UNCHANGED);
});

test.each<[string, unknown, string]>([
  ['a list', [], 'its response is not a JSON object'],
  ['an object that is none', { object: 'web' }, 'object in its response is not an object'],
  [
    'the object of another name',
    { object: { ...MODULE, metadata: { name: 'other' } } },
    'object in its response has a different name than the request: "other"',
  ],
  ['the object of another kind', { object: { ...MODULE, kind: 'Pod' } }, 'has a different kind'],
  [
    'a status that is none',
    { object: { status: 'ready' } },
    'object.status in its response is not an object',
  ],
  [
    'a status that is a list',
    { object: { status: [{ a: 1 }] } },
    'object.status in its response is not an object',
  ],
  ['a list of children', { children: [MAP] }, 'children in its response is not an object'],
  [
    'children that are no objects',
    { children: { a: 1, b: { kind: 'ConfigMap', metadata: {} }, c: MAP } },
    'children in its response cannot be applied: "a" is not an object, "b" has no apiVersion, "b" has no metadata.name',
  ],
  [
    'children without a name, or with one that is no text',
    { children: { a: { ...MAP, metadata: null }, b: { ...MAP, metadata: { name: 7 } }, c: [MAP] } },
    'cannot be applied: "a" has no metadata.name, "b" has no metadata.name, "c" is not an object',
  ],
  [
    'many of them',
    { children: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [index, null])) },
    ', and 4 more',
  ],
  [
    'the same object twice',
    { children: { a: MAP, b: MAP } },
    'children in its response cannot be applied: "b" is the same object as "a"',
  ],
  [
    'the same object with its namespace and without',
    { children: { a: MAP, b: { ...MAP, metadata: { name: 'a', namespace: 'ns' } } } },
    '"b" is the same object as "a"',
  ],
])('readResponse() refuses %s', (_name, body, message) => {
  expect(() => read(body)).toThrow(message);
});

test('readResponse() refuses what is nested without end', () => {
  for (const levels of [600, 100_000]) {
    const text = `{"children":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    expect(() => readResponse(responseOf(text), PRE_RECONCILE)).toThrow(
      /^its response (?:has more than 500 levels|is not valid JSON)$/,
    );
  }
});

test('readResponse() takes keys of prototypes for data, and of a key that is there twice the last', () => {
  const status = '{"__proto__": {"phase": "Ready"}, "constructor": 1}';
  const children = '{"__proto__": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}}';
  const text = `{"object": {"status": {"a": 1}, "status": ${status}}, "children": ${children}}`;
  const reply = readResponse(responseOf(text), PRE_RECONCILE);
  expect(reply).toMatchObject({ children: [{ kind: 'Pod' }] });
  expect(JSON.stringify(reply)).toContain(`"status":${status.replaceAll(' ', '')}`);
});

test('readResponse() distinguishes objects that have the same name in other namespaces or groups', () => {
  const children = {
    a: MAP,
    b: { ...MAP, metadata: { name: 'a', namespace: 'other' } },
    c: { ...MAP, apiVersion: 'example.com/v1' },
  };
  expect(read({ children })).toMatchObject({ children: Object.values(children) });
});

test('readResponse() shows what HTML says, and nothing of broken JSON', () => {
  const html = responseOf('<html>\n<b>Welcome</b>', 200, 'text/html');
  expect(() => readResponse(html, PRE_RECONCILE)).toThrow(
    'its response is not JSON (text/html): <html> <b>Welcome</b>',
  );
  const broken = responseOf('{"children": {"password": "swordfish"');
  expect(() => readResponse(broken, PRE_RECONCILE)).toThrow(/^its response is not valid JSON$/);
});

test.each<[string, string, Partial<WebhookResponse>]>([
  [
    'a reason',
    '{"message":"no disk"}',
    { message: 'it responded with status 500: no disk', isPermanent: false, isContinued: false },
  ],
  ['permanent', '{"message":"a","permanent":true}', { isPermanent: true, isContinued: false }],
  ['continue', '{"message":"a","continue":true}', { isPermanent: false, isContinued: true }],
  ['words for booleans', '{"permanent":"true","continue":1}', { isPermanent: false, isContinued: false }],
  [
    'HTML',
    '<h1>Oops</h1>',
    { message: 'it responded with status 500: <h1>Oops</h1>', isPermanent: false, isContinued: false },
  ],
  ['nothing', '', { message: 'it responded with status 500' }],
])('readResponse() understands a refusal with %s', (_name, body, expected) => {
  expect(readResponse(responseOf(body, 500), PRE_RECONCILE)).toMatchObject({
    type: 'refusal',
    ...expected,
  });
  expect(readResponse(responseOf(body, 500), FINALIZE)).toMatchObject({ type: 'refusal', ...expected });
});

test('readResponse() follows no redirect', () => {
  const reply = { ...responseOf('', 302), location: 'http://other/?token=x' };
  expect(readResponse(reply, FINALIZE)).toMatchObject({
    type: 'refusal',
    message: expect.stringMatching(/redirect to http:\/\/other\/ \(status 302\), which is not followed/),
  });
});
