import { isoTime } from '@addon-operator/concurrency/bounded-time';
import type { DriftedObject } from '../releases/drift/drift-policy.ts';
import type { ModuleDrift } from '../status/module-explanation.ts';
import type { ModuleName } from '../values/module-key.ts';
import type { Explained } from './explained.ts';

/** What others changed of the objects of a release; null without drift detection for it. */
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

function correctionOf(remedy: DriftedObject['remedy']): { at: string; isRefused: boolean } | undefined {
  if (remedy.type !== 'refused' && remedy.type !== 'delayed') return undefined;
  return { at: isoTime(remedy.untilMs), isRefused: remedy.type === 'refused' };
}

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
