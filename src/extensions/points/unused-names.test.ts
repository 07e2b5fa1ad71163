import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import { expect, test } from 'vitest';
import { unservedKindProblem, unusedMethodProblems } from './unused-names.ts';

function resource(
  group: string,
  kind: string,
  plural: string,
  shortNames: readonly string[] = [],
): ApiResource {
  const singular = kind.toLowerCase();
  return { group, version: 'v1', kind, plural, singular, shortNames, isNamespaced: true, verbs: ['get'] };
}

const SERVED = [
  resource('', 'ConfigMap', 'configmaps', ['cm']),
  resource('', 'Pod', 'pods', ['po']),
  resource('', 'Event', 'events', ['ev']),
  resource('apps', 'Deployment', 'deployments', ['deploy']),
  resource('events.k8s.io', 'Event', 'events', ['ev']),
  resource('example.com', 'Disk', 'disks'),
];

test.each([
  ['', 'confgmap', 'core/confgmap (did you mean "core/configmap"?)'],
  ['', 'cm', 'core/cm (did you mean "core/configmap"?)'],
  ['apps', 'deployments', 'apps/deployments (did you mean "apps/deployment"?)'],
  ['apps', 'deploymnet', 'apps/deploymnet (did you mean "apps/deployment"?)'],
  ['', 'deployment', 'core/deployment (did you mean "apps/deployment"?)'],
  ['v1', 'configmap', 'v1/configmap (did you mean "core/configmap"?)'],
  ['exampel.com', 'disk', 'exampel.com/disk (did you mean "example.com/disk"?)'],
  ['events.k8s.io', 'events', 'events.k8s.io/events (did you mean "events.k8s.io/event"?)'],
  ['example.com', 'volume', 'example.com/volume'],
  ['', 'pvc', 'core/pvc'],
])('unservedKindProblem() of %j and %j names %s', (group, kind, expected) => {
  expect(unservedKindProblem({ group, kind }, SERVED)).toBe(
    `the API server does not serve a kind ${expected}; the extension has no effect until it does`,
  );
});

test('unusedMethodProblems() names members that are probably meant to be called, but not helpers', () => {
  const unused = ['onSucess', 'modifyManifests', 'helper', 'isReady', 'delete'];
  expect(unusedMethodProblems({ name: '', unused }, ['modifyManifest'])).toEqual([
    'the method onSucess is never called: it is not an extension point (did you mean "onSuccess"?)',
    'the member delete is not a function and is ignored',
  ]);
});

test('unusedMethodProblems() is empty, when the definition lists no members', () => {
  expect(unusedMethodProblems({ name: '' }, ['delete'])).toEqual([]);
});
