import { expect, test } from 'vitest';
import { refusal } from './api-refusal.ts';
import { requestIfPresent } from './kube-client.ts';

const signal = new AbortController().signal;

function responding(status: number, body: string) {
  const title = 'GET /api/v1/namespaces/a/secrets/b';
  return { request: () => Promise.reject(refusal(title, { status, body, retryAfter: undefined })) };
}

const ask = (status: number, body: string) =>
  requestIfPresent(responding(status, body), { method: 'GET', path: '/' }, signal);

test.each([
  ['a Status object', '{"kind":"Status","reason":"NotFound","message":"secrets \\"b\\" not found"}'],
  ['the text about kinds that are not served', '404 page not found\n'],
])('requestIfPresent() returns undefined, when the API server responds with %s', async (_what, body) => {
  expect(await ask(404, body)).toBe(undefined);
});

test.each([
  [404, '<html>No such page</html>'],
  [404, ''],
  [404, '{"kind":"Status","reason":"Expired"}'],
  [403, '{"kind":"Status","reason":"Forbidden"}'],
])('requestIfPresent() fails, when the response is %i %s', async (status, body) => {
  await expect(ask(status, body)).rejects.toMatchObject({ code: 'KUBE_API', status });
});
