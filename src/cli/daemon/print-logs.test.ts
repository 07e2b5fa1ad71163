import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogTail } from '@addon-operator/logging/log-tail';
import { expect, onTestFinished, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import { startDebugEndpoint } from '../../../test/support/debug-endpoint.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { READY_MODULE } from '../../../test/support/module-explanations.ts';
import { Journal } from '../../journal/journal.ts';
import { TICK_MS } from '../../server/api/stream-hub.ts';
import { runCli } from '../run-cli.ts';

const RUN = {
  queue: 'main',
  taskId: 'main/1',
  type: 'ModuleHookRun',
  module: 'web',
  hook: 'a.sh',
  binding: 'schedule',
  trigger: 'Schedule',
  eventId: 'e-1',
  triggeredBy: undefined,
  attempt: 1,
  queuedMs: 0,
};
const FAILED = { result: 'failed', error: 'no disk', code: 'HOOK_FAILED' } as const;

class LogsLab {
  readonly clock = new FakeClock();
  readonly journal = new Journal({ clock: this.clock });
  readonly log = new LogTail(this.clock, () => 'info');
  readonly stop = new AbortController();
  out = '';

  /** Runs `logs`. `onWrite` is called after each output. */
  async logs(args: readonly string[], onWrite: () => void = () => undefined): Promise<number> {
    const directory = await mkdtemp(join(tmpdir(), 'logs-'));
    const path = join(directory, 'debug.socket');
    const view = daemonView({
      journal: this.journal,
      explainModule: async (name) =>
        name === 'web' ? { ...READY_MODULE, release: null, drift: null } : undefined,
    });
    const identity = { ...NO_COMMANDS.identity, clock: this.clock };
    const server = await startDebugEndpoint(path, { view, identity, log: this.log });
    onTestFinished(async () => {
      await server.stop();
      await rm(directory, { recursive: true });
    });
    const write = (text: string): void => {
      this.out += text;
      onWrite();
    };
    return await runCli(['logs', ...args, '--debug-unix-socket', path], {
      env: {},
      cwd: directory,
      clock: this.clock,
      stdout: { write },
      stderr: { write },
      stopSignal: () => this.stop.signal,
    });
  }
}

test('logs prints what the runs of a module printed and why they failed, the oldest first', async () => {
  const lab = new LogsLab();
  const { journal } = lab;
  const first = journal.begin(RUN);
  journal.print(first, 'key:');
  journal.print(first, '  nested\u001b[31m');
  journal.end(first, { result: 'success' });
  journal.end(journal.begin(RUN), { result: 'success' });
  journal.end(journal.begin({ ...RUN, module: 'db' }), FAILED);
  const module = journal.begin({ ...RUN, type: 'ModuleRun', hook: '', binding: '' });
  journal.end(journal.beginHook({ ...RUN, type: 'HookRun' }), FAILED);
  journal.end(module, FAILED);
  expect(await lab.logs(['web'])).toBe(0);
  expect(lab.out).toBe(`run 1  1970-01-01T00:00:00.000Z  ModuleHookRun web/a.sh (schedule)  success  0ms
key:
  nested\\u001b[31m

run 5  1970-01-01T00:00:00.000Z  HookRun web/a.sh (schedule)  failed  0ms
error: no disk

`);
  lab.out = '';
  await lab.logs(['web', '--limit', '1']);
  expect(lab.out).toMatch(/^run 5 /);
});

test.each([
  [['nosuch'], 'error: there is no module nosuch\n'],
  [['web', '--limit', '0'], 'error: --limit must be a number from 1 to 500\n'],
])('logs %j is refused', async (args, message) => {
  const lab = new LogsLab();
  expect(await lab.logs(args)).toBe(1);
  expect(lab.out).toContain(message);
});

test('logs says that no run printed anything', async () => {
  const lab = new LogsLab();
  expect([await lab.logs(['web']), lab.out]).toEqual([
    0,
    'no known run of module web printed anything or failed\n',
  ]);
});

test('logs -f continues with the lines of the log about the module', async () => {
  const lab = new LogsLab();
  const run = lab.journal.begin(RUN);
  lab.journal.print(run, 'past');
  const add = (module: string, message: string) =>
    lab.log.add({ level: 'info', message, fields: { module, hook: 'a.sh' } });
  const timer = setInterval(() => {
    add('db', 'other');
    add('web', 'live');
    void lab.clock.advance(TICK_MS);
  }, 5);
  onTestFinished(() => clearInterval(timer));
  await lab.logs(['web', '-f'], () => lab.out.includes('live') && lab.stop.abort());
  expect(lab.out).toMatch(/past\n\n(?:\S+ info {2}web\/a\.sh live\n)+$/);
});
