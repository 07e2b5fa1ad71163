import { expect, test } from 'vitest';
import { DeployLab, labelsOfHolder } from '../../test/support/deploy-lab.ts';
import { uninstallError } from './uninstall.ts';

test.each([
  [
    'helm 3',
    `uninstall.go:102: 2026-01-01 00:00:00 [debug] uninstall: Deleting web
uninstall.go:124: 2026-01-01 00:00:00 [debug] uninstall: Failed to delete release: [services "a" is forbidden
by a policy]
Error: failed to delete release: web
helm.go:86: 2026-01-01 00:00:00 [debug] failed to delete release: web
helm.sh/helm/v3/pkg/action.(*Uninstall).Run
	helm.sh/helm/v3/pkg/action/uninstall.go:125
`,
    'failed to delete release: web: services "a" is forbidden\nby a policy',
  ],
  [
    'helm 4',
    `level=DEBUG msg="uninstall: deleting release" name=web
level=DEBUG msg="uninstall: Failed to delete release" error="[services \\"a\\" is forbidden\\nby a policy]"
Error: failed to delete release: web
`,
    'failed to delete release: web: services "a" is forbidden\nby a policy',
  ],
])(
  'uninstallError() reports the reason that %s only shows when it is debugged',
  (_version, stderr, error) => {
    expect(uninstallError(stderr)).toBe(error);
  },
);

test('uninstallError() returns any other error unchanged', () => {
  expect(
    uninstallError('level=DEBUG msg=x\nError: timed out\nhelm.go:86: 2026 [debug] timed out\nmain.main\n'),
  ).toBe('timed out');
});

test('an unreadable record that cannot be removed ends an uninstall', async () => {
  await using lab = await DeployLab.open();
  await lab.addRecord(1, {
    status: 'failed',
    labels: labelsOfHolder(1, 'other.1.gone'),
    content: 'no release',
    finalizers: ['example.com/backup'],
  });
  await expect(lab.uninstall()).rejects.toMatchObject({ code: 'HELM_RELEASE_CORRUPT' });
  expect(lab.helmRuns).toEqual([]);
});
