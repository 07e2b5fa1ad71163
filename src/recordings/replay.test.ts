import { expect, test } from 'vitest';
import type { Recording } from './recording.ts';
import { countReplays, type ReplayAttempt, replayOne } from './replay.ts';
import type { RunEffects } from './run-effects.ts';

const effects = (values: object): RunEffects => ({
  operations: [],
  values,
  configValues: {},
  flags: [],
  metrics: [],
});
const RECORDING = { hook: 'a.sh', module: '', binding: 'b', outputs: {} } as Recording;
const { outputs: _outputs, ...rest } = RECORDING;
const FAILED = { ...rest, error: 'broken' } as Recording;
const ran = (values: object): ReplayAttempt => ({ effects: effects(values), requests: [] });
const failed: ReplayAttempt = { effects: undefined, error: 'exit status 1', requests: [] };

async function replayed(recording: Recording, ...attempts: readonly ReplayAttempt[]) {
  const left = [...attempts];
  const hook = {
    run: () => Promise.resolve(left.shift() ?? (attempts.at(-1) as ReplayAttempt)),
    effectsOf: ({ outputs }: Recording) => (outputs === undefined ? undefined : effects({ a: 1 })),
  };
  return await replayOne(recording, hook, (before, after) => [before, after]);
}

test.each<[string, Recording, readonly ReplayAttempt[], object]>([
  ['the same', RECORDING, [ran({ a: 1 })], { result: 'same' }],
  ['failed then and now', FAILED, [failed], { result: 'same' }],
  ['failed now', RECORDING, [failed], { result: 'failed', reason: 'exit status 1' }],
  [
    'different',
    RECORDING,
    [ran({ a: 2 })],
    { result: 'differs', diff: [expect.stringContaining('a: 1'), expect.stringContaining('a: 2')] },
  ],
  [
    'failed then only',
    FAILED,
    [ran({ a: 1 })],
    { result: 'differs', diff: [expect.stringContaining('failed: broken'), expect.any(String)] },
  ],
  [
    'different each time',
    RECORDING,
    [ran({ a: 2 }), ran({ a: 3 })],
    { result: 'impure', reason: expect.stringContaining('two runs with the same input differ') },
  ],
  [
    'with requests',
    RECORDING,
    [{ ...ran({ a: 1 }), requests: ['GET /api/v1/pods', 'GET /api'] }],
    { result: 'impure', reason: expect.stringContaining('GET /api/v1/pods and 1 more requests') },
  ],
])('%s', async (_what, recording, attempts, verdict) => {
  const result = await replayed(recording, ...attempts);
  expect(result).toEqual({ hook: 'a.sh', module: '', binding: 'b', ...verdict });
});

test('results are counted', async () => {
  const results = [await replayed(RECORDING, ran({ a: 1 })), await replayed(RECORDING, failed)];
  expect(countReplays(results)).toEqual({ same: 1, differs: 0, failed: 1, impure: 0 });
});
