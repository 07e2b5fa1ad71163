import { expect, test } from 'vitest';
import { type AdmissionReview, admissionResponse, parseAdmissionReview } from './admission-review.ts';

const REVIEW = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":';

function parse(text: string): AdmissionReview {
  const parsed = parseAdmissionReview(text);
  if ('status' in parsed) throw new Error(parsed.body);
  return parsed;
}

test('the request keeps its numbers as written, and has objects and options in any case', () => {
  const { request, uid } = parse(`${REVIEW}{"uid":"6f","object":{"a":1.0,"b":9007199254740993}}}`);
  expect(uid).toBe('6f');
  expect(JSON.stringify(request)).toBe(
    '{"uid":"6f","object":{"a":1.0,"b":9007199254740993},"oldObject":null,"options":null}',
  );
});

test('keys of prototypes stay data', () => {
  const { request } = parse(`${REVIEW}{"object":{"__proto__":{"x":1},"constructor":2}}}`);
  expect(JSON.stringify(request['object'])).toBe('{"__proto__":{"x":1},"constructor":2}');
});

test.each([
  ['{', 'Invalid JSON payload'],
  ['[]', 'Invalid JSON payload'],
  ['', 'Invalid JSON payload'],
  ['{}', 'Missing parameters: request'],
  ['{"request":"x"}', 'Missing parameters: request'],
])('%s is a bad request', (body, message) => {
  expect(parseAdmissionReview(body)).toEqual({ status: 400, type: 'text', body: message });
});

test('the response echoes version, kind and uid without the request', () => {
  const review = parse(
    '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"6f"}}',
  );
  const reply = admissionResponse(review, { type: 'allowed', warnings: ['w'], patch: 'W10=' });
  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.body)).toEqual({
    apiVersion: 'admission.k8s.io/v1beta1',
    kind: 'AdmissionReview',
    response: { uid: '6f', allowed: true, warnings: ['w'], patch: 'W10=', patchType: 'JSONPatch' },
  });
});

test('a denial has code and message, and no patch where there is none', () => {
  const review = parse(`${REVIEW}{"uid":"6f"}}`);
  const denied = { type: 'denied', code: 403, message: 'no', warnings: [] } as const;
  expect(JSON.parse(admissionResponse(review, denied).body)).toMatchObject({
    response: { uid: '6f', allowed: false, status: { code: 403, message: 'no' } },
  });
  const allowed = { type: 'allowed', warnings: [], patch: '' } as const;
  expect(JSON.parse(admissionResponse(review, allowed).body).response).toEqual({ uid: '6f', allowed: true });
});
