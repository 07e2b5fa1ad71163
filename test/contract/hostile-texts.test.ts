import { systemClock } from '@addon-operator/base/clock';
import type { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { paintFor } from '../../src/cli/output/paint.ts';
import { terminalLines } from '../../src/cli/output/terminal-log.ts';
import { createProgram, runCli } from '../../src/cli/run-cli.ts';
import { ProgressLines } from '../../src/cli/sandbox/progress-lines.ts';
import { sandboxBackend } from '../support/backends.ts';
import { World } from '../support/world.ts';
import { shHook } from '../support/world-files.ts';

const WAIT = { timeout: 60_000, interval: 100 };
/** Clears the screen, sets its title, hides text by its direction, overwrites a line, and adds lines. */
const HOSTILE = '\u001b[2J\u001b]0;title\u0007\u202e\u2066gpj\u009b31m\rover\u2028';
const RAW = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\p{Zl}\p{Zp}]/u;
/** Of what is made for people; data are complete. Lines of hooks are kept to 10,000 characters and the mark of the cut. */
const MAX_LINE = 10_100;

/** Run until they are stopped, or carry what others say: of them only the messages about wrong arguments; what they show of an operator is tested below. */
const ENDLESS: ReadonlySet<string> = new Set(['start', 'sandbox', 'debug-pipe']);
/** What a required argument is given where the name of a module would not do. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  'runs show': '1',
  'config set': `log.level${HOSTILE}`,
  raw: '/status.json',
  'hook run': `global-hooks/a${HOSTILE}.sh`,
  'hook contexts': `global-hooks/a${HOSTILE}.sh`,
  'hook config': `global-hooks/a${HOSTILE}.sh`,
};

interface Leaf {
  readonly path: string;
  readonly command: Command;
}

function leavesOf(command: Command, path: readonly string[]): readonly Leaf[] {
  const { commands, options } = command;
  // `runs` prints something itself, and has commands below it.
  const isLeaf = commands.length === 0 || options.some(({ long }) => long === '--output');
  const own = isLeaf ? [{ path: path.join(' '), command }] : [];
  return [...own, ...commands.flatMap((child) => leavesOf(child, [...path, child.name()]))];
}

function hostOf(world: World, printed: (text: string) => unknown) {
  const output = { write: printed, isTTY: true, columns: 120, rows: 40 };
  return {
    // Colours are our own.
    env: {
      ...world.hostEnv,
      ...world.settingsEnv,
      NO_COLOR: '1',
      DEBUG_UNIX_SOCKET: world.flags['debug-unix-socket'],
    },
    cwd: world.directory,
    clock: systemClock,
    stdout: output,
    stderr: output,
    stopSignal: () => new AbortController().signal,
  };
}

/** With arguments and an option that do not exist, as a script passes them on. */
function wrongCalls({ path, command }: Leaf): readonly (readonly string[])[] {
  const wrong = command.registeredArguments.map(() => HOSTILE);
  const mandatory = command.options.filter((option) => option.mandatory);
  const needed = mandatory.flatMap(({ long, required }) => [`${long}`, ...(required ? [HOSTILE] : [])]);
  return [
    [...path.split(' '), ...(wrong.length === 0 ? [HOSTILE] : wrong), ...needed, `--${HOSTILE}`],
    ...(wrong.length === 0 || ENDLESS.has(path)
      ? []
      : [[...path.split(' '), ...wrong, ...(path.startsWith('wait') ? ['--timeout', '10ms'] : [])]]),
  ];
}

/** As a user calls it, in each format. */
function calls({ path, command }: Leaf, world: World): readonly (readonly string[])[] {
  const required = command.registeredArguments
    .filter((argument) => argument.required)
    .map((_argument, index) => (index === 0 ? (ARGUMENTS[path] ?? 'web') : HOSTILE));
  const has = (flag: string): boolean => command.options.some(({ long }) => long === `--${flag}`);
  const formats = command.options.find(({ long }) => long === '--output')?.argChoices ?? [];
  const settings = Object.entries(world.flags).filter(([flag]) => has(flag));
  const common = [
    ...settings.map(([flag, value]) => `--${flag}=${value}`),
    ...(path === 'hook record' ? ['--for', '10ms'] : []),
    ...(has('reason') ? ['--reason', HOSTILE] : []),
    ...(has('timeout') ? ['--timeout', '10ms'] : []),
  ];
  return [[], ...formats.map((format) => ['-o', format])].map((variant) => [
    ...path.split(' '),
    ...required,
    ...variant,
    ...common,
  ]);
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

function problemsOf(text: string, isData = false): readonly string[] {
  const lines = text.split('\n');
  const long = isData ? 0 : Math.max(...lines.map((line) => line.length));
  return [
    ...lines.filter((line) => RAW.test(line)).map((line) => JSON.stringify(line.slice(0, 300))),
    ...(long > MAX_LINE ? [`a line of ${long} characters`] : []),
  ];
}

test('no command prints control characters of names, outputs and errors on a terminal', async () => {
  await using backend = await sandboxBackend();
  const queue = JSON.stringify(`q${HOSTILE}`);
  const name = JSON.stringify(`n${HOSTILE}`);
  const long = "head -c 1000000 /dev/zero | tr '\\0' x; echo";
  const says = `printf '%s\\n' '${HOSTILE}'; ${long}; { ${long}; } >&2; printf '%s\\n' '${HOSTILE} failed' >&2; exit 1`;
  await using world = await World.create(backend, {
    config: { web: JSON.stringify({ text: HOSTILE }) },
    globalHooks: {
      [`a${HOSTILE}.sh`]: shHook(
        `kubernetes: [{name: ${name}, kind: ConfigMap, apiVersion: v1, queue: ${queue}, waitForSynchronization: false}]`,
        says,
      ),
    },
    modules: {
      'values.yaml': 'webEnabled: true\n',
      [`001-web/hooks/b${HOSTILE}.sh`]: shHook('beforeHelm: 1', says),
    },
  });
  await world.start();
  await vi.waitFor(() => {
    const failed = world.daemon.operator.queues.all.filter(({ entries }) => (entries[0]?.failures ?? 0) > 0);
    expect(failed.map((each) => each.name)).toEqual(['main', `q${HOSTILE}`]);
  }, WAIT);

  const program = createProgram(
    hostOf(world, () => true),
    () => Promise.resolve(),
  );
  const leaves = leavesOf(program, []);
  expect(leaves.length).toBeGreaterThan(40);
  const problems: Record<string, readonly string[]> = {};
  const hostile = new Set<string>();
  for (const leaf of leaves) {
    for (const args of ENDLESS.has(leaf.path)
      ? wrongCalls(leaf)
      : [...wrongCalls(leaf), ...calls(leaf, world)]) {
      let printed = '';
      await runCli(
        args,
        hostOf(world, (text) => (printed += text)),
      );
      if (printed.includes('\\u202e')) hostile.add(leaf.path);
      const found = problemsOf(printed, args.includes('json') || args.includes('yaml') || isJson(printed));
      if (found.length > 0) problems[args.join(' ').replaceAll(HOSTILE, 'HOSTILE')] = found.slice(0, 3);
    }
  }
  expect(problems).toEqual({});
  // A command that shows nothing of it was not tested.
  expect(leaves.map(({ path }) => path).filter((path) => !hostile.has(path))).toEqual([]);

  const records = world.log.records.filter((record) => /gpj|xxxx/u.test(JSON.stringify(record)));
  expect(records.length).toBeGreaterThan(10);
  const log = records.map((record) => terminalLines(JSON.stringify(record), paintFor(false))).join('');
  expect(problemsOf(log)).toEqual([]);
  const lines = new ProgressLines();
  const screen = records.flatMap(
    ({ msg, level, ...fields }) =>
      lines.ofRecord({ fields, message: String(msg), level: level as 'info' })?.text ?? [],
  );
  expect(problemsOf(screen.join('\n'))).toEqual([]);
});
