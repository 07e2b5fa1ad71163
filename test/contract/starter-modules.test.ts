import { afterAll, beforeAll, describe } from 'vitest';
import { starterTests } from '../examples/starter.ts';
import { type SandboxBackend, sandboxBackend } from '../support/backends.ts';

describe('starter modules on the sandbox', () => {
  let backend: SandboxBackend;
  beforeAll(async () => {
    backend = await sandboxBackend();
  });
  afterAll(() => backend[Symbol.asyncDispose]());

  starterTests(() => backend);
});
