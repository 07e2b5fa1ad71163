import { afterAll, beforeAll, describe } from 'vitest';
import { lifecycleTests } from '../lifecycle/suite.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';

describe('lifecycle on the sandbox', () => {
  let backend: SandboxBackend;
  beforeAll(async () => {
    backend = await sandboxBackend();
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  lifecycleTests(() => backend);
});
