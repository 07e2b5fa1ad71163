import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type ChartContents,
  chartKind,
  readAllFiles,
  readChart,
  readChartFiles,
  stageChart,
} from './chart-source.ts';

const ALL = { type: 'all-but', directories: [] } as const;
const CHART: ChartContents = { kind: 'chart', selection: ALL };

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'chart-source-'));
});
afterEach(async () => await rm(root, { recursive: true, force: true }));

async function put(...paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), path);
  }
}

function paths(kind: 'chart' | 'templates'): string[] {
  return readChartFiles({ path: root }, { kind, selection: ALL }).map(({ path }) => path);
}

test('chartKind() distinguishes charts, bare templates and modules without a chart', async () => {
  await put('plain/hooks/a', 'bare/templates/a.yaml', 'chart/Chart.yaml', 'chart/templates/a.yaml');
  expect(['plain', 'bare', 'chart'].map((name) => chartKind(join(root, name)))).toEqual([
    undefined,
    'templates',
    'chart',
  ]);
});

test('readChartFiles() reads all files of a chart, sorted', async () => {
  await put('templates/b.yaml', 'templates/a.yaml', 'Chart.yaml', 'hooks/x.sh', '.git/HEAD');
  expect(paths('chart')).toEqual(['Chart.yaml', 'hooks/x.sh', 'templates/a.yaml', 'templates/b.yaml']);
});

test('readChartFiles() leaves out, at any depth, what is not in a chart made from templates', async () => {
  await put(
    'templates/a.yaml',
    'templates/lib/b.yaml',
    'hooks/x.sh',
    'crds/c.yaml',
    'docs/d',
    'images/e',
    'values.yaml',
  );
  expect(paths('templates')).toEqual(['templates/a.yaml', 'values.yaml']);
});

test('readChartFiles() follows links, and refuses a circle of them', async () => {
  await put('templates/a.yaml', 'shared/b.yaml');
  await symlink('../shared', join(root, 'templates/linked'));
  expect(paths('chart')).toContain('templates/linked/b.yaml');
  await symlink('..', join(root, 'templates/up'));
  expect(() => paths('chart')).toThrow(
    expect.objectContaining({
      code: 'MODULE_INVALID',
      message: expect.stringContaining('templates/up'),
    }),
  );
});

test('readChartFiles() says which directory cannot be read', async () => {
  await put('templates/a.yaml');
  await symlink('nowhere', join(root, 'templates/dangling'));
  expect(() => paths('chart')).toThrow(
    expect.objectContaining({ code: 'MODULE_INVALID', message: expect.stringContaining(root) }),
  );
});

test('stageChart() gives helm the directory of a chart itself', async () => {
  await put('Chart.yaml');
  expect(await stageChart({ name: 'web', path: root }, CHART, join(root, 'unused'))).toBe(root);
});

test.each(['chart', 'templates'] as const)(
  'a values.yaml that was read counts in place of the one in the directory, in a %s',
  async (kind) => {
    await put('module/Chart.yaml', 'module/templates/a.yaml', 'module/values.yaml');
    const path = join(root, 'module');
    const contents = { kind, selection: ALL };
    await writeFile(join(path, 'values.yaml'), '[broken');
    const staged = async (loadedValues: { readonly text: string | undefined }) => {
      const target = join(root, `staged-${loadedValues.text ?? 'none'}`);
      const directory = await stageChart({ name: 'web', path, loadedValues }, contents, target);
      const read = readChartFiles({ path, loadedValues }, contents).find(
        (file) => file.path === 'values.yaml',
      );
      const given = await readFile(join(directory, 'values.yaml'), 'utf8').catch(() => undefined);
      expect(read?.content.toString()).toBe(given);
      return [directory, given];
    };
    expect((await staged({ text: 'a: 1' }))[1]).toBe('a: 1');
    expect((await staged({ text: undefined }))[1]).toBeUndefined();
    // What is in the directory is what was read: helm reads it there.
    const [directory, given] = await staged({ text: '[broken' });
    expect(given).toBe('[broken');
    expect(directory === path).toBe(kind === 'chart');
    expect(await readFile(join(path, 'values.yaml'), 'utf8')).toBe('[broken');
  },
);

test('stageChart() makes a chart of bare templates elsewhere', async () => {
  await put(
    'module/templates/a.yaml',
    'module/templates/_lib.tpl',
    'module/hooks/x.sh',
    'module/.helmignore',
  );
  const target = join(root, 'staged');
  expect(
    await stageChart(
      { name: 'web', path: join(root, 'module') },
      { kind: 'templates', selection: ALL },
      target,
    ),
  ).toBe(target);
  expect((await readdir(target, { recursive: true })).toSorted()).toEqual([
    'Chart.yaml',
    'templates',
    'templates/_lib.tpl',
    'templates/a.yaml',
  ]);
  expect(JSON.parse(await readFile(join(target, 'Chart.yaml'), 'utf8'))).toEqual({
    apiVersion: 'v1',
    name: 'web',
    version: '0.2.0',
  });
  expect(await readdir(join(root, 'module'))).not.toContain('Chart.yaml');
});

const MIB = 1024 * 1024;

test('readChart() reads only what helm uses where templates read no files, and stageChart() copies that', async () => {
  await put(
    'module/Chart.yaml',
    'module/.helmignore',
    'module/values.yaml',
    'module/templates/a.yaml',
    'module/charts/lib/templates/_a.tpl',
    'module/hooks/x.sh',
    'module/docs/README.md',
    'module/openapi/values.yaml',
    'module/module.yaml',
  );
  const path = join(root, 'module');
  await truncate(join(path, 'hooks/x.sh'), 3 * 1024 * MIB);
  await symlink('nowhere', join(path, 'docs/dangling'));
  const { contents, files } = readChart({ path }, 'chart', {});
  const kept = [
    '.helmignore',
    'Chart.yaml',
    'charts/lib/templates/_a.tpl',
    'templates/a.yaml',
    'values.yaml',
  ];
  expect(files.map((file) => file.path)).toEqual(kept);
  const staged = await stageChart({ name: 'web', path }, contents, join(root, 'staged'));
  const copied = await readdir(staged, { recursive: true, withFileTypes: true });
  expect(
    copied
      .filter((entry) => entry.isFile())
      .map((entry) => relative(staged, join(entry.parentPath, entry.name)))
      .toSorted(),
  ).toEqual(kept);
});

test('readChart() also reads the files that templates read', async () => {
  await put('Chart.yaml', 'config/a.conf', 'config/b.conf', 'hooks/x.sh', 'hooks/y.sh');
  await mkdir(join(root, 'templates'));
  await writeFile(
    join(root, 'templates/a.yaml'),
    '{{ .Files.Get "config/a.conf" }}{{ .Files.Get "hooks/x.sh" }}',
  );
  const { files } = readChart({ path: root }, 'chart', {});
  expect(files.map(({ path }) => path)).toEqual([
    'Chart.yaml',
    'config/a.conf',
    'hooks/x.sh',
    'templates/a.yaml',
  ]);
});

test('readAllFiles() reads files that no template reads too, unless they are large or cannot be read', async () => {
  await put('Chart.yaml', 'hooks/x.sh', 'docs/README.md');
  const read = () => readAllFiles({ path: root }, 'chart')?.map(({ path }) => path);
  expect(read()).toEqual(['Chart.yaml', 'docs/README.md', 'hooks/x.sh']);
  await truncate(join(root, 'hooks/x.sh'), 3 * 1024 * MIB);
  expect(read()).toBeUndefined();
  await truncate(join(root, 'hooks/x.sh'), 0);
  await symlink('nowhere', join(root, 'docs/dangling'));
  expect(read()).toBeUndefined();
});

test('stageChart() copies nothing of a chart of which templates may read every file', async () => {
  await put('Chart.yaml', 'config/a.conf', 'README.md');
  await mkdir(join(root, 'templates'));
  await writeFile(join(root, 'templates/a.yaml'), '{{ .Files.Get .Values.file }}');
  const { contents } = readChart({ path: root }, 'chart', {});
  expect(await stageChart({ name: 'web', path: root }, contents, join(root, 'unused'))).toBe(root);
});
