import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';
import { replaceSample, sampleNamed } from './sample-pages.ts';
import { SCENARIOS } from './scenarios.ts';

// `UPDATE_SAMPLES=1 npx vitest run --project contract test/docs` writes what came out into the pages.
const isUpdate = process.env['UPDATE_SAMPLES'] === '1';

describe('samples of the pages', () => {
  let backend: SandboxBackend;
  beforeAll(async () => {
    backend = await sandboxBackend();
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  test.each(SCENARIOS)('$title', async (scenario) => {
    const produced = await scenario.run(backend, sampleNamed);
    expect(Object.keys(produced).toSorted()).toEqual(scenario.gives.toSorted());
    for (const [name, text] of Object.entries(produced)) {
      if (isUpdate) replaceSample(name, text);
      expect(sampleNamed(name), `sample ${name}`).toBe(text);
    }
  });
});
