import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeStagingDirectory } from './staging-directory.ts';

/** Above what the kernel allows, so that no process has it. */
const DEAD_PID = 2 ** 22 + 1;
let root = '';

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'staging-'));
});

afterEach(() => rm(root, { recursive: true }));

test('makeStagingDirectory() makes a directory for us alone, and its parent if missing', async () => {
  const directory = await makeStagingDirectory(join(root, 'modules'), []);
  expect(directory.startsWith(join(root, 'modules', `run-${process.pid}-`))).toBe(true);
  const modes = await Promise.all(
    [join(root, 'modules'), directory].map(async (path) => (await stat(path)).mode & 0o777),
  );
  expect(modes).toEqual([0o700, 0o700]);
});

test('makeStagingDirectory() removes what dead daemons have left, and nothing else', async () => {
  for (const name of [`run-${DEAD_PID}-a`, `run-${process.pid}-b`, `run-${process.ppid}-c`, 'other'])
    await mkdir(join(root, name));
  await writeFile(join(root, `run-${DEAD_PID}-a`, 'file'), '');
  await makeStagingDirectory(root, []);
  expect((await readdir(root)).filter((name) => name.length < `run-${process.pid}-abcdef`.length)).toEqual(
    [`run-${process.ppid}-c`, 'other'].toSorted(),
  );
});

test('makeStagingDirectory() refuses what others could change', async () => {
  const path = join(root, 'modules');
  await mkdir(path);
  await chmod(path, 0o770);
  await expect(makeStagingDirectory(path, [])).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: `--auth-staging-dir (AUTH_STAGING_DIR) ${path}: other users can write to it; set it to a directory outside of the modules directories that only the user of the daemon can write to`,
  });
  await chmod(path, 0o700);
  await chmod(root, 0o777);
  await expect(makeStagingDirectory(path, [])).rejects.toThrow(`other users can write to ${root}`);
  await chmod(root, 0o1777);
  await makeStagingDirectory(path, []);
  await symlink(path, join(root, 'link'));
  await expect(makeStagingDirectory(join(root, 'link'), [])).rejects.toThrow('it is not a directory');
});

test.skipIf(process.getuid?.() !== 0)(
  'makeStagingDirectory() refuses a place below the directory of another user',
  async () => {
    await mkdir(join(root, 'theirs', 'tmp'), { recursive: true });
    await chown(join(root, 'theirs'), 12_345, 12_345);
    await expect(makeStagingDirectory(join(root, 'theirs', 'tmp', 'modules'), [])).rejects.toThrow(
      `${join(root, 'theirs')} belongs to another user, who could replace it`,
    );
  },
);

test('makeStagingDirectory() refuses a place inside of a modules directory, also one behind a link', async () => {
  const modules = join(root, 'modules');
  await mkdir(modules);
  await symlink(modules, join(root, 'link'));
  for (const path of [modules, join(modules, 'staged'), join(root, 'link', 'staged')])
    await expect(makeStagingDirectory(path, [join(root, 'missing'), modules])).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(
        /^--auth-staging-dir \(AUTH_STAGING_DIR\) .*: it is inside the modules directory .*modules;/u,
      ),
    });
  await makeStagingDirectory(join(root, 'modules-staged'), [modules]);
});
