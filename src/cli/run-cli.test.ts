import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunningServer } from '@addon-operator/http-server/serve';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { daemonView, moduleView, NO_COMMANDS } from '../../test/support/daemon-view-stub.ts';
import { startDebugEndpoint } from '../../test/support/debug-endpoint.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import type { DebugEndpoint } from '../server/debug-routes.ts';
import type { CliHost } from './cli-host.ts';
import { createProgram, runCli } from './run-cli.ts';

let directory = '';
let socketPath = '';
const servers: RunningServer[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'cli-'));
  socketPath = join(directory, 'debug.socket');
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  rmSync(directory, { recursive: true });
});

interface Run {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(args: string, env: CliHost['env'] = { DEBUG_UNIX_SOCKET: socketPath }): Promise<Run> {
  let stdout = '';
  let stderr = '';
  const exitCode = await runCli(
    args.split(' ').filter((arg) => arg !== ''),
    {
      env,
      cwd: directory,
      clock: new FakeClock(),
      stdout: { write: (text: string) => (stdout += text) },
      stderr: { write: (text: string) => (stderr += text) },
      stopSignal: () => new AbortController().signal,
    },
  );
  return { exitCode, stdout, stderr };
}

async function startDaemon(endpoint?: Partial<DebugEndpoint>): Promise<void> {
  servers.push(await startDebugEndpoint(socketPath, endpoint));
}

test('createProgram adds one command as it is among all, when that one is called', () => {
  const host: CliHost = {
    env: {},
    cwd: directory,
    clock: new FakeClock(),
    stdout: { write: () => true },
    stderr: { write: () => true },
    stopSignal: () => new AbortController().signal,
  };
  const program = (called?: string) => createProgram(host, () => Promise.resolve(), called);
  const all = program().commands;
  const alone = all.map((command) => program(command.name()));
  const named = alone.map(({ commands }, index) =>
    commands.find((command) => command.name() === all[index]?.name())?.helpInformation(),
  );
  expect(named).toEqual(all.map((command) => command.helpInformation()));
  const counts = alone.map(({ commands }) => commands.length);
  expect(counts.filter((count) => count <= 2)).toHaveLength(all.length - 3);
  expect(program('stat').commands).toHaveLength(all.length);
});

test.each(['version', '--version'])('"%s" prints name and version', async (args) => {
  expect(await run(args)).toEqual({
    exitCode: 0,
    stdout: expect.stringMatching(/^addon-operator \d+\.\d+\.\d+\n$/),
    stderr: '',
  });
});

test('commands that query the daemon show how to name its socket', async () => {
  for (const command of ['queue list', 'module values', 'config set', 'raw'])
    expect((await run(`${command} --help`)).stdout).toContain('--debug-unix-socket <text>');
});

test.each([
  ['frobnicate', "unknown command 'frobnicate'"],
  ['modul list', `unknown command 'modul' (did you mean "module"?)`],
  ['queue lst', '(Did you mean list?)'],
  ['--namspace ns', '(Did you mean --namespace?)'],
  ['queue list --show-emtpy', '(Did you mean --show-empty?)'],
  ['--frobnicate', "unknown option '--frobnicate'"],
  ['start extra', "too many arguments for 'start'"],
  ['--namespace', 'argument missing'],
  ['module values', "missing required argument 'name'"],
  ['queue list -o xml', 'Allowed choices are table, wide, json, yaml, name, text'],
  ['queue', 'Usage: addon-operator queue'],
  ['frobnicate', '(addon-operator --help lists the commands)'],
  ['module lst', '(addon-operator module --help lists the commands)'],
  ['module list --foo', '(addon-operator module list --help shows how to use it)'],
])('"%s" is wrong usage', async (args, message) => {
  const { exitCode, stdout, stderr } = await run(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(message);
});

test.each([
  '--helm-timeout abc',
  'start --helm-timeout abc',
  '--helm-timeout abc start',
  '--log-no-time start --helm-timeout=abc',
])('"%s" reads the flags of start and refuses the wrong one', async (args) => {
  const { exitCode, stderr } = await run(args, { ADDON_OPERATOR_NAMESPACE: 'ns' });
  expect(exitCode).toBe(1);
  expect(stderr).toBe(
    'configuration error: flag --helm-timeout (variable HELM_TIMEOUT): value "abc" is invalid; accepted: a duration such as 90s, 20m or 1h30m\nCode: CONFIG_INVALID, explained in docs/errors.md\n',
  );
});

test('help of the sandbox shows its own defaults, and no flags that choose a cluster', async () => {
  const { exitCode, stdout } = await run('sandbox --help');
  const help = stdout.replaceAll(/\s+/g, ' ');
  expect(exitCode).toBe(0);
  expect(help).toContain('SHELL_OPERATOR_NAMESPACE; default addon-operator)');
  expect(help).toContain('LOG_TYPE; default text)');
  expect(help).not.toContain('--kube-config');
});

test('every wrong setting is a line of its own, and the last line names the code', async () => {
  const { stderr } = await run('--log-no-time=maybe', { HELM_TIMEOUT: 'abc' });
  expect(stderr.trimEnd().split('\n')).toEqual([
    expect.stringContaining('configuration error: variable HELM_TIMEOUT'),
    expect.stringContaining('configuration error: flag --log-no-time'),
    'Code: CONFIG_INVALID, explained in docs/errors.md',
  ]);
});

test('without a daemon the message names the socket and the code', async () => {
  expect(await run('queue list')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(
      `^error: no operator runs here: there is no debug socket '${socketPath}'\\. For one in a cluster, begin with its namespace: .*--debug-unix-socket[^\n]*\nCode: DEBUG_SOCKET, explained in docs/errors.md\n$`,
    ) as string,
  });
});

test('the socket can be given by a flag, before or after the command', async () => {
  await startDaemon();
  const expected = { exitCode: 0, stdout: 'enabledModules:\n  - web\n', stderr: '' };
  expect(await run(`module list --debug-unix-socket ${socketPath}`, {})).toEqual(expected);
  expect(await run(`--debug-unix-socket ${socketPath} module list`, {})).toEqual(expected);
});

test.each([
  ['module list', 'enabledModules:\n  - web\n'],
  ['module list -o json', '{"enabledModules":["web"]}\n'],
  ['module values web', 'image: nginx\nreplicas: 2\n'],
  ['module values web -o text', '{"image":"nginx","replicas":2}\n'],
  [
    'module values web -g -o json',
    '{"global":{"domain":"example.com"},"web":{"image":"nginx","replicas":2}}\n',
  ],
  ['module config --global web -o json', '{"global":{},"web":{"replicas":2}}\n'],
  ['module patches web', 'null\n'],
  ['module render web', ''],
  ['module resource-monitor ignored', '{}\n'],
  ['module snapshots web -o json', '{}\n'],
  ['global values', 'domain: example.com\n'],
  ['global list -o json', '{"globalHooks":[]}\n'],
  ['global patches', 'null\n'],
  ['module list -o name', ''],
  ['module values web -o table', 'KEY       VALUE\nimage     nginx\nreplicas  2\n'],
  ['module patches web -o yaml', 'null\n'],
  ['global values -o wide', 'KEY     VALUE\ndomain  example.com\n'],
  ['queue list -o table', 'no task is queued\n'],
  ['queue main', "Queue 'main': length 0, status: ''\n"],
  ['raw /', 'debug endpoint is alive\n'],
  ['raw queue/main.json', '{"name":"main","tasksCount":0,"status":"","tasks":[]}\n'],
  ['config set log.level debug 30m', '\n'],
])('"%s" prints the response of the daemon', async (args, expected) => {
  await startDaemon();
  expect(await run(args)).toEqual({ exitCode: 0, stdout: expected, stderr: '' });
});

test.each([
  ['runs show 999', 'error: there is no run 999: it may be too old\n'],
  ['runs show run/999', 'error: there is no run 999: it may be too old\n'],
  ['trace x', 'error: no run of event x is known: it may be too old\n'],
  ['queue retry q', 'error: there is no queue q\n'],
])('"%s" fails with a sentence', async (args, message) => {
  await startDaemon();
  expect((await run(args)).stderr).toContain(message);
});

test('names that users try first are those of other commands', async () => {
  await startDaemon();
  expect((await run('module run nosuch')).stderr).toContain('there is no module nosuch');
  expect((await run('queue show')).stdout).toBe((await run('queue list')).stdout);
  expect((await run('hook list -o name')).stdout).toBe('a b\nweb/hooks/hang.sh\n');
});

test('queue list passes its options on', async () => {
  await startDaemon();
  expect((await run('queue list')).stdout).not.toContain('Empty');
  const withEmpty = await run('queue list --show-empty -o json');
  expect(JSON.parse(withEmpty.stdout)).toHaveProperty('empty');
});

test.each([
  ['module values nosuch', 'module not found', 'MODULE_UNKNOWN'],
  ['module values ../global', '404 page not found', 'REQUEST_INVALID'],
  ['raw /nothing', '404 page not found', 'REQUEST_INVALID'],
])('"%s" fails with what the daemon says', async (args, message, code) => {
  await startDaemon();
  const stderr = `error: ${message}\nCode: ${code}, explained in docs/errors.md\n`;
  expect(await run(args)).toEqual({ exitCode: 1, stdout: '', stderr });
});

test('render passes its options on', async () => {
  const render = (options: object) => Promise.resolve(JSON.stringify(options));
  await startDaemon({ view: daemonView({ module: () => moduleView({ render }) }) });
  expect((await run('module render web --diff')).stdout).toBe('{"isDebug":false,"isDiff":true}\n');
});

test('a refused parameter is reported and fails', async () => {
  const set = () => {
    throw new Error(`'value' parameter is invalid: unknown log level "foo"`);
  };
  await startDaemon({ parameters: { list: () => [], set } });
  expect(await run('config set log.level foo')).toMatchObject({
    exitCode: 1,
    stderr: `error: 'value' parameter is invalid: unknown log level "foo"\nCode: REQUEST_INVALID, explained in docs/errors.md\n`,
  });
});

test('pause and resume send their options, for a module and for all', async () => {
  const asked: unknown[] = [];
  const pauses: DebugEndpoint['pauses'] = {
    pause: async (module, { reason, untilMs }) => {
      asked.push(['pause', module, reason, untilMs]);
    },
    resume: async (module) => {
      asked.push(['resume', module]);
      return true;
    },
    nowMs: () => 0,
  };
  await startDaemon({ pauses });
  const paused = await run('module pause web --reason disks --for 2h');
  expect(paused).toEqual({
    exitCode: 0,
    stdout: 'module web is paused until 1970-01-01T02:00:00.000Z\n',
    stderr: '',
  });
  await run('pause --reason night');
  await run('module resume web');
  await run('resume');
  expect(asked).toEqual([
    ['pause', 'web', 'disks', 7_200_000],
    ['pause', undefined, 'night', undefined],
    ['resume', 'web'],
    ['resume', undefined],
  ]);
  expect(await run('module pause web')).toMatchObject({ exitCode: 1 });
});

test('module reconcile and abort say what becomes of the module', async () => {
  const asked: string[] = [];
  const requestOperation: DebugEndpoint['requestOperation'] = (module, operation) => {
    asked.push(`${operation} ${module}`);
    return module === 'off' ? 'disabled' : module === 'held' ? 'paused' : 'requested';
  };
  const view = daemonView({
    module: (name) => (name === 'nothing' ? undefined : daemonView().module('web')),
  });
  await startDaemon({ view, requestOperation });
  expect(await run('module reconcile web')).toEqual({
    exitCode: 0,
    stdout: 'module web is run\n',
    stderr: '',
  });
  expect((await run('module reconcile web --force')).stdout).toMatch(/^module web is run, and helm applies/);
  expect((await run('module abort web')).stdout).toMatch(/^module web is aborted/);
  expect(await run('module abort off')).toMatchObject({
    exitCode: 1,
    stderr: 'error: module off is disabled\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
  });
  expect(await run('module reconcile held')).toMatchObject({
    exitCode: 1,
    stderr:
      'error: module held is paused: resume it first\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
  });
  expect(await run('module abort nothing')).toMatchObject({
    exitCode: 1,
    stderr: 'error: there is no module nothing\nCode: MODULE_UNKNOWN, explained in docs/errors.md\n',
  });
  expect(asked).toEqual(['reconcile web', 'force-reconcile web', 'abort web', 'abort off', 'reconcile held']);
});

test('module release-finalizer says what became of the module', async () => {
  const outcomes = { on: 'enabled', going: 'deleting', left: 'released' } as const;
  const releaseFinalizer: DebugEndpoint['releaseFinalizer'] = async (module) =>
    Object.entries(outcomes).find(([name]) => name === module)?.[1] ?? 'not-held';
  await startDaemon({ releaseFinalizer });
  const released = await Promise.all(
    ['on', 'going', 'left', 'other'].map((name) => run(`module release-finalizer ${name}`)),
  );
  expect(released).toEqual([
    {
      exitCode: 1,
      stdout: '',
      stderr:
        'error: module on is enabled: disable it first\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
    },
    { exitCode: 0, stdout: 'module going is deleted without its reconcile webhook\n', stderr: '' },
    { exitCode: 0, stdout: 'the Module object of left is released\n', stderr: '' },
    {
      exitCode: 1,
      stdout: '',
      stderr:
        'error: other does not wait for a reconcile webhook\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
    },
  ]);
});

test('module confirm-purge names the releases that are removed', async () => {
  const waiting = [['old', 'older'], []];
  await startDaemon({
    releases: { ...NO_COMMANDS.releases, confirmPurge: async () => waiting.shift() ?? [] },
  });
  expect(await run('module confirm-purge')).toMatchObject({
    exitCode: 0,
    stdout: 'removing the releases of modules without a directory: old, older\n',
  });
  expect(await run('module confirm-purge')).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: no release waits for confirmation\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
  });
});

test('module history reads the API, and rollback passes its options on', async () => {
  const asked: unknown[] = [];
  await startDaemon({
    rollback: async (...args) => {
      asked.push(args.slice(0, 2));
      return await Promise.resolve({ type: 'planned', revision: 1, version: '1.0.0' });
    },
  });
  expect(await run('module history web -o json')).toMatchObject({
    exitCode: 0,
    stdout: '{"module":"web","revisions":[],"versions":[],"diff":null}\n',
  });
  expect(await run('module history other')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('other'),
  });
  expect(await run('module rollback web --to v1.0.0 --with-values --dry-run')).toEqual({
    exitCode: 0,
    stdout: 'module web would be rolled back to revision 1 (version 1.0.0)\n',
    stderr: '',
  });
  await run('module rollback web');
  expect(await run('module rollback other')).toMatchObject({ exitCode: 1 });
  expect(asked).toEqual([
    ['web', { to: 'v1.0.0', withValues: true, isDryRun: true }],
    ['web', { to: undefined, withValues: false, isDryRun: false }],
  ]);
});

test('module release-unlock says what became of the release', async () => {
  const outcomes = { held: 'unlocked', ours: 'busy', fine: 'not-locked' } as const;
  const unlock: DebugEndpoint['releases']['unlock'] = async (release) => {
    const type = Object.entries(outcomes).find(([name]) => name === release)?.[1];
    return type === undefined ? { type: 'absent' } : { type, state: 'pending-upgrade' };
  };
  await startDaemon({
    releases: { unlock, confirmFiles: async () => undefined, confirmPurge: async () => [] },
  });
  const unlocked = await Promise.all(
    ['held', 'ours', 'fine', 'other'].map((name) => run(`module release-unlock ${name}`)),
  );
  expect(unlocked).toEqual([
    { exitCode: 0, stdout: 'release held is pending-upgrade: taking it over now\n', stderr: '' },
    { exitCode: 1, stdout: '', stderr: expect.stringContaining('module abort ours') as string },
    {
      exitCode: 1,
      stdout: '',
      stderr:
        'error: release fine is pending-upgrade: it is not locked by another helm process\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
    },
    {
      exitCode: 1,
      stdout: '',
      stderr: 'error: there is no release other\nCode: REQUEST_REFUSED, explained in docs/errors.md\n',
    },
  ]);
});

test('explain module and module list --all request what they show', async () => {
  await startDaemon({ view: daemonView({ modules: () => [], explainModule: async () => undefined }) });
  expect(await run('module list --all -o text')).toMatchObject({
    stdout: 'MODULE  STATUS  ENABLED  REASON\n',
  });
  for (const words of ['explain module', 'explain', 'module explain', 'module show'])
    expect(await run(`${words} nothing`)).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: there is no module nothing\nCode: MODULE_UNKNOWN, explained in docs/errors.md\n',
    });
});
