import { expect, test } from 'vitest';
import { versionsText } from './module-versions.ts';

test('versionsText() shows versions, and why one waits', () => {
  const install = {
    name: 'web',
    source: 'platform',
    installed: { version: '1.0.0', digest: 'sha256:aa', atMs: 0 },
    lastGood: { version: '1.0.0', digest: 'sha256:aa', atMs: 0 },
    wanted: { version: '1.1.0', digest: 'sha256:bb' },
    failed: [{ version: '0.9.0', digest: 'sha256:99', atMs: 0, why: 'bad' }],
    pending: {
      type: 'pending',
      version: '1.1.0',
      digest: 'sha256:bb',
      reason: 'OutsideWindow',
      message: 'updates wait for a window',
      untilMs: Date.UTC(2026, 10, 2, 20),
    },
  };
  expect(versionsText(install, 'oci://example.com/platform')).toBe(
    [
      'web',
      '  installed  1.0.0 sha256:aa',
      '  last good  1.0.0 sha256:aa',
      '  wanted     1.1.0 sha256:bb',
      '  failed     0.9.0 sha256:99',
      '  available  addon-operator module versions oci://example.com/platform/web',
      '  why        1.1.0 waits (OutsideWindow): updates wait for a window, until 2026-11-02T20:00:00.000Z',
    ].join('\n'),
  );
});

test('versionsText() shows what is wrong', () => {
  expect(versionsText({ name: 'web', missing: 'connection refused' }, undefined)).toBe(
    'web\n  problem    connection refused',
  );
});
