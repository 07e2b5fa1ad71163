import { expect, test } from 'vitest';
import { READY_MODULE } from '../../test/support/module-explanations.ts';
import { name } from '../../test/support/operator-lab.ts';
import type { InstallView } from '../delivery/delivery-view.ts';
import { PendingUpdates } from '../model/pending-updates.ts';
import { explanationText } from '../status/module-explanation.ts';
import { deliveryOf, deliveryState, type UpdateSources, updateOf } from './explain-update.ts';

const DIGEST = `sha256:${'1'.repeat(64)}`;
const AT = { atMs: 1_000 };

const INSTALL: InstallView = {
  name: 'web',
  generation: 1,
  source: 'platform',
  invalid: undefined,
  installed: { version: '1.3.0', digest: DIGEST, ...AT },
  lastGood: { version: '1.2.0', digest: 'sha256:2', ...AT },
  wanted: { version: '1.4.0', digest: 'sha256:4' },
  pending: undefined,
  failed: [{ version: '1.2.9', digest: 'sha256:3', why: 'gates did not pass', ...AT }],
  hasFailed: false,
  history: [],
  isUpdating: false,
  waitsFor: undefined,
  missing: undefined,
  problem: undefined,
  sourceProblem: undefined,
  notReady: undefined,
  disabled: undefined,
  isOrphan: false,
};

function sourcesWith(
  delivery: UpdateSources['delivery'],
): UpdateSources & { readonly updates: PendingUpdates } {
  return { updates: new PendingUpdates(), delivery };
}

const PENDING = {
  type: 'pending',
  version: '1.4.0',
  digest: 'sha256:4',
  reason: 'NeedsApproval',
  message: 'mode manual',
  sinceMs: 0,
} as const;

test('a module of a directory shows what the switch refused, one of a source what delivery waits for', () => {
  const sources = sourcesWith({
    updateOf: (module) => (module === 'web' ? { pending: PENDING, isFirst: false } : undefined),
    view: () => ({ sources: [], installs: [INSTALL] }),
  });
  const refused = { version: '9', reason: 'NotLoadable', message: 'no file', sinceMs: 0 };
  for (const module of ['web', 'plain']) sources.updates.set(module, refused);
  expect(updateOf(sources, 'plain').update).toMatchObject({
    version: '9',
    reason: 'NotLoadable',
    needs: 'fix',
  });
  expect(updateOf(sources, 'web').update).toMatchObject({
    version: '1.4.0',
    reason: 'NeedsApproval',
    since: '1970-01-01T00:00:00.000Z',
  });
});

test('a version that was refused and is wanted no more is not shown', () => {
  const sources = sourcesWith({
    updateOf: () => ({ pending: undefined, isFirst: false }),
    view: () => ({ sources: [], installs: [] }),
  });
  sources.updates.set('web', { version: '9', reason: 'WouldFail', message: 'quota', sinceMs: 0 });
  expect(updateOf(sources, 'web')).toEqual({});
});

test('the explanation of a module of a source has its versions, and what to do', () => {
  const sources = sourcesWith({
    updateOf: () => ({ pending: PENDING, isFirst: false }),
    view: () => ({ sources: [], installs: [INSTALL] }),
  });
  const web = name('web');
  const text = explanationText({
    ...READY_MODULE,
    release: null,
    ...deliveryOf(sources, web),
    ...updateOf(sources, web),
  });
  expect(text.replaceAll(/ {2,}/gu, ': ')).toContain(
    [
      'delivered by: ModuleSource platform',
      `installed: 1.3.0 (${DIGEST}), 1970-01-01T00:00:01.000Z`,
      'wanted: 1.4.0',
      'last good: 1.2.0 (sha256:2), 1970-01-01T00:00:01.000Z',
      'failed: 1.2.9 (sha256:3), 1970-01-01T00:00:01.000Z: gates did not pass',
      'update: module web is not updated to 1.4.0: NeedsApproval: mode manual',
      'to update it: `addon-operator module approve web 1.4.0`',
    ].join('\n'),
  );
});

test('a module that is not installed yet is in the state of delivery', () => {
  const { installed: _, ...rest } = INSTALL;
  const sources = sourcesWith({
    updateOf: () => ({ pending: { ...PENDING, reason: 'NotFound' }, isFirst: true }),
    view: () => ({ sources: [], installs: [{ ...rest, installed: undefined }] }),
  });
  expect(deliveryState(sources).modules).toMatchObject([
    { module: 'web', installed: null, update: { reason: 'NotFound', isFirst: true } },
  ]);
});
