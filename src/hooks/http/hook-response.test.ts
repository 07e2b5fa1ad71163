import { expect, test } from 'vitest';
import { type HookResponse, outputsOf, responseFailure } from './hook-response.ts';

function reply(body: string | Buffer, more: Partial<HookResponse> = {}): HookResponse {
  return {
    status: 200,
    contentType: 'application/json',
    location: undefined,
    body: Buffer.from(body),
    ...more,
  };
}

test('outputsOf() gives the texts that an executable would have written, every number as it came', () => {
  const body = `{
    "valuesPatch": [{"op": "add", "path": "/web/a", "value": 9007199254740993}, {"op": "remove", "path": "/web/b"}],
    "configValuesPatch": null,
    "metrics": [{"name": "m", "set": 1.0}],
    "kubernetesPatch": [{"operation": "Delete", "kind": "Pod", "name": "a"}],
    "admissionResponse": {"allowed": true},
    "conversionResponse": {"convertedObjects": []}
  }`;
  expect(outputsOf(reply(body))).toEqual({
    valuesPatch: '{"op":"add","path":"/web/a","value":9007199254740993}\n{"op":"remove","path":"/web/b"}',
    configValuesPatch: '',
    metrics: '{"name":"m","set":1.0}',
    kubernetesPatch: '{"operation":"Delete","kind":"Pod","name":"a"}',
    admissionResponse: '{"allowed":true}',
    conversionResponse: '{"convertedObjects":[]}',
  });
});

test.each([
  ['an empty object', reply('{}')],
  ['nothing', reply('', { contentType: undefined, status: 204 })],
  ['JSON of another name', reply('{}', { contentType: 'application/problem+json; charset=utf-8' })],
])('outputsOf() takes %s for no outcome', (_what, given) => {
  expect(new Set(Object.values(outputsOf(given)))).toEqual(new Set(['']));
});

test.each([
  [
    'a page',
    reply('<html>\n <h1>Log in</h1>', { contentType: 'text/html; charset=utf-8' }),
    'it responded with text/html; charset=utf-8 in place of application/json: <html> <h1>Log in</h1>',
  ],
  ['no type', reply('{}', { contentType: undefined }), 'it responded with no content type in place of'],
  ['a type that only begins so', reply('{}', { contentType: 'application/jsonp' }), 'application/jsonp in'],
  ['broken JSON', reply('{"secret'), 'its response is not valid JSON'],
  ['a list', reply('[]'), 'its response is not a JSON object; known fields: configValuesPatch,'],
  ['a wrong word', reply('{"valuePatch":[]}'), '"valuePatch" (did you mean "valuesPatch"?); known: '],
  ['a patch that is no list', reply('{"valuesPatch":{}}'), 'valuesPatch in its response is not a list'],
  ['a text among operations', reply('{"kubernetesPatch":[{},"a"]}'), 'kubernetesPatch[1] in its response'],
  ['an answer that is none', reply('{"admissionResponse":true}'), 'admissionResponse in its response is not'],
  ['other bytes', reply(Buffer.from([0x22, 0xff, 0x22])), 'its response is not UTF-8'],
])('outputsOf() refuses %s', (_what, given, problem) => {
  expect(() => outputsOf(given)).toThrow(problem);
});

test.each([
  [reply('{"message":"not\\nnow"}', { status: 503 }), 'it responded with status 503: not now'],
  [reply('x'.repeat(1_000), { status: 500 }), `it responded with status 500: ${'x'.repeat(300)}…`],
  [reply('\u001b[31mred', { status: 404 }), 'it responded with status 404: \\u001b[31mred'],
  [reply('', { status: 401 }), 'it responded with status 401'],
  [
    reply('', { status: 302, location: 'https://login/?token=a' }),
    'it responded with a redirect to https://login/ (status 302), which is not followed: set the final address in the file',
  ],
  [reply('', { status: 304 }), 'it responded with status 304'],
  [reply('', { status: 300 }), 'it responded with status 300'],
  [reply('', { status: 200 }), undefined],
])('refusalOf() says why a hook failed', (given, why) => {
  expect(responseFailure(given, 'the file')).toBe(why);
});
