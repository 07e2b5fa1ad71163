import { expect, test } from 'vitest';
import type { ReleaseInCluster } from '../model/releases.ts';
import { releasesAfter } from '../plan/collect-plan.ts';
import { type PurgeInput, planPurge } from './plan-purge.ts';

const owned = (name: string): ReleaseInCluster => ({
  name,
  revision: 1,
  status: 'deployed',
  isOwned: true,
});
const foreign = (name: string): ReleaseInCluster => ({ ...owned(name), isOwned: false });
const kept = (name: string): ReleaseInCluster => ({ ...owned(name), isKept: true });

const FULL = { path: '/modules', modules: ['web'] };
const INPUT: PurgeInput = {
  releases: [],
  modules: new Set(['web']),
  ignoredRelease: 'operator',
  purgesForeignReleases: false,
  directories: [FULL],
  remembered: [FULL],
  areEmptyAllowed: false,
};

function names(changes: Partial<PurgeInput>) {
  const plan = planPurge({ ...INPUT, ...changes });
  const namesOf = (releases: readonly ReleaseInCluster[]) => releases.map(({ name }) => name);
  return {
    kept: namesOf(plan.kept),
    notOwned: namesOf(plan.notOwned),
    purged: namesOf(plan.purged),
    isHeld: plan.held !== undefined,
  };
}

const ALL = [owned('web'), owned('operator'), owned('old'), foreign('theirs'), kept('stays')];

test.each<[string, Partial<PurgeInput>, ReturnType<typeof names>]>([
  ['nothing', {}, { kept: [], notOwned: [], purged: [], isHeld: false }],
  [
    'releases of each kind',
    { releases: ALL },
    { kept: ['stays'], notOwned: ['theirs'], purged: ['old'], isHeld: false },
  ],
  [
    'releases of others too, as the settings say',
    { releases: ALL, purgesForeignReleases: true },
    { kept: ['stays'], notOwned: [], purged: ['old', 'theirs'], isHeld: false },
  ],
  [
    'a directory that became empty',
    { releases: ALL, directories: [{ path: '/modules', modules: [] }] },
    { kept: ['stays'], notOwned: ['theirs'], purged: ['old'], isHeld: true },
  ],
])('planPurge() sorts %s', (_what, changes, expected) => {
  expect(names(changes)).toEqual(expected);
});

const GONE = ['a', 'b', 'c'].map(owned);

test.each<[string, readonly string[], readonly string[], boolean]>([
  ['as many are there', [], [], false],
  ['one of the others is removed before', ['y'], [], true],
  ['one of the others is removed and another installed', ['y'], ['new'], false],
  ['a release of others is taken over', ['y'], ['theirs'], false],
])('planPurge() counts the releases after the converge, when %s', (_when, gone, deployed, isHeld) => {
  const before = [...GONE, owned('x'), owned('y'), owned('z'), foreign('theirs')];
  const releases = releasesAfter(before, { gone: new Set(gone), deployed: new Set(deployed) });
  expect(names({ releases, modules: new Set(['x', 'y', 'z', 'new', 'theirs']) })).toMatchObject({
    purged: ['a', 'b', 'c'],
    isHeld,
  });
});

test('planPurge() names why releases are held, and what is remembered', () => {
  const directories = [{ path: '/modules', modules: [] }];
  expect(planPurge({ ...INPUT, releases: [owned('old')], directories })).toMatchObject({
    held: { releases: ['old'], reason: '/modules contained modules before and is empty now' },
    remembered: [FULL],
  });
});
