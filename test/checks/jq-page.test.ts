import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '@addon-operator/base/errors';
import { silentLogger } from '@addon-operator/base/log';
import { selectJqEngine } from '@addon-operator/jq/engines/select-jq-engine';
import { expect, test } from 'vitest';
import { differencesTable } from '../../packages/jq/test/differences.ts';
import { ownProgram } from '../support/built-code.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { projectRoot } from './checkout.ts';

const page = readFileSync(join(projectRoot, 'docs/jq.md'), 'utf8');
const never = new AbortController().signal;

test('docs/jq.md ends with the table of differences that is tested', () => {
  const heading = '## What differs between engines';
  expect(page.slice(page.indexOf(heading))).toContain(`\n\n${differencesTable()}\n`);
});

test('docs/jq.md quotes the messages of the built-in engine', async () => {
  const builtinProgram = fileURLToPath(ownProgram('jq-builtin-main'));
  const log = silentLogger;
  const selection = { jqPath: 'builtin', builtinProgram, pathVariable: '', log, clock: new FakeClock() };
  const engine = await selectJqEngine(selection, never);
  const failureOf = async (program: string, input: unknown): Promise<string> =>
    await engine
      .compile(program, never)
      .then((filter) => filter.apply(input, never))
      .then(String, messageOf);
  try {
    expect(page).toContain(`\n${await failureOf('.a | halt', {})}\n`);
    expect(page).toContain(`\n${await failureOf('.spec.replicas + 1', 'text')}\n`);
    expect(page).toContain((await failureOf('[range(1e9)]', null)).split(': ')[1] ?? '');
  } finally {
    await engine.stop();
  }
});
