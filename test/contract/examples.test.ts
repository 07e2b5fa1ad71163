import { afterAll, beforeAll, describe } from 'vitest';
import { exampleTests } from '../examples/suite.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';

describe('examples on the sandbox', () => {
  let backend: SandboxBackend;
  beforeAll(async () => {
    backend = await sandboxBackend();
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  exampleTests(() => backend);
});
