import { spawnSync } from 'node:child_process';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneBackend } from '../support/backends.ts';
import { describeCluster } from '../support/control-plane/cluster-suite.ts';
import { DaemonProcess } from '../support/daemon-process.ts';
import { type Backend, World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

/** A process that sees a small disk of its own in place of the directory for temporary files. */
const SMALL_DISK = [
  'unshare',
  '-m',
  'sh',
  '-c',
  'mount -t tmpfs -o size=8m,mode=700 tmpfs "$DISK" && exec "$@"',
  'sh',
];
/**
 * A process that sees a /dev/shm in which nothing can be written, but for the directory for temporary files of the tests,
 * which may be there.
 */
const FULL_SHARED_MEMORY = [
  'unshare',
  '-m',
  'sh',
  '-c',
  `mount --bind "$KEPT" /mnt && mount -t tmpfs -o size=4k tmpfs /dev/shm && mkdir -p "$KEPT" && mount --bind /mnt "$KEPT" &&
    ! head -c 8k /dev/zero >/dev/shm/ballast && exec "$@"`,
  'sh',
];
const READY = 'ModuleRun success, module is ready';

const canMount =
  spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' }).status === 0;

const WATCH = `
kubernetes:
- apiVersion: v1
  kind: ConfigMap
  labelSelector: {matchLabels: {watched: "yes"}}
  namespace: {nameSelector: {matchNames: [$NAMESPACE]}}
  queue: watch
  executeHookOnSynchronization: false`;
const NAMES = `grep -o '"name":"event-[0-9]"' "$BINDING_CONTEXT_PATH" | sort -u`;

const MODULES = {
  'values.yaml': 'webEnabled: true\ndbEnabled: true\n',
  '002-web/hooks/run.sh': shHook('beforeHelm: 1', 'echo "web runs"'),
  ...under('001-db', configMapChart('db', 'db')),
};

describeCluster('a daemon whose temporary files cannot be written', (cluster) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await controlPlaneBackend(cluster());
  });

  async function start(world: World, wrapper: readonly string[] = SMALL_DISK): Promise<DaemonProcess> {
    const disk = join(world.directory, 'tmp');
    await execa('mkdir', ['-p', disk]);
    await world.write('global-hooks', {
      'watch.sh': shHook(WATCH.replace('$NAMESPACE', world.namespace), NAMES),
    });
    const daemon = DaemonProcess.start(world, {}, { DISK: disk, KEPT: tmpdir() }, wrapper);
    await daemon.untilConverged();
    return daemon;
  }

  /** The disk of a daemon as it sees it. */
  function diskOf(daemon: DaemonProcess, world: World): string {
    return join('/proc', String(daemon.pid), 'root', world.directory, 'tmp');
  }

  async function fill(disk: string): Promise<void> {
    const written = writeFile(join(disk, 'ballast'), Buffer.alloc(16 * 1024 * 1024));
    await expect(written).rejects.toMatchObject({ code: 'ENOSPC' });
  }

  /** As a second mount above the first one: files that are open for writing would hinder a change of that. */
  async function makeReadOnly(daemon: DaemonProcess, disk: string): Promise<void> {
    await inside(daemon, 'mount', '--bind', disk, disk);
    await inside(daemon, 'mount', '-o', 'remount,bind,ro', disk);
  }

  async function inside(daemon: DaemonProcess, ...command: readonly string[]): Promise<void> {
    await execa('nsenter', ['-m', '-t', String(daemon.pid), ...command]);
  }

  async function event(world: World, number: number): Promise<void> {
    const metadata = { name: `event-${number}`, labels: { watched: 'yes' } };
    await world.create('configmaps', { metadata });
  }

  function errors(daemon: DaemonProcess): readonly string[] {
    return daemon.log.records.flatMap(({ error }) => (typeof error === 'string' ? [error] : []));
  }

  test.skipIf(!canMount).each([
    ['full', 'ENOSPC'],
    ['read-only', 'EROFS'],
  ])(
    'reports what cannot be written while the disk is %s, and has lost nothing afterwards',
    async (state, code) => {
      await using world = await World.create(backend, { modules: MODULES, config: {} });
      await using daemon = await start(world);
      const disk = diskOf(daemon, world);
      const place = join(world.directory, 'tmp');
      if (state === 'full') await fill(disk);
      else await makeReadOnly(daemon, place);

      await event(world, 1);
      await event(world, 2);
      await world.putConfig({ web: 'a: 1', db: 'a: 1' });
      await daemon.log.until(() => errors(daemon).filter((error) => error.includes(code)).length >= 3);
      expect(daemon.log.records.filter(({ msg }) => msg === READY)).toHaveLength(2);
      for (const error of errors(daemon).filter((text) => text.includes(code))) {
        expect(error).toContain(place);
        expect(error).toContain('--tmp-dir');
      }
      expect(await daemon.status('/healthz')).toBe(200);

      if (state === 'full') await rm(join(disk, 'ballast'));
      else await inside(daemon, 'umount', place);
      await daemon.log.untilMessage(READY, 4);
      await daemon.log.until(() => daemon.log.printed.includes('"name":"event-2"'));
      expect(daemon.log.printed.filter((line) => line.includes('event-'))).toEqual([
        '"name":"event-1"',
        '"name":"event-2"',
      ]);
      expect(await world.get('configmaps', 'db')).toMatchObject({ data: { values: '{"a":1}' } });
      // What it prints is known before it has come to its end.
      await vi.waitFor(
        async () => expect((await readdir(disk)).filter((name) => name.startsWith('run-'))).toEqual([]),
        60_000,
      );
    },
  );

  test.skipIf(!canMount)('says so of the files of an enabled script, and goes on by itself', async () => {
    const enabled = '#!/bin/sh\necho true > "$MODULE_ENABLED_RESULT"\n';
    const modules = { ...MODULES, '002-web/enabled': enabled };
    await using world = await World.create(backend, { modules, config: {} });
    await using daemon = await start(world);
    await fill(diskOf(daemon, world));
    await world.putConfig({ global: 'a: 1' });
    const reported = (): string | undefined =>
      errors(daemon).find((error) => error.includes('enabled script'));
    await daemon.log.until(() => reported() !== undefined);
    expect(reported()).toContain(`Cannot write its files in ${join(world.directory, 'tmp')}: ENOSPC`);
    await rm(join(diskOf(daemon, world), 'ballast'));
    await daemon.log.untilMessage(READY, 4);
  });

  test.skipIf(!canMount)('works while /dev/shm is full', async () => {
    await using world = await World.create(backend, { modules: MODULES, config: {} });
    await using daemon = await start(world, FULL_SHARED_MEMORY);
    const ballast = await stat(join('/proc', String(daemon.pid), 'root', 'dev/shm/ballast'));
    expect(ballast.size).toBe(4096);
    await event(world, 1);
    await daemon.log.until(() => daemon.log.printed.includes('"name":"event-1"'));
    expect(errors(daemon)).toEqual([]);
  });
});
