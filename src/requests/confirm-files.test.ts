import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { expect, test } from 'vitest';
import { moduleFor } from '../../test/support/operator-lab.ts';
import { heldPurgeText } from '../model/purge-guard.ts';
import type { Refusal } from '../modules/module.ts';
import { type ConfirmFilesParts, confirmFiles } from './confirm-files.ts';

const gone = (lost: 'directory' | 'files'): Refusal => ({
  type: 'gone',
  lost,
  reason: 'it is gone',
  remedy: 'restore it',
});
const HELD_PURGE = { releases: ['web'], reason: 'the directory /modules is empty' };

/** The effects of a confirmation of the module `web`. */
async function confirmed(
  path: string,
  refusal: Refusal | undefined,
  purge: ConfirmFilesParts['converge']['purge'] = 'decided',
) {
  const forgotten: string[] = [];
  const tasks: unknown[] = [];
  const module = { ...moduleFor('web', 1, { ...(refusal && { refusal }), entries: ['Chart.yaml'] }), path };
  const problem = await confirmFiles(
    {
      registry: { find: () => (purge === 'decided' ? module : undefined) },
      converge: { purge },
      memory: { forget: (name) => forgotten.push(name) },
      router: { main: { prepend: (task) => tasks.push(task), cutDelay: () => undefined } },
      log: silentLogger,
    },
    'web',
  );
  return { problem, forgotten, tasks: tasks.length };
}

test.each<[string, [Refusal | undefined, typeof HELD_PURGE?], string]>([
  ['nothing is missing', [undefined], 'no files of module web are missing'],
  [
    'a file cannot be used',
    [{ type: 'invalid', reason: 'bad', remedy: 'correct it' }],
    'no files of module web are missing',
  ],
  [
    'its directory is lost',
    [gone('directory')],
    'no file of module web can be confirmed: it is gone; restore it',
  ],
  [
    'its release waits for a decision',
    [undefined, HELD_PURGE],
    `no file of module web can be confirmed, as it has no directory; ${heldPurgeText(HELD_PURGE)}`,
  ],
])('nothing is confirmed of a module when %s', async (_when, given, problem) => {
  expect(await confirmed('/modules/web', ...given)).toEqual({ problem, forgotten: [], tasks: 0 });
});

test('files that are missing are forgotten, and the module is read again', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'confirm-files-'));
  await writeFile(join(directory.path, 'Chart.yaml'), 'name: web\nversion: 0.1.0\n');
  expect(await confirmed(directory.path, gone('files'))).toEqual({
    problem: undefined,
    forgotten: ['web'],
    tasks: 1,
  });
});

test('nothing is confirmed when the directory is lost after a file was found missing', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'confirm-files-'));
  expect(await confirmed(directory.path, gone('files'))).toEqual({
    problem: expect.stringMatching(
      /^no file of module web can be confirmed: its directory .* is empty; restore/,
    ),
    forgotten: [],
    tasks: 0,
  });
});
