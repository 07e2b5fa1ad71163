import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { smallCheckout } from './checkout.ts';

const MAIN = `
const [, , ...args] = process.argv;
process.on('SIGTERM', () => {
  console.log('stopping');
  process.exit(7);
});
console.log(args.join(' '));
if (args.includes('--wait')) setInterval(() => undefined, 1_000);
`;
let root = '';

beforeAll(() => {
  root = smallCheckout(MAIN);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('bootstrap start passes its arguments to the sandbox command', async () => {
  const { stdout } = await execa(process.execPath, [join(root, 'bin/bootstrap.mjs'), 'start', '--reset']);
  expect(stdout).toBe('sandbox --reset');
});

test('bootstrap forwards SIGTERM, waits for the child and exits with its code', async () => {
  const run = execa(process.execPath, [join(root, 'bin/bootstrap.mjs'), 'start', '--wait'], {
    reject: false,
  });
  await once(run.stdout, 'data');
  run.kill('SIGTERM');
  const { exitCode, stdout } = await run;
  expect([exitCode, stdout]).toEqual([7, 'sandbox --wait\nstopping']);
});

test('bootstrap test names the checks that failed, ends the preparation of tools, and runs nothing else', async () => {
  mkdirSync(join(root, 'test/support'), { recursive: true });
  writeFileSync(join(root, 'test/support/prepare-tools.ts'), 'setInterval(() => undefined, 1_000);');
  const packageFile = join(root, 'package.json');
  const scripts = {
    'format:check': 'echo formatted',
    lint: 'echo found something; exit 1',
    typecheck: 'echo a type is wrong; exit 9',
    measures: 'echo measured',
  };
  writeFileSync(packageFile, JSON.stringify({ ...JSON.parse(readFileSync(packageFile, 'utf8')), scripts }));
  const { exitCode, stdout } = await execa(process.execPath, [join(root, 'bin/bootstrap.mjs'), 'test'], {
    reject: false,
  });
  expect(exitCode).toBe(1);
  expect(stdout.replaceAll(/\(\d+\.\d s\)/g, '(time)')).toBe(
    'check format: ok (time)\nfound something\ncheck lint: failed (npm run lint)\na type is wrong\ncheck types: failed (npm run typecheck)\nmeasured --totals\n\n0 passed, 2 failed, 0 skipped',
  );
});

test('bootstrap knows two commands', async () => {
  const { exitCode, stderr } = await execa(process.execPath, [join(root, 'bin/bootstrap.mjs'), 'stop'], {
    reject: false,
  });
  expect([exitCode, stderr]).toEqual([2, 'usage: node bin/bootstrap.mjs start|test [args]']);
});
