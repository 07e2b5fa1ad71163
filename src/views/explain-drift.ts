import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { DriftedObject } from '../releases/drift/drift-policy.ts';
import type { ModuleDrift } from '../status/module-explanation.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Explained } from './explained.ts';

/**
 * The drift of the objects of a release, with the outlook for each; null without drift detection.
 */
export function driftOf({ releases }: Pick<Explained, 'releases'>, name: ModuleName): ModuleDrift | null {
  const report = releases.drift(name);
  if (report === undefined || report.mode === 'off') return null;
  const objects = report.objects.map(({ resource, fields, changedBy, sinceMs, remedy }) => {
    const correction = correctionOf(remedy);
    return {
      resource,
      fields,
      changedBy,
      since: isoTime(sinceMs),
      outlook: outlookOf(remedy),
      ...(correction && { correction }),
    };
  });
  const { mode, uncompared } = report;
  return { mode, objects, ...(uncompared !== undefined && { uncompared }) };
}

// Only these two remedies have a time at which the correction is tried.
function correctionOf(remedy: DriftedObject['remedy']): { at: string; isRefused: boolean } | undefined {
  if (remedy.type !== 'refused' && remedy.type !== 'delayed') return undefined;
  return { at: isoTime(remedy.untilMs), isRefused: remedy.type === 'refused' };
}

// A phrase for each remedy; a new one has to be added here, or the compiler complains.
function outlookOf(remedy: DriftedObject['remedy']): string {
  switch (remedy.type) {
    case 'none':
      return 'it is not corrected';
    case 'held':
      return 'it is corrected when the module is resumed';
    case 'refused':
      return 'the API server refused the correction, which is tried again';
    case 'delayed':
      return 'others change it repeatedly, so that it is corrected later';
  }
}
