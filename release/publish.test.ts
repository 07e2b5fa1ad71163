import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { cacheDirectory } from '../src/tools/pinned-tools/cache-directory.ts';
import { pinnedHelm } from '../src/tools/pinned-tools/pinned-tools.ts';
import { packChart } from './publish.ts';

const REPOSITORY = 'https://git.example.com/platform/addon-operator';
const signal = new AbortController().signal;

test('alerts of a published chart link to the runbooks at the tag of its version', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'packed-'));
  const archive = join(directory, 'chart.tgz');
  await writeFile(archive, await packChart(directory, REPOSITORY, 1_700_000_000, signal));
  const helm = await pinnedHelm(4, { cacheDir: cacheDirectory(process.env, homedir()) }, signal);
  const set = ['image.repository=x', 'metrics.alerts.enabled=true'].map((value) => `--set=${value}`);
  const { stdout } = await execa(helm, ['template', 'op', archive, ...set]);
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const page = `${REPOSITORY}/blob/v${version}/docs/runbooks.md`;
  expect(stdout).toContain(`runbook_url: ${page}#addonoperatorqueueheadstuck\n`);
  expect(stdout.match(/runbook_url: /g)).toHaveLength(stdout.match(/alert: /g)?.length ?? 0);
});
