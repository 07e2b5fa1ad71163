import { hasCode } from '@addon-operator/base/errors';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parse } from '../../test/support/hook-configs.ts';

const KEYS =
  'configVersion onStartup beforeHelm schedule crontab kubernetes kind name queue group includeSnapshotsFrom jqFilter settings ' +
  'labelSelector matchLabels matchExpressions key operator values nameSelector matchNames namespace fieldSelector field value ' +
  'kubernetesValidating rules operations apiGroups kubernetesCustomResourceConversion crdName conversions executionMinInterval ' +
  'executionBurst timeout onKubernetesEvent event selector executeHookOnEvent allowFailure __proto__ constructor toString';
const WORDS = 'v1 v0 * Pod a.b.c In Exists Added add CREATE 3s = @daily main true';
const key = fc.constantFrom('', ...KEYS.split(' '));
const word = fc.constantFrom('', '* * * * *', ...WORDS.split(' '));
const { document } = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 5 },
    word,
    fc.oneof(fc.boolean(), fc.constant(null), fc.double(), fc.integer(), fc.string({ unit: 'binary' })),
    fc.array(tie('document'), { maxLength: 3 }),
    fc.dictionary(key, tie('document'), { maxKeys: 6 }),
  ),
}));
const config = fc.oneof(
  fc.dictionary(key, document, { maxKeys: 6 }),
  fc.dictionary(key, document, { maxKeys: 6 }).map((parts) => ({ ...parts, configVersion: 'v1' })),
);
const text = fc.oneof(
  config.map((value) => JSON.stringify(value)),
  fc
    .tuple(config, fc.string({ unit: 'binary', maxLength: 8 }))
    .map(([value, more]) => JSON.stringify(value) + more),
  fc.string({ unit: 'binary' }),
);

/** Undefined for a configuration; anything but a refusal is thrown. */
async function refusalOf(output: string): Promise<string | undefined> {
  try {
    await parse(output);
    return undefined;
  } catch (error) {
    if (!hasCode(error, 'HOOK_CONFIG_INVALID')) throw error;
    return error.message;
  }
}

test('any output of a hook for --config is a configuration or refused with a reason', async () => {
  await fc.assert(
    fc.asyncProperty(text, async (output) => {
      expect((await refusalOf(output)) ?? 'sound').not.toBe('');
    }),
    { numRuns: 2_000 },
  );
});
