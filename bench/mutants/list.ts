import { CONVERGE } from './areas/converge.ts';
import { EVENTS } from './areas/events.ts';
import { HOOK_RUNS } from './areas/hook-runs.ts';
import { LEASES } from './areas/leases.ts';
import { PATCHES } from './areas/patches.ts';
import { QUEUES } from './areas/queues.ts';
import { RELEASES } from './areas/releases.ts';
import { REQUESTS } from './areas/requests.ts';
import { SECRETS } from './areas/secrets.ts';
import { VALUES } from './areas/values.ts';
import { WATCHES } from './areas/watches.ts';
import { WEBHOOKS } from './areas/webhooks.ts';
import type { MutatedFile } from './mutant.ts';

/** All faults, by area of the core. */
export const MUTANTS: readonly MutatedFile[] = [
  ...QUEUES,
  ...EVENTS,
  ...HOOK_RUNS,
  ...CONVERGE,
  ...RELEASES,
  ...REQUESTS,
  ...WATCHES,
  ...LEASES,
  ...PATCHES,
  ...VALUES,
  ...WEBHOOKS,
  ...SECRETS,
];
