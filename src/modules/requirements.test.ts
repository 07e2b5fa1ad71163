import { expect, test } from 'vitest';
import type { ModuleName } from '../values/module-key.ts';
import { NO_MANIFEST } from './module-manifest.ts';
import { unmetRequirement } from './requirements.ts';

const DB = 'db' as ModuleName;

interface Case {
  readonly range?: string;
  readonly isOptional?: boolean;
  readonly version?: string | undefined;
  readonly isEnabled?: boolean;
  readonly isMissing?: boolean;
}

function unmet({ range, isOptional = false, version, isEnabled = true, isMissing = false }: Case) {
  const manifest = { ...NO_MANIFEST, requires: [{ name: DB, version: range, isOptional }] };
  return unmetRequirement(
    { name: 'web' as ModuleName, manifest },
    {
      modules: new Map(isMissing ? [] : [[DB, { version }]]),
      enabled: new Set(isEnabled && !isMissing ? [DB] : []),
    },
  );
}

test('unmetRequirement() is undefined when what is required is enabled in a fitting version', () => {
  expect(unmet({})).toBeUndefined();
  expect(unmet({ range: '>=1.2 <3', version: '2.0.0' })).toBeUndefined();
  expect(unmet({ range: '^1.2.0', version: '1.3.0-rc.1' })).toBeUndefined();
});

test.each(['>=0.0.0', '>=0', '*', '>=0.0.0 || <3'])(
  'unmetRequirement() takes no version for one in %s',
  (range) => {
    expect(unmet({ range })).toBeUndefined();
  },
);

test.each<[Case, string]>([
  [{ range: '>=0.0.1' }, 'but its version is unknown'],
  [{ range: '<99 || >=100' }, 'but its version is unknown'],
  [{ isMissing: true }, 'requires module db, which does not exist'],
  [{ isEnabled: false }, 'requires module db, which is disabled'],
  [{ range: '>=2', version: '1.9.9' }, 'requires module db in version >=2, but it has version 1.9.9'],
  [{ range: '>=2', isOptional: true, version: '1.0.0' }, 'but it has version 1.0.0'],
  [{ range: '>=2' }, 'but its version is unknown: set it in module.yaml or Chart.yaml'],
])('unmetRequirement() says what is wrong: %j', (facts, problem) => {
  expect(unmet(facts)).toContain(problem);
});

test('unmetRequirement() passes over an optional module that is not enabled', () => {
  expect(unmet({ isOptional: true, isMissing: true })).toBeUndefined();
  expect(unmet({ isOptional: true, isEnabled: false, range: '>=2', version: '1.0.0' })).toBeUndefined();
});

test.each<[string, string | undefined, boolean, string | undefined]>([
  ['>=1.27 <1.40', 'v1.34.2', false, undefined],
  ['>=1.28.3', 'v1.28.3-eks-1a2b3c', false, undefined],
  ['>=1.28', 'v1.27.16+k3s1', false, 'requires Kubernetes >=1.28, but the cluster has v1.27.16+k3s1'],
  ['>=1.28', 'v1.27.16', true, undefined],
  ['>=1.28', undefined, false, undefined],
])(
  'unmetRequirement() compares Kubernetes %s with %s (deployed: %s)',
  (range, version, isDeployed, problem) => {
    const name = 'web' as ModuleName;
    const facts = {
      modules: new Map(),
      enabled: new Set<ModuleName>(),
      deployed: new Set(isDeployed ? [name] : []),
      kubernetes: version,
    };
    expect(unmetRequirement({ name, manifest: { ...NO_MANIFEST, kubernetes: range } }, facts)).toBe(problem);
  },
);
