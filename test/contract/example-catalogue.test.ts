import { afterAll, beforeAll, describe } from 'vitest';
import { catalogueApplicationTests, catalogueBindingTests } from '../examples/catalogue/suite.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';

describe('example catalogue on the sandbox', () => {
  let backend: SandboxBackend;
  beforeAll(async () => {
    backend = await sandboxBackend();
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  catalogueBindingTests(() => backend);
  catalogueApplicationTests(() => backend);
});
