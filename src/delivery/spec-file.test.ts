import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { expect, test, vi } from 'vitest';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { DeliverySpecs } from './delivery.ts';
import { nameOfSpec } from './records.ts';
import { followSpecFile, parseSpecFile } from './spec-file.ts';

const SOURCE = `apiVersion: addon-operator.io/v1alpha1
kind: ModuleSource
metadata: {name: platform}
spec: {url: 'oci://registry.example.com/platform'}
`;
const install = (name: string): string => `apiVersion: addon-operator.io/v1alpha1
kind: ModuleInstall
metadata: {name: ${name}}
spec: {source: platform, version: {channel: stable}}
`;
const FILE = [SOURCE, install('web'), ''].join('---\n');

test('parseSpecFile() reads sources and installs', () => {
  const { sources, installs } = parseSpecFile(FILE, 'sources.yaml');
  expect([...sources, ...installs].map(nameOfSpec)).toEqual(['platform', 'web']);
});

test.each([
  ['an empty file', '', /sources.yaml: no document/u],
  [
    'a file cut in the middle',
    `${SOURCE}---\napiVersion: addon-operator.io/v1alpha1\nkind: Modu`,
    /sources.yaml:5: must be a ModuleSource/u,
  ],
  ['YAML that is none', 'a: [', /sources.yaml:1/u],
  ['another kind', 'apiVersion: v1\nkind: Secret\n', /must be a ModuleSource or ModuleInstall/u],
  [
    'no name',
    'apiVersion: addon-operator.io/v1alpha1\nkind: ModuleSource\n',
    /ModuleSource without metadata.name/u,
  ],
  ['the same twice', [FILE, install('web')].join('---\n'), /two documents are ModuleInstall web/u],
  [
    'two mistakes',
    FILE.replace('stable', "''").replace('oci:', 'http:'),
    /spec.url.*\n.*spec.version.channel/u,
  ],
])('parseSpecFile() refuses %s', (_name, content, message) => {
  expect(() => parseSpecFile(content, 'sources.yaml')).toThrow(message);
});

test('followSpecFile() passes on changes, and nothing of an invalid file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'spec-file-'));
  const stop = new AbortController();
  try {
    const path = join(directory, 'sources.yaml');
    const clock = new FakeClock();
    const specs: DeliverySpecs[] = [];
    await writeFile(path, FILE);
    const { run } = await followSpecFile(
      path,
      { clock, log: silentLogger },
      (all) => specs.push(all),
      stop.signal,
    );
    const running = run().catch(() => undefined);
    const next = async (content: string): Promise<void> => {
      await clock.untilAsleep();
      await writeFile(path, content);
      await clock.advance(10_000);
      await clock.untilAsleep();
    };
    await next('');
    expect(specs).toHaveLength(1);
    await next([FILE, install('db')].join('---\n'));
    await vi.waitFor(() => expect(specs.at(-1)?.installs.map(nameOfSpec)).toEqual(['web', 'db']), 60_000);
    stop.abort();
    await running;
  } finally {
    stop.abort();
    await rm(directory, { recursive: true, force: true });
  }
});

test('followSpecFile() fails for a file that is not there', async () => {
  const following = followSpecFile(
    '/nowhere/sources.yaml',
    { clock: new FakeClock(), log: silentLogger },
    () => undefined,
    new AbortController().signal,
  );
  await expect(following).rejects.toThrow('cannot read --module-sources /nowhere/sources.yaml');
});
