import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { expect, test } from 'vitest';
import { hookConfigValidator, schemaProblem } from './hook-config-schemas.ts';

const BUILD_PART = join(import.meta.dirname, '../../bin/compiled-validators.mjs');

interface Plugin {
  load(file: string): Promise<{ readonly code: string } | undefined>;
}

async function validatorsOfBuild(): Promise<Readonly<Record<string, ValidateFunction>>> {
  const build: { compiledValidators(source: string): Plugin } = await import(BUILD_PART);
  const plugin = build.compiledValidators(import.meta.dirname);
  expect(await plugin.load(import.meta.filename)).toBeUndefined();
  const loaded = await plugin.load(join(import.meta.dirname, 'compiled-validators.ts'));
  const directory = mkdtempSync(join(tmpdir(), 'validators-'));
  try {
    const file = join(directory, 'validators.mjs');
    // The bundler resolves what the code requires; Node needs to be given `require`.
    const header = `import { createRequire } from 'node:module';
const require = createRequire(${JSON.stringify(createRequire(import.meta.url).resolve('ajv'))});
`;
    writeFileSync(file, header + (loaded?.code ?? ''));
    const module: { compiledValidators: Readonly<Record<string, ValidateFunction>> } = await import(file);
    return module.compiledValidators;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const CONFIGS: readonly unknown[] = [
  {},
  { onStartup: 1 },
  { configVersion: 'v1', onStartup: 10, afterHelm: 5, beforeAll: 3 },
  { configVersion: 'v1', onStartup: '10', onStartUp: 1 },
  { configVersion: 'v1', schedule: [{ crontab: '* * * * *' }, { name: '', queue: 1 }, 'x'] },
  { configVersion: 'v1', kubernetes: [{ kind: 'Pod', executeHookOnEvent: ['Gone'] }, { apiVersion: 'v1' }] },
  { configVersion: 'v1', kubernetes: [], settings: { executionMinInterval: 1 } },
  {
    configVersion: 'v1',
    kubernetesValidating: [{ name: 'a', rules: [] }],
    kubernetesCustomResourceConversion: [{}],
  },
  [],
  'text',
];

test('validators that the build compiles find the same problems as those compiled at run time', async () => {
  const ofBuild = await validatorsOfBuild();
  const problems = (validate: ValidateFunction | undefined) =>
    CONFIGS.map((config) => [validate?.(config), (validate?.errors ?? []).map(schemaProblem)]);
  for (const version of ['v0', 'v1'] as const)
    for (const scope of ['global', 'module'] as const)
      expect(problems(ofBuild[`${version}_${scope}`])).toEqual(problems(hookConfigValidator(version, scope)));
});
