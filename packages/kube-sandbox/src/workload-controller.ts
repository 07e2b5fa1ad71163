import { timestamp } from './api-state.ts';
import type { Controller } from './controller-loop.ts';
import { writeStatus } from './controller-writes.ts';
import { rollOut } from './replica-sets.ts';
import { workloadStatus } from './workload-status.ts';

/** Plays scheduler and kubelet: every workload is ready at once, every job done. There are no pods behind them. */
export const workloadController: Controller = {
  name: 'workload',
  reconcile: (state, storage, object) => {
    if (object.metadata.deletionTimestamp !== undefined) return;
    if (storage === 'apps/deployments') rollOut(state, object);
    const status = workloadStatus(storage, object, timestamp(state.clock));
    if (status !== undefined) writeStatus(state, storage, object, status);
  },
};
