/**
 * Settings of leader election. The three times must be ordered (retry period < renew deadline < duration): hooks and helm
 * of a leader that lost its lease are killed between the renew deadline and the end of the lease.
 */

import { hidden, type Setting, type SettingsOf, variable } from './setting.ts';
import { durationType, onlyWordType, textType } from './setting-type.ts';

/** Settings of the election among several replicas. */
export const LEASE_SETTINGS = {
  leaseDurationMs: hidden(
    'lease-duration',
    'ADDON_OPERATOR_LEASE_DURATION',
    durationType,
    '35s',
    'How long a lease is valid without being renewed, in whole seconds.',
  ),
  leaseRenewDeadlineMs: hidden(
    'lease-renew-deadline',
    'ADDON_OPERATOR_LEASE_RENEW_DEADLINE',
    durationType,
    '30s',
    'How long the leader tries to renew its lease before it gives up; less than the duration.',
  ),
  leaseRetryPeriodMs: hidden(
    'lease-retry-period',
    'ADDON_OPERATOR_LEASE_RETRY_PERIOD',
    durationType,
    '10s',
    'Time between two renewals; less than the renew deadline. A standby checks the lease five times as often.',
  ),
  // Needs the name and the IP of the pod, which become the identity of the leader.
  isHaEnabled: variable(
    'ADDON_OPERATOR_HA',
    onlyWordType('true'),
    'false',
    'Run several replicas; only the one that holds the lease is active.',
  ),
  podName: variable('ADDON_OPERATOR_POD', textType, '', 'Name of the pod; required with ADDON_OPERATOR_HA.'),
} satisfies Readonly<Record<string, Setting<unknown>>>;

export type LeaseSettings = SettingsOf<typeof LEASE_SETTINGS>;

export type LeaseTimeSettings = Pick<
  LeaseSettings,
  'leaseDurationMs' | 'leaseRenewDeadlineMs' | 'leaseRetryPeriodMs'
>;

/** Problems of the times of the lease, one sentence each. */
export function leaseTimeProblems(times: LeaseTimeSettings): string[] {
  const { leaseDurationMs, leaseRenewDeadlineMs, leaseRetryPeriodMs } = times;
  const problems: string[] = [];
  // The Lease object stores whole seconds.
  if (leaseDurationMs % 1_000 !== 0 || leaseDurationMs === 0)
    problems.push('--lease-duration (ADDON_OPERATOR_LEASE_DURATION) must be a number of whole seconds');
  if (leaseRenewDeadlineMs >= leaseDurationMs)
    problems.push(
      '--lease-renew-deadline (ADDON_OPERATOR_LEASE_RENEW_DEADLINE) must be less than --lease-duration: hooks are terminated in the time between',
    );
  if (leaseRetryPeriodMs >= leaseRenewDeadlineMs || leaseRetryPeriodMs === 0)
    problems.push(
      '--lease-retry-period (ADDON_OPERATOR_LEASE_RETRY_PERIOD) must be more than 0 and less than --lease-renew-deadline',
    );
  return problems;
}
