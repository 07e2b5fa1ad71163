import { OperatorError } from '../lib/errors.ts';
import type { ConflictPolicy } from './conflict-policy.ts';
import { desiredObjects } from './drift/desired-objects.ts';
import { type DriverContext, lookupOptions } from './driver-context.ts';
import { conflictText, fieldConflicts } from './field-conflicts.ts';
import { parseManifest } from './manifest-document.ts';
import { objectTitle } from './manifest-object.ts';

export interface ConflictCheck {
  readonly release: string;
  /** What helm is about to apply. */
  readonly manifest: string;
  readonly policy: ConflictPolicy;
}

/**
 * Tells which fields that others have set helm is about to overwrite. helm 3 gives nobody's name to what it overwrites,
 * and is not asked about unless the module wants to fail.
 *
 * @throws OperatorError HELM_FAILED when there are such fields and the policy is to fail
 */
export async function checkConflicts(
  context: DriverContext,
  { release, manifest, policy }: ConflictCheck,
  signal: AbortSignal,
): Promise<void> {
  if (context.helm.major < 4 && policy === 'overwrite') return;
  const texts = parseManifest(manifest).map(({ text }) => text);
  const { objects } = desiredObjects(texts, context.readYaml, { release, namespace: context.namespace });
  const found = await fieldConflicts(objects, lookupOptions(context), signal);
  if (policy === 'fail' && found.length > 0) {
    throw new OperatorError(
      'HELM_FAILED',
      `Cannot deploy release "${release}": other field managers changed fields that its chart sets (${found.map(conflictText).join('; ')}). ` +
        'Revert these changes, remove the fields from the chart, or remove "conflicts: fail" from module.yaml. Nothing was changed.',
    );
  }
  for (const { object, conflicts } of found)
    context.log.warn(
      { release, resource: objectTitle(object), conflicts },
      'overwriting fields that were set by other field managers',
    );
}
