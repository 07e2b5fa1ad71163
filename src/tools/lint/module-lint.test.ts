import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { NO_BINDINGS } from '../../hook-config/hook-config.ts';
import { NO_MANIFEST } from '../../modules/module-manifest.ts';
import { parseDirectoryName } from '../../modules/module-name.ts';
import { keyOfName } from '../../values/module-key.ts';
import { oldApi } from './api-versions.ts';
import { parseHelmIgnore } from './helm-ignore.ts';
import { lintModule } from './lint.ts';
import type { FileFacts, LintFacts } from './lint-facts.ts';
import { readModuleFiles } from './read-module.ts';
import { lintReportText } from './report.ts';

const file = (path: string, more: Partial<FileFacts> = {}): FileFacts => ({
  path,
  type: 'file',
  isExecutable: false,
  sizeBytes: 1,
  ...more,
});

function facts(files: readonly FileFacts[], more: Partial<LintFacts['parsed']> = {}): LintFacts {
  return {
    directory: 'modules/030-web',
    directoryName: '030-web',
    files,
    parsed: {
      problems: [],
      siblings: [],
      chartFiles: [],
      hookFiles: [],
      unusedFiles: [],
      hooks: [],
      renderings: [],
      namespacedKinds: new Set(),
      ...more,
    },
  };
}

const { name } = parseDirectoryName('030-web');
const WEB = { name, key: keyOfName(name), version: undefined, chart: 'none' } as const;

test('a module with too many bytes is too big', () => {
  const mib = 1024 * 1024;
  const rules = ['too-big'];
  expect(lintModule(facts([file('docs/a', { sizeBytes: 256 * mib })]), { rules }).findings).toEqual([]);
  expect(
    lintModule(facts([file('docs/a', { sizeBytes: 256 * mib }), file('docs/b', { sizeBytes: mib })]), {
      rules,
    }).findings,
  ).toMatchObject([{ rule: 'too-big', level: 'error', message: 'has 2 files with 257 MiB' }]);
});

test.each([
  ['*.swp', 'a/b.swp', false, true],
  ['/hooks/', 'hooks/a.sh', false, true],
  ['hooks/', 'hooks', false, false],
  ['templates/*.yaml', 'templates/a.yaml', false, true],
  ['templates/*.yaml', 'templates/sub/a.yaml', false, false],
  ['a?.txt', 'ab.txt', false, true],
  ['[ab].txt', 'b.txt', false, true],
  ['# a.txt', 'a.txt', false, false],
  ['!a.txt', 'b.txt', false, true],
  ['!a.txt', 'a.txt', false, false],
  ['**/a.txt', 'b/a.txt', false, false],
])(
  'helm with %s in .helmignore leaves out %s (directory: %s): %s',
  (pattern, path, isDirectory, expected) => {
    expect(parseHelmIgnore(pattern)(path, isDirectory)).toBe(expected);
  },
);

test.each([
  ['extensions/v1beta1', 'Ingress', { removedIn: '1.22', use: 'networking.k8s.io/v1' }],
  ['extensions/v1beta1', 'Deployment', { removedIn: '1.16', use: 'apps/v1' }],
  ['policy/v1beta1', 'PodDisruptionBudget', { removedIn: '1.25', use: 'policy/v1' }],
  ['autoscaling/v2beta1', 'HorizontalPodAutoscaler', { removedIn: '1.25', use: 'autoscaling/v2' }],
  ['storage.k8s.io/v1beta1', 'VolumeAttributesClass', undefined],
  ['v1', 'Endpoints', { use: 'discovery.k8s.io/v1 EndpointSlice' }],
  ['v1', 'Service', undefined],
  ['constructor', 'Service', undefined],
])('%s %s is an old API: %j', (apiVersion, kind, expected) => {
  expect(oldApi(apiVersion, kind)).toEqual(expected);
});

test('rules of profiles, and those that must be named, are checked only then', () => {
  const module = facts([], {
    module: { ...WEB, manifest: NO_MANIFEST },
    hooks: [
      {
        path: 'hooks/a.sh',
        unknownKinds: [],
        transport: 'executable',
        config: NO_BINDINGS,
      },
    ],
  });
  const codes = (selection: Parameters<typeof lintModule>[1]): readonly string[] =>
    lintModule(module, selection).findings.map(({ rule }) => rule);
  expect(codes({ rules: [] })).toEqual([]);
  expect(codes({ rules: [], profile: 'restricted' })).toEqual([]);
  expect(codes({ rules: [], profile: 'delivery' })).toEqual(['version-missing']);
  expect(codes({ rules: ['hook-without-timeout'] })).toEqual(['hook-without-timeout']);
});

test('reports escape what would be markup in them', () => {
  const report = lintModule(facts([file('<a>,b:c%')]), { rules: [] });
  expect(lintReportText('junit', [report])).toContain('classname="modules/030-web/&lt;a&gt;,b:c%"');
  expect(lintReportText('github', [report])).toBe(
    '::warning file=modules/030-web/<a>%2Cb%3Ac%25,title=unknown-file::is not used by the operator\n',
  );
});

test('texts, binaries and links of a module are read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'module-lint-'));
  try {
    await writeFile(join(directory, 'a.txt'), 'text');
    await writeFile(join(directory, 'b.bin'), Buffer.from([0xff, 0xfe]));
    expect(readModuleFiles(directory)).toEqual([
      { path: 'a.txt', type: 'file', isExecutable: false, sizeBytes: 4, text: 'text' },
      { path: 'b.bin', type: 'file', isExecutable: false, sizeBytes: 2 },
    ]);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a module without a number whose module.yaml has a weight has an order', () => {
  const codes = (weight: number | undefined): readonly string[] =>
    lintModule(
      { ...facts([], { module: { ...WEB, manifest: { ...NO_MANIFEST, weight } } }), directoryName: 'web' },
      { rules: ['number-missing'] },
    ).findings.map(({ rule }) => rule);
  expect(codes(undefined)).toEqual(['number-missing']);
  expect(codes(910)).toEqual([]);
});
