import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { tarEntries } from '@addon-operator/files/tar';
import { expect, test } from 'vitest';
import { bundleOf } from './bundle.ts';
import { CHECKS, findingsOf, findingsText, leftOut } from './checks.ts';
import type { ClusterFacts, DoctorFacts, MachineFacts } from './facts.ts';
import { machineFacts } from './machine-facts.ts';

const MIB = 1024 * 1024;
const MACHINE: MachineFacts = {
  tmpDir: { path: '/tmp', isNoexec: false, freeBytes: 500 * MIB },
  maxOpenFiles: 65_536,
  maxWatches: 65_536,
};
const CLUSTER: ClusterFacts = {
  namespace: 'ops',
  configMap: 'addon-operator',
  serverVersion: 'v1.35.0',
  clockSkewMs: 900,
  unknownKeys: [],
  releases: [{ name: 'web', status: 'deployed' }],
  releaseSecrets: [{ name: 'sh.helm.release.v1.web.v1', bytes: 0.5 * MIB }],
  missingAccess: [],
  accessProblems: [],
  sourceProblems: [],
};
const WELL: DoctorFacts = {
  machine: MACHINE,
  cluster: CLUSTER,
  daemon: { level: 'waiting', problems: ['main has tasks'] },
};
const { tmpDir } = MACHINE;

test('says nothing when all is well', () => {
  expect(findingsOf(WELL)).toEqual([]);
  expect(findingsText([])).toBe('');
  expect(leftOut(WELL)).toEqual([]);
});

const FAULTS: readonly (readonly [string, DoctorFacts, string, string])[] = [
  [
    'start',
    { machine: MACHINE, failure: { code: 'MODULE_INVALID', message: 'no' } },
    'no',
    'addon-operator module lint',
  ],
  [
    'tmp-dir',
    { ...WELL, machine: { ...MACHINE, tmpDir: { ...tmpDir, problem: 'EACCES' } } },
    'EACCES',
    'addon-operator help flags',
  ],
  [
    'tmp-dir',
    { ...WELL, machine: { ...MACHINE, tmpDir: { ...tmpDir, isNoexec: true } } },
    'noexec',
    'mount -o remount,exec /tmp',
  ],
  [
    'tmp-dir',
    { ...WELL, machine: { ...MACHINE, tmpDir: { ...tmpDir, freeBytes: MIB } } },
    '1 MiB left',
    'df -h /tmp',
  ],
  [
    'module-store',
    { ...WELL, machine: { ...MACHINE, moduleStore: { ...tmpDir, path: '/store', freeBytes: MIB } } },
    '/store has 1 MiB left',
    'df -h /store',
  ],
  [
    'source',
    { ...WELL, cluster: { ...CLUSTER, sourceProblems: [{ source: 'platform', message: 'no such Secret' }] } },
    'ModuleSource platform: no such Secret',
    'kubectl edit modulesource platform',
  ],
  [
    'open-files',
    { ...WELL, machine: { ...MACHINE, maxOpenFiles: 256 } },
    'only 256 files',
    'ulimit -n 65536',
  ],
  [
    'watches',
    { ...WELL, machine: { ...MACHINE, maxWatches: 100 } },
    'only 100 files',
    'sysctl -w fs.inotify.max_user_watches=65536',
  ],
  [
    'clock-skew',
    { ...WELL, cluster: { ...CLUSTER, clockSkewMs: -9_000 } },
    '9 s ahead of',
    'timedatectl status',
  ],
  [
    'clock-skew',
    { ...WELL, cluster: { ...CLUSTER, clockSkewMs: 9_000 } },
    '9 s behind',
    'timedatectl status',
  ],
  [
    'unknown-key',
    { ...WELL, cluster: { ...CLUSTER, unknownKeys: ['wbe'] } },
    'has wbe',
    'kubectl -n ops edit configmap addon-operator',
  ],
  [
    'permission',
    { ...WELL, cluster: { ...CLUSTER, missingAccess: ['list secrets'] } },
    'list secrets',
    'addon-operator rbac | kubectl apply -f -',
  ],
  [
    'permission',
    { ...WELL, cluster: { ...CLUSTER, accessProblems: ['module web'] } },
    'module web',
    'addon-operator module lint',
  ],
  [
    'release',
    { ...WELL, cluster: { ...CLUSTER, releases: [{ name: 'web', status: 'pending-upgrade' }] } },
    'is pending-upgrade',
    'addon-operator module release-unlock web',
  ],
  [
    'release-size',
    { ...WELL, cluster: { ...CLUSTER, releaseSecrets: [{ name: 'big', bytes: 0.8 * MIB }] } },
    '819 of 1024 KiB',
    'addon-operator module lint --rule release-near-limit',
  ],
  [
    'operator',
    { ...WELL, daemon: { level: 'broken', problems: ['module web failed'] } },
    'module web failed',
    'addon-operator status',
  ],
];

test.each(FAULTS)('%s finds a planted fault: %#', (code, facts, message, command) => {
  expect(findingsOf(facts)).toEqual([{ code, command, message: expect.stringContaining(message) }]);
});

test('each check has a planted fault', () => {
  expect(new Set(FAULTS.map(([code]) => code))).toEqual(new Set(CHECKS.map(({ code }) => code)));
});

test('says what was left out', () => {
  expect(leftOut({ machine: MACHINE })).toHaveLength(2);
  expect(leftOut({ ...WELL, isWithoutCluster: true })).toEqual([expect.stringContaining('no cluster')]);
});

test('reads this machine as the kernel describes it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'doctor-'));
  try {
    const files = {
      mounts: join(directory, 'mounts'),
      limits: join(directory, 'limits'),
      maxWatches: join(directory, 'watches'),
    };
    await writeFile(files.mounts, `/dev/a / ext4 rw 0 0\ntmpfs ${directory} tmpfs rw,noexec 0 0\n`);
    await writeFile(
      files.limits,
      'Limit  Soft Limit  Hard Limit\nMax open files            512   1024  files\n',
    );
    await writeFile(files.maxWatches, '4096\n');
    expect(
      machineFacts({ tmpDir: join(directory, 'tmp'), moduleStore: join(directory, 'store') }, true, files),
    ).toMatchObject({
      tmpDir: { isNoexec: true },
      moduleStore: { path: join(directory, 'store'), isNoexec: true },
      maxOpenFiles: 512,
      maxWatches: 4_096,
    });
    expect(machineFacts({ tmpDir: files.limits, moduleStore: undefined }, false, files)).toEqual({
      tmpDir: {
        path: files.limits,
        problem: expect.stringContaining('EEXIST'),
        isNoexec: false,
        freeBytes: 0,
      },
      maxOpenFiles: 512,
    });
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('a bundle is an archive of JSON files without secrets', () => {
  const archive = bundleOf(
    {
      'settings.json': { token: 'abc', server: 'https://me:pw@example.com', empty: { password: '' } },
      'status.json': ['Authorization: Bearer abc.def'],
    },
    0,
  );
  const entries = [...tarEntries(gunzipSync(archive))];
  expect(entries.map(({ name, content }) => [name, JSON.parse(content.toString()) as unknown])).toEqual([
    ['settings.json', { token: '***', server: 'https://***@example.com', empty: { password: '' } }],
    ['status.json', ['Authorization: ***']],
  ]);
});
