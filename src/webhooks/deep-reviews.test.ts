import { silentLogger } from '@addon-operator/base/log';
import { isObject, stringifyJson } from '@addon-operator/json';
import { assert, asyncProperty, bigInt, integer } from 'fast-check';
import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { parseAdmissionReview } from './admission/admission-review.ts';
import { conversionResponse } from './conversion/conversion-response.ts';
import { MAX_BODY_BYTES } from './webhook-server.ts';

const never = new AbortController().signal;

test('reviews of objects of any depth are read, with every digit', async () => {
  const hook = {
    fromVersion: 'v1',
    toVersion: 'v2',
    hook: 'a.sh',
    run: async ({ request }: { readonly request: { readonly objects: readonly unknown[] } }) => ({
      type: 'converted' as const,
      objects: request.objects.map((object) => ({
        ...(isObject(object) ? object : {}),
        apiVersion: 'acme.io/v2',
      })),
    }),
  };
  const options = { stepsFor: () => [hook], clock: new FakeClock(), log: silentLogger };
  await assert(
    asyncProperty(
      integer({ min: 1, max: 10_000 }),
      bigInt({ min: 0n, max: 10n ** 20n }),
      async (levels, digits) => {
        const spec = `${'{"a":'.repeat(levels)}${digits}${'}'.repeat(levels)}`;
        const object = `{"apiVersion":"acme.io/v1","kind":"Box","metadata":{"name":"a"},"spec":${spec}}`;
        const admission = parseAdmissionReview(
          `{"kind":"AdmissionReview","request":{"uid":"1","object":${object}}}`,
        );
        expect('request' in admission && stringifyJson(admission.request['object']) === object).toBe(true);
        const body = `{"kind":"ConversionReview","request":{"uid":"1","desiredAPIVersion":"acme.io/v2","objects":[${object}]}}`;
        const conversion = await conversionResponse({ path: '/boxes.acme.io', body }, options, never);
        expect(conversion.status).toBe(200);
        expect(conversion.body.includes(`"spec":${spec}`)).toBe(true);
        expect(conversion.body).toContain('"status":"Success"');
      },
    ),
    { numRuns: 20, examples: [[10_000, 12345678901234567890n]] },
  );
});

test('a conversion review, which holds a list, may be larger than an admission review', () => {
  expect(MAX_BODY_BYTES).toEqual({ validating: 7 * 1024 * 1024, conversion: 32 * 1024 * 1024 });
});
