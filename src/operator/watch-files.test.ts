import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { daemonHost, type TestHost } from '../../test/support/daemon-host.ts';
import { type OperatorLab, operatorLab } from '../../test/support/operator-lab.ts';
import { watchFiles } from './watch-files.ts';

let root: string;

beforeEach(() => {
  // Checkouts may well lie below a directory whose name begins with a dot.
  root = join(mkdtempSync(join(tmpdir(), 'watch-files-')), '.hidden', 'modules');
  mkdirSync(join(root, 'web', 'hooks'), { recursive: true });
});

afterEach(() => {
  rmSync(join(root, '..', '..'), { recursive: true });
});

/** Lets the watch be quiet for long enough until it asks for a reload. */
async function untilReload(host: TestHost, lab: OperatorLab): Promise<void> {
  while (!lab.main.entries.some(({ task }) => task.type === 'ReloadFiles')) {
    await host.clock.untilAsleep();
    await host.clock.advance(300);
  }
}

async function watching() {
  const lab = await operatorLab([]);
  const host = daemonHost();
  const stop = new AbortController();
  // The second one does not exist, so what may become it is watched too.
  const end = watchFiles([root, join(root, '..', 'customizations')], host, lab.operator, stop.signal);
  await host.captured.untilMessage('watching files for changes');
  return {
    lab,
    host,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await end();
      await lab[Symbol.asyncDispose]();
    },
  };
}

test('a change queues a reload at the head of main, once all is quiet', async () => {
  await using watch = await watching();
  const { host, lab } = watch;
  lab.operator.router.queueConverge('GlobalValuesChanged', 'waiting');
  writeFileSync(join(root, 'web', 'hooks', 'a.sh'), 'one');
  await host.clock.untilAsleep();
  await host.clock.advance(299);
  expect(lab.tasks()).toEqual(['ConvergeModules:::waiting']);
  await untilReload(host, lab);
  expect([lab.tasks()[0], lab.tasks().at(-1)]).toEqual([
    'ReloadFiles:::Files-Changed',
    'ConvergeModules:::waiting',
  ]);
  expect(lab.journal.marks.since(0)).toMatchObject([{ kind: 'files', text: 'files saved: a.sh' }]);
});

test('files whose name begins with a dot do not count', async () => {
  await using watch = await watching();
  const { host, lab } = watch;
  writeFileSync(join(root, 'web', 'hooks', '.a.sh.swp'), 'x');
  writeFileSync(join(root, 'web', 'hooks', 'a.sh'), 'x');
  await untilReload(host, lab);
  const paths = host.captured.records.flatMap(({ path }) => (path === undefined ? [] : [path]));
  expect(new Set(paths)).toEqual(new Set([join(root, 'web', 'hooks', 'a.sh')]));
});

test('files beside a watched directory do not count', async () => {
  const beside = join(root, '..', 'beside');
  writeFileSync(beside, 'x');
  await using watch = await watching();
  const { host, lab } = watch;
  writeFileSync(beside, 'y');
  writeFileSync(join(root, 'web', 'hooks', 'a.sh'), 'x');
  await untilReload(host, lab);
  expect(lab.main.entries[0]?.task).toMatchObject({
    type: 'ReloadFiles',
    saved: [{ path: join(root, 'web', 'hooks', 'a.sh') }],
  });
});

test('a chmod counts, also of a file that appeared in the meantime', async () => {
  const path = join(root, 'web', 'hooks', 'a.sh');
  await using watch = await watching();
  const { host, lab } = watch;
  writeFileSync(path, 'x', { mode: 0o644 });
  await untilReload(host, lab);
  lab.main.remove(() => true);
  utimesSync(path, new Date(2_000_000), new Date(1_000_000));
  await untilReload(host, lab);
  lab.main.remove(() => true);
  chmodSync(path, 0o755);
  await untilReload(host, lab);
  expect(lab.main.entries.map(({ task }) => task)).toContainEqual(
    expect.objectContaining({ type: 'ReloadFiles', saved: [{ path, real: path }] }),
  );
});
