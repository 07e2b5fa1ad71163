import { hasCode } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import type { HookOutputContents } from '@addon-operator/sdk/host';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_BINDINGS } from '../../test/support/hook-configs.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Hook, HookOwner } from './hook.ts';
import { parseOutputs } from './parse-outputs.ts';

const NOTHING: HookOutputContents = {
  configValuesPatch: '',
  valuesPatch: '',
  metrics: '',
  kubernetesPatch: '',
  admissionResponse: '',
  conversionResponse: '',
};
const FILES = Object.keys(NOTHING) as readonly (keyof HookOutputContents)[];
const PROTOTYPE = Object.getOwnPropertyNames(Object.prototype);

const owners = [{ type: 'global' }, { type: 'module', module: 'web' as ModuleName }] as const;

const KEYS =
  'op path value operation kind name namespace object metadata jsonPatch mergePatch jqFilter subresource action set add ' +
  'buckets labels group allowed message warnings patch convertedObjects failedMessage __proto__ constructor';
const WORDS =
  'add remove test set observe expire Create Delete JSONPatch MergePatch JQPatch /web/a /global/a /webEnabled / v1 . W10= ' +
  '--- 9007199254740993';
const key = fc.constantFrom('', ...KEYS.split(' '));
const word = fc.constantFrom('', ...WORDS.split(' '));
const { document } = fc.letrec<{ document: unknown }>((tie) => ({
  document: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    word,
    fc.oneof(fc.boolean(), fc.constant(null), fc.double(), fc.integer(), fc.string({ unit: 'binary' })),
    fc.array(tie('document'), { maxLength: 3 }),
    fc.dictionary(key, tie('document'), { maxKeys: 5 }),
  ),
}));
const piece = fc.oneof(
  document.map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '---\n',
    '\n',
    '{',
    ']',
    '# x\n',
    '&a [*a]',
    '- a\n',
    'operation: Delete\nkind: Pod\nname: a\n',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const text = fc.oneof(
  fc.constant(''),
  fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join('')),
);
const outputs: fc.Arbitrary<HookOutputContents> = fc.record({
  configValuesPatch: text,
  valuesPatch: text,
  metrics: text,
  kubernetesPatch: text,
  admissionResponse: text,
  conversionResponse: text,
});

/** One file at a time, so that not all cases end at the first broken one. */
const single = fc
  .tuple(outputs, fc.constantFrom(...FILES))
  .map(([all, name]) => ({ ...NOTHING, [name]: all[name] }));

/** Undefined for what is understood; anything but a refusal is thrown. */
function refusalOf(raw: HookOutputContents, owner: HookOwner): string | undefined {
  const hook: Hook = { name: 'a.sh', path: '/a.sh', owner, config: NO_BINDINGS, transport: 'executable' };
  try {
    parseOutputs(raw, hook, silentLogger);
    return undefined;
  } catch (error) {
    if (!hasCode(error, 'HOOK_OUTPUT_INVALID')) throw error;
    return error.message;
  }
}

test('any output of a hook is parsed or refused with its file', () => {
  fc.assert(
    fc.property(fc.oneof(outputs, single), fc.constantFrom(...owners), (raw, owner) => {
      expect(refusalOf(raw, owner) ?? "'a.sh' wrote bad ").toContain("'a.sh' wrote bad ");
      expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(PROTOTYPE);
    }),
    { numRuns: 3_000 },
  );
});
