/** The conversion binding: schema, checks and conversion in one place. */

import {
  API_VERSION,
  given,
  type SnapshotSource,
  type SnapshotUser,
  snapshotPositions,
  snapshotProblems,
} from './binding-checks.ts';
import { includeSnapshotsFrom, listOf, object, text } from './config-schema-parts.ts';

/** One step a hook can do: objects of one version become objects of another. Versions are short or `group/version`. */
export interface ConversionRule {
  readonly fromVersion: string;
  readonly toVersion: string;
}

export interface ConversionBinding {
  readonly type: 'kubernetesCustomResourceConversion';
  readonly name: string;
  /** `<plural>.<group>` */
  readonly crdName: string;
  readonly conversions: readonly ConversionRule[];
  readonly group?: string;
  /** Positions of the kubernetes bindings whose snapshots go into the context. */
  readonly snapshotsFrom: readonly number[];
}

/** An item of `kubernetesCustomResourceConversion`, as the schema guarantees it. */
export interface RawConversion extends SnapshotUser {
  readonly name: string;
  readonly crdName: string;
  readonly conversions: readonly ConversionRule[];
}

/** The schema of `kubernetesCustomResourceConversion`. */
export const conversionSchema = listOf(
  'Run when the API server needs custom resources in another version.',
  object(
    'The conversions of one custom resource definition.',
    {
      name: text('Name of the binding, as the binding context repeats it.'),
      crdName: text('Name of the custom resource definition: <plural>.<group>.'),
      conversions: listOf(
        'The steps this hook can do.',
        object(
          'One step; versions are short, such as v1, or with the group, such as example.com/v1.',
          {
            fromVersion: text('Version of the objects the hook is given.'),
            toVersion: text('Version the hook makes of them.'),
          },
          ['fromVersion', 'toVersion'],
        ),
      ),
      group: text('Adds the snapshots of all kubernetes bindings with this group to the binding context.'),
      includeSnapshotsFrom,
    },
    ['name', 'crdName', 'conversions'],
  ),
);

/** `<plural>.<group>`, as Kubernetes names definitions. */
const CRD_NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;

/** Problems that the schema cannot detect. */
export function* conversionProblems(
  item: RawConversion,
  kubernetes: readonly SnapshotSource[],
): Iterable<string> {
  if (!CRD_NAME.test(item.crdName))
    yield `crdName is invalid: '${item.crdName}', expected '<plural>.<group>'`;
  for (const [index, { fromVersion, toVersion }] of item.conversions.entries()) {
    for (const version of [fromVersion, toVersion])
      if (!API_VERSION.test(version))
        yield `conversions[${index}]: '${version}' is invalid, expected 'version' or 'group/version'`;
  }
  yield* snapshotProblems(item, kubernetes);
}

/** The binding with its snapshots resolved to positions. */
export function conversionBinding(
  item: RawConversion,
  kubernetes: readonly SnapshotSource[],
): ConversionBinding {
  const group = given(item.group);
  return {
    type: 'kubernetesCustomResourceConversion',
    name: item.name,
    crdName: item.crdName,
    conversions: item.conversions,
    snapshotsFrom: snapshotPositions(item, kubernetes),
    ...(group === undefined ? {} : { group }),
  };
}
