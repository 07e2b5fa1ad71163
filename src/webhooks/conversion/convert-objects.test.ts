import { OperatorError } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import type { ConversionResponse } from '../../hooks/webhook-responses.ts';
import { type ConversionStep, convertObjects, type ReviewedConversion } from './convert-objects.ts';

const never = new AbortController().signal;

interface Box {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const box = (name: string, version: string): Box => ({
  apiVersion: `acme.io/${version}`,
  kind: 'Box',
  metadata: { name },
});

const convertedTo = (version: string, objects: readonly unknown[]): ConversionResponse => ({
  type: 'converted',
  objects: (objects as readonly Box[]).map((object) => ({ ...object, apiVersion: `acme.io/${version}` })),
});

type Behaviour = (request: ReviewedConversion) => ConversionResponse | undefined;

/** A conversion with steps `v1→v2`; each makes objects of its version unless told otherwise. */
function lab(steps: readonly string[], behaviours: Readonly<Record<string, Behaviour>> = {}) {
  const seen: { step: string; request: ReviewedConversion }[] = [];
  const parsed = steps.map((step): ConversionStep => {
    const [fromVersion = '', toVersion = ''] = step.split('→');
    return {
      fromVersion,
      toVersion,
      hook: `hook ${step}`,
      run: async ({ request }) => {
        seen.push({ step, request });
        return (behaviours[step] ?? (({ objects }) => convertedTo(toVersion, objects)))(request);
      },
    };
  });
  const convert = (objects: readonly unknown[], desired = 'v3', signal = never) =>
    convertObjects(
      {
        crdName: 'boxes.acme.io',
        request: { uid: '9a', desiredAPIVersion: `acme.io/${desired}`, objects },
        steps: parsed,
        log: silentLogger,
      },
      signal,
    );
  return { seen, convert };
}

test('a chain takes the objects through every hook; the request stays what it was', async () => {
  const { seen, convert } = lab(['v1→v2', 'v2→v3']);
  expect(await convert([box('a', 'v1'), box('b', 'v1')])).toEqual({
    type: 'success',
    objects: [box('a', 'v3'), box('b', 'v3')],
  });
  expect(seen).toEqual([
    {
      step: 'v1→v2',
      request: { uid: '9a', desiredAPIVersion: 'acme.io/v3', objects: [box('a', 'v1'), box('b', 'v1')] },
    },
    {
      step: 'v2→v3',
      request: { uid: '9a', desiredAPIVersion: 'acme.io/v3', objects: [box('a', 'v2'), box('b', 'v2')] },
    },
  ]);
});

test('of mixed versions the hooks of the first are given all objects, and may convert them all', async () => {
  const { seen, convert } = lab(['v1→v3', 'v2→v3']);
  expect(await convert([box('a', 'v1'), box('b', 'v2')])).toMatchObject({ type: 'success' });
  expect(seen).toMatchObject([{ step: 'v1→v3', request: { objects: [box('a', 'v1'), box('b', 'v2')] } }]);
});

test('what the first chain leaves is converted by the next', async () => {
  const { seen, convert } = lab(['v1→v3', 'v2→v3'], {
    'v1→v3': ({ objects: [, ...rest] }) => ({ type: 'converted', objects: [box('a', 'v3'), ...rest] }),
  });
  expect(await convert([box('a', 'v1'), box('b', 'v2')])).toEqual({
    type: 'success',
    objects: [box('a', 'v3'), box('b', 'v3')],
  });
  expect(seen.map(({ step }) => step)).toEqual(['v1→v3', 'v2→v3']);
});

test('a version without a chain is passed over', async () => {
  const { seen, convert } = lab(['v1→v3']);
  expect(await convert([box('b', 'v2'), box('a', 'v1')])).toMatchObject({ type: 'success' });
  expect(seen.map(({ step }) => step)).toEqual(['v1→v3']);
});

test('without a chain, and with objects left over, the conversion was not successful', async () => {
  expect(await lab(['v3→v1']).convert([box('a', 'v1')])).toEqual({
    type: 'failure',
    message: 'Conversion boxes.acme.io to acme.io/v3 was not successful: no hook converts from acme.io/v1',
  });
  const lazy = lab(['v1→v3'], { 'v1→v3': ({ objects }) => ({ type: 'converted', objects }) });
  expect(await lazy.convert([box('a', 'v1')])).toMatchObject({
    type: 'failure',
    message: expect.stringContaining('Conversion boxes.acme.io to acme.io/v3 was not successful'),
  });
});

test('the message of a hook is the message of the conversion, and later hooks are not run', async () => {
  const { seen, convert } = lab(['v1→v2', 'v2→v3'], {
    'v1→v2': () => ({ type: 'failed', message: 'too old to be converted' }),
  });
  expect(await convert([box('a', 'v1')])).toEqual({ type: 'failure', message: 'too old to be converted' });
  expect(seen).toHaveLength(1);
});

test.each([
  [
    'fails',
    () => {
      throw new OperatorError('HOOK_FAILED', 'exit status 1');
    },
    'Hook failed to convert to acme.io/v3: hook v1→v3',
  ],
  [
    'answers nothing',
    () => undefined,
    'handle ConversionReview: hook task prop error: hook v1→v3 wrote nothing to $CONVERSION_RESPONSE_PATH',
  ],
  [
    'loses objects',
    () => ({ type: 'converted', objects: [] }) as const,
    'Hook failed to convert to acme.io/v3: hook v1→v3 returned 0 objects instead of 1',
  ],
  [
    'renames objects',
    () => ({ type: 'converted', objects: [box('other', 'v3')] }) as const,
    "Hook failed to convert to acme.io/v3: hook v1→v3 changed metadata.name of 'a' from 'a' to 'other', or the order of the objects",
  ],
] satisfies readonly [string, Behaviour, string][])(
  'a hook that %s is named',
  async (_what, behaviour, message) => {
    expect(await lab(['v1→v3'], { 'v1→v3': behaviour }).convert([box('a', 'v1')])).toEqual({
      type: 'failure',
      message,
    });
  },
);

test('objects that are converted already need no hook', async () => {
  const { seen, convert } = lab(['v1→v3']);
  expect(await convert([box('a', 'v3')])).toEqual({ type: 'success', objects: [box('a', 'v3')] });
  expect(await convert([])).toEqual({ type: 'success', objects: [] });
  expect(seen).toEqual([]);
});

test('an abort is no failure of the hook', async () => {
  const abort = new AbortController();
  const { convert } = lab(['v1→v3'], {
    'v1→v3': () => {
      abort.abort(new Error('client is gone'));
      throw new OperatorError('HOOK_FAILED', 'killed');
    },
  });
  await expect(convert([box('a', 'v1')], 'v3', abort.signal)).rejects.toThrow('client is gone');
});
