import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import { describe, expect, test, vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { readRecording } from '../../src/recordings/hook-recordings.ts';
import { describeApiIndependent } from '../support/lifecycle-suite.ts';
import { World } from '../support/world.ts';
import { type CommandResult, runInWorld } from '../support/world-command.ts';
import { shHook, writeTree } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 50 };
const PASSWORD = 'hunter22-swordfish';
const HOOK = shHook(
  `kubernetes:
- {name: secrets, kind: Secret, apiVersion: v1, nameSelector: {matchNames: [record-db]}}`,
  `data=$(sed 's/.*"password":"\\([^"]*\\)".*/\\1/' "$BINDING_CONTEXT_PATH")
cat > "$KUBERNETES_PATCH_PATH" <<PATCH
operation: CreateOrUpdate
object: {apiVersion: v1, kind: ConfigMap, metadata: {name: url, namespace: $NAMESPACE}, data: {url: "db://$(echo "$data" | base64 -d)@db"}}
PATCH`,
);

const MAY_FAIL = `kubernetes:
- {name: secrets, kind: Secret, apiVersion: v1, nameSelector: {matchNames: [record-db]}, allowFailure: true}`;

async function recordedWorld(backend: Parameters<typeof World.create>[0]): Promise<World> {
  const world = await World.create(backend, { globalHooks: { 'url.sh': HOOK } });
  const data = { password: Buffer.from(PASSWORD).toString('base64') };
  const secret = { metadata: { name: 'record-db' }, data };
  await world.create('secrets', secret);
  await world.converge();
  return world;
}

interface Recording {
  /** Resolves when runs are recorded. */
  readonly ready: Promise<void>;
  readonly result: Promise<CommandResult>;
  readonly stop: AbortController;
}

function record(world: World, ...args: readonly string[]): Recording {
  const stop = new AbortController();
  const said = { stdout: '', stderr: '' };
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  const result = runCli(['hook', 'record', ...args], {
    env: {
      ...world.hostEnv,
      ...world.settingsEnv,
      DEBUG_UNIX_SOCKET: world.flags['debug-unix-socket'],
    },
    cwd: world.directory,
    clock: systemClock,
    stdout: {
      write: (text: string) => {
        said.stdout += text;
        if (said.stdout.includes('recording runs of')) resolve();
      },
    },
    stderr: { write: (text: string) => (said.stderr += text) },
    stopSignal: () => stop.signal,
  }).then((exitCode) => {
    resolve();
    return { exitCode, ...said };
  });
  return { ready, result, stop };
}

const filesIn = async (world: World, directory: string): Promise<readonly string[]> =>
  await readdir(join(world.directory, directory)).catch(() => []);

describeApiIndependent((backend) => {
  describe('hook record', () => {
    test('writes each run to a private file with masked secrets, and a test of the last one that passes', async () => {
      await using world = await recordedWorld(backend());
      const { ready, result } = record(world, 'url.sh', '--runs=2', '--as-test=tests/url.hook-test.yaml');
      await ready;
      expect(world.daemon.built.recorder.isOn).toBe(true);
      for (let run = 0; run < 2; run += 1)
        expect(await runInWorld(world, 'hook', 'trigger', 'url.sh', 'secrets')).toMatchObject({
          exitCode: 0,
        });
      const { exitCode, stdout, stderr } = await result;
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toContain('2 runs recorded in recordings\n');
      const files = await filesIn(world, 'recordings');
      expect(files).toHaveLength(2);
      for (const file of files) {
        const path = join(world.directory, 'recordings', file);
        expect((await stat(path)).mode & 0o777).toBe(0o600);
        const text = await readFile(path, 'utf8');
        expect(text).not.toContain(PASSWORD);
        expect(text).not.toContain(Buffer.from(PASSWORD).toString('base64'));
        const recording = readRecording(file, text);
        expect(recording).toMatchObject({
          hook: 'url.sh',
          module: '',
          binding: 'secrets',
          secrets: 'masked',
        });
        expect(recording.contexts).toMatchObject([
          { type: 'Synchronization', objects: [{ object: { data: { password: 'KioqMQ==' } } }] },
        ]);
        expect(recording.outputs?.kubernetesPatch).toContain('url: "db://***1@db"');
        expect(recording.env).toContain('WORLD');
      }
      const tested = await runInWorld(world, 'hook', 'test', 'tests');
      expect(tested).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 passed, 0 failed') });
      const replayed = await runInWorld(world, 'hook', 'replay');
      expect(replayed).toMatchObject({
        exitCode: 0,
        stdout: "2 recorded runs on today's hooks: 2 same, 0 differ\n",
      });
      await writeTree(world.directory, { 'global-hooks/url.sh': HOOK.replace('@db', '@database') });
      const changed = await runInWorld(world, 'hook', 'replay');
      expect(changed).toMatchObject({
        exitCode: 1,
        stdout: expect.stringMatching(
          /- +url: db:\/\/\*\*\*1@db\n +\+ +url: db:\/\/\*\*\*1@database\n[^]*\n {2}as recordings\/[^]*0 same, 2 differ\n$/,
        ),
      });
      await vi.waitFor(() => expect(world.daemon.built.recorder.isOn).toBe(false), WAIT);
    });

    test('with secrets says so; Ctrl-C ends it, and the operator records no more', async () => {
      await using world = await recordedWorld(backend());
      const { ready, result, stop } = record(world, '--with-secrets', '-o', 'all');
      await ready;
      await runInWorld(world, 'hook', 'trigger', 'url.sh', 'secrets');
      await vi.waitFor(async () => {
        const [file] = await filesIn(world, 'all');
        expect(file).toMatch(/\.json$/);
      }, WAIT);
      stop.abort();
      const { exitCode, stdout, stderr } = await result;
      expect({ exitCode, stderr }).toEqual({
        exitCode: 0,
        stderr: 'The recordings will contain secrets: keep them from others\n',
      });
      expect(stdout).toContain('1 run recorded in all\n');
      const [file = ''] = await filesIn(world, 'all');
      expect(await readFile(join(world.directory, 'all', file), 'utf8')).toContain(`db://${PASSWORD}@db`);
      await vi.waitFor(() => expect(world.daemon.built.recorder.isOn).toBe(false), WAIT);
    });

    test('writes the last runs that failed, which the operator has kept with masked secrets', async () => {
      const password = Buffer.from(PASSWORD).toString('base64');
      await using world = await World.create(backend(), {
        flags: { 'record-failed': '2' },
        globalHooks: {
          'a.sh': shHook(MAY_FAIL, 'exit 3'),
          'b.sh': shHook(MAY_FAIL, `echo "no login with $(echo ${password} | base64 -d)" >&2; exit 4`),
          'c.sh': shHook(MAY_FAIL, `echo '[{"op": "remove", "path": "/other"}]' > "$VALUES_JSON_PATCH_PATH"`),
          'd.sh': shHook(MAY_FAIL, ':'),
        },
      });
      const secret = { metadata: { name: 'record-db' }, data: { password } };
      await world.create('secrets', secret);
      await world.converge();
      expect(await runInWorld(world, 'hook', 'record', '--failed')).toEqual({
        exitCode: 0,
        stderr: '',
        stdout: expect.stringMatching(
          /^recordings\/.*-0001-b\.sh\.json: b\.sh for secrets\nrecordings\/.*-0002-c\.sh\.json: c\.sh for secrets\n2 runs recorded in recordings\n$/,
        ),
      });
      const files = await filesIn(world, 'recordings');
      const texts = await Promise.all(
        files.toSorted().map((file) => readFile(join(world.directory, 'recordings', file), 'utf8')),
      );
      expect(texts.join('')).not.toMatch(new RegExp(`${PASSWORD}|${password}`));
      const [b, c] = texts.map((text) => readRecording('a', text));
      expect(b).toMatchObject({
        hook: 'b.sh',
        secrets: 'masked',
        exitCode: 4,
        error: expect.stringContaining('no login with ***1'),
        contexts: [{ type: 'Synchronization', objects: [{ object: { data: { password: 'KioqMQ==' } } }] }],
      });
      expect(b?.outputs).toBeUndefined();
      expect(c).toMatchObject({
        hook: 'c.sh',
        error: expect.stringContaining('/other'),
        outputs: { valuesPatch: expect.stringContaining('/other') },
      });
      expect(await runInWorld(world, 'hook', 'replay')).toMatchObject({
        exitCode: 0,
        stdout: "2 recorded runs on today's hooks: 2 same, 0 differ\n",
      });
      expect(await runInWorld(world, 'hook', 'record', '--failed', 'c.sh', '-o', 'c')).toMatchObject({
        stdout: expect.stringContaining('1 run recorded in c\n'),
      });
      const refused = await runInWorld(world, 'hook', 'record', '--failed', '--for=1m');
      expect(refused.stderr).toContain('--failed and --for cannot be used together');
    });

    test('fails when the operator ends, the directory cannot be written, or the hook does not exist', async () => {
      await using world = await recordedWorld(backend());
      const unknown = await record(world, 'urls.sh').result;
      expect(unknown).toMatchObject({ exitCode: 1 });
      expect(unknown.stderr).toContain('there is no hook urls.sh (did you mean "url.sh"?)');
      expect(await record(world, '--runs=0').result).toMatchObject({ exitCode: 1 });
      const none = await record(world, '--failed').result;
      expect(none).toMatchObject({ exitCode: 1 });
      expect(none.stderr).toContain(
        'the operator keeps no runs that failed: start it with --record-failed 20',
      );

      const full = record(world, '-o', 'global-hooks/url.sh/below');
      await full.ready;
      await runInWorld(world, 'hook', 'trigger', 'url.sh', 'secrets');
      const refused = await full.result;
      expect(refused.exitCode).toBe(1);
      expect(refused.stderr).toContain('cannot write the recording');

      const lost = record(world);
      await lost.ready;
      await world.stop();
      const { exitCode, stderr } = await lost.result;
      expect(exitCode).toBe(1);
      expect(stderr).toContain('Code: DEBUG_SOCKET');
    });
  });
});
