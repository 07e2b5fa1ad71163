import { expect, test } from 'vitest';
import { checkManifest, contentDigest, manifestText, serialOf } from './content-manifest.ts';

const WEB = {
  name: 'web',
  files: [
    { path: 'Chart.yaml', sha256: 'aa', size: 1 },
    { path: 'hooks/a.sh', sha256: 'bb', size: 2, executable: true },
    { path: 'link', link: 'Chart.yaml' },
  ],
} as const;
const TEXT = manifestText({ ...WEB, serial: 7 });

test('manifestText() has one line for each file', () => {
  expect(TEXT).toBe(`{
  "format": "addon-operator-module/v1",
  "name": "web",
  "serial": 7,
  "files": [
    {"path":"Chart.yaml","sha256":"aa","size":1},
    {"executable":true,"path":"hooks/a.sh","sha256":"bb","size":2},
    {"link":"Chart.yaml","path":"link"}
  ]
}
`);
  expect(JSON.parse(manifestText({ name: 'empty', serial: 1, files: [] }))).toMatchObject({ files: [] });
});

test('checkManifest() gives the serial number of a manifest that fits', () => {
  expect(checkManifest(TEXT, WEB)).toBe(7);
  expect(serialOf(TEXT)).toBe(7);
  expect(serialOf('{}')).toBeUndefined();
  expect(serialOf('nonsense')).toBeUndefined();
});

test.each([
  ['another module', TEXT, { ...WEB, name: 'db' }, 'was signed for the module "web"'],
  [
    'a changed file',
    TEXT,
    { ...WEB, files: [{ ...WEB.files[0], sha256: 'cc' }, ...WEB.files.slice(1)] },
    'Chart.yaml was changed',
  ],
  [
    'a mode that was changed',
    TEXT,
    {
      ...WEB,
      files: [WEB.files[0], { ...WEB.files[0], path: 'hooks/a.sh', sha256: 'bb', size: 2 }, WEB.files[2]],
    },
    'hooks/a.sh was changed',
  ],
  ['an added file', TEXT, { ...WEB, files: [...WEB.files, { path: 'new', link: 'link' }] }, 'new was added'],
  ['a missing file', TEXT, { ...WEB, files: WEB.files.slice(1) }, 'Chart.yaml is missing'],
  [
    'many differences',
    TEXT,
    { ...WEB, files: Array.from({ length: 9 }, (_, n) => ({ path: `n${n}`, link: 'x' })) },
    'hooks/a.sh is missing, link is missing, n0 was added, n1 was added and 7 more',
  ],
  ['no JSON', TEXT.slice(0, 20), WEB, 'is not valid JSON'],
  ['another JSON', '[]', WEB, 'is not a JSON object'],
  ['no list', '{"format":"addon-operator-module/v1","name":"web","serial":1}', WEB, 'has no list of files'],
  ['no serial number', TEXT.replace('7', '-7'), WEB, 'has no serial number'],
  ['another format', TEXT.replace('/v1', '/v2'), WEB, 'has the format "addon-operator-module/v2"'],
])('checkManifest() refuses %s', (_what, text, content, reason) => {
  expect(() => checkManifest(text, content)).toThrow(reason);
});

test('contentDigest() distinguishes names and contents', () => {
  const digests = [
    contentDigest(WEB),
    contentDigest({ ...WEB, name: 'db' }),
    contentDigest({ ...WEB, files: WEB.files.slice(1) }),
  ];
  expect(new Set(digests).size).toBe(3);
  expect(digests[0]).toMatch(/^sha256:[0-9a-f]{64}$/u);
  expect(contentDigest({ ...WEB })).toBe(digests[0]);
});
