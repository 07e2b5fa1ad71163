import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { projectRoot } from '../checks/checkout.ts';

// `npm run spine -- --write` brings the page up to date.
test('the way of an event in docs/architecture.md is what runs for one event', async () => {
  const program = join(projectRoot, 'test/checks/record-spine.ts');
  const { stdout, exitCode } = await execa(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', program, '--check'],
    { reject: false },
  );
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 0 });
});
