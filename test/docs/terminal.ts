import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, vi } from 'vitest';
import { cacheDirectory } from '../../src/tools/pinned-tools/cache-directory.ts';
import { projectRoot } from '../checks/checkout.ts';
import { GO_SETTINGS } from '../support/go-settings.ts';
import { StartedCommand } from '../support/started-command.ts';
import { commandsNamed, outputNamed } from './command-blocks.ts';
import { comparable } from './comparable-output.ts';

/** How long an effect may take that a page waits for with `sleep`. */
const SOON = { timeout: 90_000, interval: 250 } as const;
const PAUSE = /^sleep \d+\n/m;
const KEEP_VARIABLES = '\nexport -p > "$HOME/.variables"\n';
const VARIABLES_KEPT = 'if [ -e "$HOME/.variables" ]; then . "$HOME/.variables"; fi\n';

/** Paths of programs that are found in its PATH first. */
export interface TerminalPrograms {
  readonly helm: string;
  readonly kubectl: string;
}

export interface TerminalOptions {
  /** Becomes `~/.kube/config`. */
  readonly kubeconfig?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * A shell that readers paste commands into, in a directory that looks like a checkout after `npm ci`: its starter modules,
 * global hooks and examples are copies, `HOME` is a directory beside them, and `npm start` is called by what it runs. Commands are
 * taken from the pages as they are, but for texts in `replaced`.
 */
export class Terminal {
  readonly directory: string;
  /** Texts of pages that stand for something else here, such as a port that was taken. */
  readonly replaced = new Map<string, string>();
  /** Names of the commands that were taken from pages. */
  readonly taken: string[] = [];
  readonly #env: NodeJS.ProcessEnv;
  readonly #running: StartedCommand[] = [];

  private constructor(directory: string, env: NodeJS.ProcessEnv) {
    this.directory = directory;
    this.#env = env;
  }

  /**
   * Opens one that is closed, with all that runs in it, at the end of the test, however it ends.
   */
  static async open(
    { helm, kubectl }: TerminalPrograms,
    { kubeconfig, env = {} }: TerminalOptions = {},
  ): Promise<Terminal> {
    const directory = await mkdtemp(join(tmpdir(), 'pages-'));
    const home = join(directory, 'home');
    const cache = cacheDirectory(process.env, homedir());
    await mkdir(join(home, '.cache'), { recursive: true });
    await symlink(cache, join(home, '.cache/addon-operator'));
    if (kubeconfig !== undefined) await cp(kubeconfig, join(home, '.kube/config'));
    for (const name of ['bin', 'deploy', 'frameworks', 'node_modules'])
      await symlink(join(projectRoot, name), join(directory, name));
    for (const name of ['modules', 'global-hooks', 'examples'])
      await cp(join(projectRoot, name), join(directory, name), { recursive: true });
    const path = [...[process.execPath, helm, kubectl].map(dirname), process.env['PATH']];
    const terminal = new Terminal(directory, {
      PATH: path.join(':'),
      HOME: home,
      LANG: 'C',
      ...GO_SETTINGS,
      ADDON_OPERATOR_NODE: process.execPath,
      ADDON_OPERATOR_TMP_DIR: join(directory, 'tmp'),
      ...env,
    });
    onTestFinished(() => terminal.#close());
    return terminal;
  }

  /** The commands of a page. */
  take(name: string): string {
    this.taken.push(name);
    return [...this.replaced].reduce((text, [from, to]) => text.replaceAll(from, to), commandsNamed(name));
  }

  /**
   * Runs the commands of a page to their end. What is behind the last `sleep` looks at what the commands before it
   * brought about: it is repeated, in place of the sleep, until it prints what the page shows, or what `shows` demands.
   */
  async paste(name: string, shows = /[^]*/, exitCode = 0): Promise<void> {
    const [first = '', ...others] = this.take(name).split(PAUSE);
    const last = others.pop();
    const output = await this.run(first, last === undefined ? exitCode : 0);
    if (last === undefined) return checkOutput(name, output, shows, this.directory);
    for (const commands of others) await this.run(commands);
    await this.#repeat(name, last, { shows, exitCode });
  }

  /**
   * Runs the commands of a page that only look, until they print what the page shows: a change of files is reported in several
   * pieces, and each of them may bring a converge in which nothing changes.
   */
  async look(name: string, shows = /[^]*/, exitCode = 0): Promise<void> {
    await this.#repeat(name, this.take(name), { shows, exitCode });
  }

  async #repeat(
    name: string,
    commands: string,
    { shows, exitCode }: { readonly shows: RegExp; readonly exitCode: number },
  ): Promise<void> {
    await vi.waitFor(
      async () => checkOutput(name, await this.run(commands, exitCode), shows, this.directory),
      SOON,
    );
  }

  /** Runs commands, and returns what they print; variables they export stay for the next. */
  async run(commands: string, exitCode = 0): Promise<string> {
    const text = `${VARIABLES_KEPT}set -e\n${commands}${KEEP_VARIABLES}`;
    const result = await execa('sh', ['-c', text], {
      cwd: this.directory,
      env: this.#env,
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
    });
    if (result.exitCode !== exitCode) {
      const { stdout, stderr } = result;
      throw new Error(`exit code ${String(result.exitCode)} of\n${commands}\n${stdout}\n${stderr}`);
    }
    return result.stdout;
  }

  /** Runs the commands of a page, of which the last goes on until it is stopped, and waits for what it prints. */
  async start(name: string, until: string): Promise<StartedCommand> {
    return await this.startCommands(this.take(name), until);
  }

  /** As `start`, for commands that stand on no page. */
  async startCommands(commands: string, until: string): Promise<StartedCommand> {
    const text = `${VARIABLES_KEPT}set -e\n${commands}`;
    const command = new StartedCommand('sh', ['-c', text], this.#env, this.directory);
    this.#running.push(command);
    await command.until(until);
    return command;
  }

  /** Writes a file, and the directories it needs. */
  async write(path: string, text: string): Promise<void> {
    const file = join(this.directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }

  /** Presses Ctrl-C where something runs, and waits for its end. */
  async interrupt(): Promise<void> {
    for (const command of this.#running.splice(0)) {
      command.kill('SIGINT');
      await command.exitCode;
    }
  }

  async #close(): Promise<void> {
    await this.interrupt();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** @param directory what the page calls the directory of the project */
function checkOutput(name: string, output: string, shows: RegExp, directory: string): void {
  expect(output).toMatch(shows);
  const expected = outputNamed(name);
  if (expected !== undefined) expect(comparable(output, directory)).toBe(comparable(expected, directory));
}
