import { expect, test } from 'vitest';
import type { PendingReason } from '../delivery/decide.ts';
import type { SwitchRefusal } from '../delivery/module-switch.ts';
import { moduleUpdate, type UpdateNeed, updateText } from './module-update.ts';

const UPDATE = { version: '1.4.0', digest: 'sha256:00', message: 'why', since: '2026-01-01T00:00:00.000Z' };

type Reason = PendingReason | SwitchRefusal['reason'];

/** The compiler names a reason that is missing here. */
const NEEDS: Readonly<Record<Reason, UpdateNeed>> = {
  ArtifactInvalid: 'fix',
  Failed: 'fix',
  Held: 'decision',
  NeedsApproval: 'decision',
  NotFound: 'decision',
  NotLoadable: 'fix',
  OutsideWindow: 'decision',
  RequirementMissing: 'decision',
  SettingsInvalid: 'fix',
  Soaking: 'time',
  SourceUnavailable: 'time',
  Unverified: 'fix',
  UpdateFailures: 'decision',
  UpdateLimit: 'time',
  VersionChanged: 'fix',
  WouldFail: 'fix',
};

test.each(Object.entries(NEEDS))('an update that waits with %s needs: %s', (reason, needs) => {
  const update = moduleUpdate('web', { ...UPDATE, reason });
  expect(update.needs).toBe(needs);
  // The message says what a person has to do.
  expect(update.remedy === undefined).toBe(needs === 'time');
});

test('a window that opens needs nobody, one that never opens does', () => {
  const update = { ...UPDATE, reason: 'OutsideWindow' };
  expect(moduleUpdate('web', { ...update, until: '2026-01-02T00:00:00.000Z' })).toEqual({
    ...update,
    until: '2026-01-02T00:00:00.000Z',
    needs: 'time',
  });
  expect(moduleUpdate('web', update).remedy).toContain('windows of the ModuleInstall');
});

test('the command that approves names module and version', () => {
  expect(moduleUpdate('web', { ...UPDATE, reason: 'NeedsApproval' }).remedy).toBe(
    '`addon-operator module approve web 1.4.0`',
  );
});

test.each([
  [{ reason: 'WouldFail' }, 'module web is not updated to 1.4.0: WouldFail: why; the version before goes on'],
  [{ reason: 'WouldFail', isFirst: true }, 'module web is not installed as 1.4.0: WouldFail: why'],
  [{ reason: 'NotFound', version: null }, 'module web is not updated: NotFound: why'],
  [{ reason: 'Soaking', until: '08:00' }, 'module web is not updated to 1.4.0: Soaking: why, until 08:00'],
] as const)('the sentence about %o', (fields, text) => {
  expect(updateText('web', moduleUpdate('web', { ...UPDATE, ...fields }))).toBe(text);
});
