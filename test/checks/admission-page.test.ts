import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAdmissionReview } from '../../src/events/admission/admission-review.ts';
import { parseAdmissionResponse } from '../../src/hooks/admission-response.ts';
import { buildBindingContexts } from '../../src/hooks/binding-context.ts';
import { parse } from '../support/hook-configs.ts';
import { projectRoot } from './checkout.ts';

const page = readFileSync(join(projectRoot, 'docs/admission.md'), 'utf8');
const samples = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, 'g'))].map(([, sample = '']) => sample);

const [contexts = '', ...answers] = samples('json');

test('the context on the page is what its hook gets for its request', async () => {
  const { admission } = await parse(samples('yaml')[0] ?? '');
  const [binding] = admission;
  const [context] = JSON.parse(contexts) as readonly { readonly review: unknown }[];
  const review = parseAdmissionReview(JSON.stringify(context?.review));
  if (binding === undefined || 'status' in review) throw new Error('the page shows no webhook and request');
  const { request } = review;
  const built = buildBindingContexts([{ type: 'admission', binding, review: { request } }], [], () => []);
  expect(built).toEqual([context]);
});

test('the answers on the page are understood', () => {
  const [denial, change] = answers.map(parseAdmissionResponse);
  expect(denial).toMatchObject({ isAllowed: false, message: 'images come from registry.example.com' });
  expect(change).toMatchObject({ isAllowed: true });
  expect(Buffer.from(change?.patch ?? '', 'base64').toString()).toBe(
    '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]',
  );
});
