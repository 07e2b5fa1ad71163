import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { daemonView } from '../../../test/support/daemon-view-stub.ts';
import { startDebugEndpoint } from '../../../test/support/debug-endpoint.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { runCli } from '../run-cli.ts';
import { versionsText } from './module-versions.ts';

test('versionsText() shows versions, and why one waits', () => {
  const install = {
    name: 'web',
    source: 'platform',
    installed: { version: '1.0.0', digest: 'sha256:aa', atMs: 0 },
    lastGood: { version: '1.0.0', digest: 'sha256:aa', atMs: 0 },
    wanted: { version: '1.1.0', digest: 'sha256:bb' },
    failed: [{ version: '0.9.0', digest: 'sha256:99', atMs: 0, why: 'bad' }],
    pending: {
      type: 'pending',
      version: '1.1.0',
      digest: 'sha256:bb',
      reason: 'OutsideWindow',
      message: 'updates wait for a window',
      untilMs: Date.UTC(2026, 10, 2, 20),
    },
  };
  expect(versionsText(install, 'oci://example.com/platform')).toBe(
    [
      'web',
      '  installed  1.0.0 sha256:aa',
      '  last good  1.0.0 sha256:aa',
      '  wanted     1.1.0 sha256:bb',
      '  failed     0.9.0 sha256:99',
      '  available  addon-operator module versions oci://example.com/platform/web',
      '  why        1.1.0 waits (OutsideWindow): updates wait for a window, until 2026-11-02T20:00:00.000Z',
    ].join('\n'),
  );
});

test('versionsText() shows what is wrong', () => {
  expect(versionsText({ name: 'web', missing: 'connection refused' }, undefined)).toBe(
    'web\n  problem    connection refused',
  );
});

const DELIVERED = {
  sources: [{ name: 'platform', url: 'oci://example.com/platform' }],
  installs: [
    { name: 'web', source: 'platform', installed: { version: '1.0.0', digest: 'sha256:aa' } },
    { name: 'shop', source: 'platform' },
  ],
};

/** Runs `module versions` against an operator that knows {@link DELIVERED}. */
async function versions(args: readonly string[]) {
  const directory = await mkdtemp(join(tmpdir(), 'versions-'));
  const path = join(directory, 'debug.socket');
  const server = await startDebugEndpoint(path, { view: daemonView({ delivery: () => DELIVERED }) });
  onTestFinished(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  const [out, err]: [string[], string[]] = [[], []];
  const exitCode = await runCli(['module', 'versions', ...args, '--debug-unix-socket', path], {
    env: {},
    cwd: directory,
    clock: new FakeClock(),
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    stopSignal: () => new AbortController().signal,
  });
  return { exitCode, stdout: out.join(''), stderr: err.join('') };
}

test.each([
  ['name', 'web\nshop\n'],
  ['json', `${JSON.stringify(DELIVERED.installs)}\n`],
  ['yaml', /^- installed:\n.*\n.*\n {2}name: web\n/],
])('module versions -o %s prints the modules of a running operator', async (format, expected) => {
  const { exitCode, stdout } = await versions(['-o', format]);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(expected);
});

test('module versions NAME refuses a module that comes from no source', async () => {
  const { exitCode, stderr } = await versions(['other']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('other does not come from a source');
});

test('module versions -w refuses a registry, which reports no changes', async () => {
  const { exitCode, stderr } = await versions(['oci://localhost:1/web', '-w']);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('-w is for modules of a running operator');
});
