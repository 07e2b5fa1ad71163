import { expect, test } from 'vitest';
import { deployRecovery, OWN_RECORDS, RELEASE_STATES, uninstallRecovery } from './recovery-table.ts';

function table(recovery: (...cell: Parameters<typeof deployRecovery>) => string): Record<string, string> {
  return Object.fromEntries(
    RELEASE_STATES.map((state) => [state, OWN_RECORDS.map((own) => recovery(state, own)).join(' | ')]),
  );
}

test('deployRecovery() has a way from every state to a deployed module', () => {
  expect(table(deployRecovery)).toEqual({
    none: 'install | install | install | install | install',
    deployed: 'upgrade | upgrade | use | use | use',
    failed: 'upgrade | upgrade | upgrade | upgrade | upgrade',
    'pending-install': 'outwait | outwait | wait | mark-failed | mark-failed',
    'pending-upgrade': 'outwait | outwait | wait | mark-failed | mark-failed',
    'pending-rollback': 'outwait | outwait | wait | mark-failed | mark-failed',
    superseded: 'upgrade | upgrade | upgrade | upgrade | upgrade',
    uninstalling: 'outwait | outwait | wait | mark-failed | mark-failed',
    uninstalled: 'install | install | install | install | install',
    unknown: 'mark-failed | mark-failed | mark-failed | mark-failed | mark-failed',
    corrupt: 'set-aside | set-aside | wait | set-aside | set-aside',
  });
});

test('uninstallRecovery() spares what we did not make, unless it is forced', () => {
  const own = table((state, record) => uninstallRecovery(state, record, false));
  expect(
    Object.values(own)
      .slice(1)
      .every((row) => row.startsWith('spare | ')),
  ).toBe(true);
  expect(own['none']).toBe('absent | absent | absent | absent | absent');
  expect(own['pending-upgrade']).toBe('spare | outwait | wait | uninstall | uninstall');
  expect(own['corrupt']).toBe('spare | set-aside | wait | set-aside | set-aside');
  expect(own['deployed']).toBe('spare | uninstall | uninstall | uninstall | uninstall');
  expect(uninstallRecovery('deployed', 'none', true)).toBe('uninstall');
});
