import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StartedCommand } from '../support/started-command.ts';

/** Whole starts from sources, one after another. */
const LIMIT = { timeout: 300_000 };
const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
let directory = '';
let stateDir = '';
const started: StartedCommand[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'npm-start-'));
  stateDir = join(directory, 'state');
  for (const name of ['modules', 'global-hooks'])
    cpSync(join(root, name), join(directory, name), { recursive: true });
});
afterEach(async () => {
  for (const command of started.splice(0)) {
    command.kill('SIGTERM');
    await command.exitCode;
  }
  rmSync(directory, { recursive: true });
});

function start(file: string, args: readonly string[]): StartedCommand {
  const env = {
    ...process.env,
    MODULES_DIR: join(directory, 'modules'),
    GLOBAL_HOOKS_DIR: join(directory, 'global-hooks'),
  };
  const command = new StartedCommand(file, [...args, '--state-dir', stateDir], env);
  started.push(command);
  return command;
}

/** What `npm start` runs. */
function npmStart(...args: readonly string[]): StartedCommand {
  return start(process.execPath, [join(root, 'bin/bootstrap.mjs'), 'start', ...args]);
}

async function converge(...args: readonly string[]): Promise<string> {
  const command = npmStart('--exit-after-converge', ...args);
  const exitCode = await command.exitCode;
  if (exitCode !== 0) throw new Error(`npm start ended with ${exitCode}:\n${command.output}`);
  return command.output;
}

test('npm start converges, keeps the state across starts, and deletes it with --reset', LIMIT, async () => {
  const first = await converge();
  expect(first).toMatch(/^[\d:]+ module web is deployed, revision 1$/m);
  expect(first).toMatch(/^Converged in [\d.]+ s: 3 modules, 2 global hooks$/m);
  expect(first).toMatch(/^ {2}web +0\.1\.0 +1 /m);
  expect(first).not.toContain('\u001b');
  expect(readFileSync(join(stateDir, 'daemon.log'), 'utf8')).toContain('first converge is finished');
  expect(existsSync(join(stateDir, 'kubeconfig'))).toBe(true);

  const second = await converge();
  expect(second).not.toMatch(/: helm (install|upgrade)/);
  expect(second).toMatch(/^ {2}web +0\.1\.0 +1 /m);

  expect(await converge('--reset')).toContain('module web: helm install');
});

test(
  'every command that npm start prints works when it is pasted, a second start has no effect, and Ctrl-C stops',
  LIMIT,
  async () => {
    const command = npmStart();
    await command.until('What happens from now on');
    const { output } = command;
    const kubeconfig = /export KUBECONFIG=(\S+)/.exec(output)?.[1] ?? '';
    expect(existsSync(kubeconfig)).toBe(true);

    const objects = await run('sh', ['-c', lineWith(output, ' get deployments')]);
    expect(objects.stdout).toContain('deployment.apps/web');

    await run('sh', ['-c', lineWith(output, 'patch configmap')]);
    await command.until('module web is deployed, revision 2');

    const readyBefore = command.output.split('module web is ready').length;
    await run('sh', ['-c', lineWith(output, 'hook new')]);
    await command.until(/hook hello\.sh ran .*: hello runs/);
    await command.until(new RegExp(`(module web is ready[^]*){${readyBefore}}`));

    const metricsUrl = /metrics +(http:\S+)/.exec(output)?.[1] ?? '';
    // A module is ready before its converge has ended, and a change of files is reported in several pieces.
    await vi.waitFor(
      async () =>
        expect(await (await fetch(metricsUrl)).text()).toContain(
          'addon_operator_tasks_queue_length{queue="main"} 0',
        ),
      45_000,
    );

    const status = await run('sh', ['-c', lineWith(output, ' status ')]);
    expect(status.stdout).toMatch(/^all is well: 3 modules ready/);

    const other = npmStart('--exit-after-converge');
    expect(await other.exitCode).toBe(1);
    expect(other.output).toContain('another sandbox has it open');

    command.kill('SIGINT');
    expect(await command.exitCode).toBe(0);
    expect(command.output).toContain(`stopped; the state is kept in ${stateDir}`);

    const token = /#token=(\S+)/.exec(output)?.[1] ?? 'no token is printed';
    expect(output).toContain(token);
    const log = readFileSync(join(stateDir, 'daemon.log'), 'utf8');
    expect(log).toContain('the page is served');
    expect(log).not.toContain(token);
  },
);

test('a start after kill -9 in the middle of a helm run converges', LIMIT, async () => {
  const killed = start(join(root, 'bin/addon-operator'), ['sandbox']);
  await killed.until('module web: helm install');
  killed.kill('SIGKILL');
  expect(await killed.exitCode).toBe('SIGKILL');
  expect(await converge()).toMatch(/^ {2}web +0\.1\.0 +\d /m);
});

function lineWith(output: string, text: string): string {
  return output.split('\n').find((line) => line.includes(text)) ?? `no line with ${text}`;
}
