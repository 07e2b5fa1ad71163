import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TestRequest, TestResponse } from './test-runner-main.ts';

/** Tests that do not end in this time hang, where an assertion should fail. */
const LIMIT_MS = 60_000;
const LIMIT_OF_A_FILE_MS = 10_000;

/** Runs tests of a copy of the checkout, each time within a limit. */
export class TestRunner {
  readonly #root: string;
  readonly #env: Readonly<Record<string, string | undefined>>;
  #child: ChildProcess | undefined;
  #changed = new Set<string>();

  constructor(root: string, env: Readonly<Record<string, string | undefined>>) {
    this.#root = root;
    this.#env = env;
  }

  /** To be called after each write to a file of the copy. */
  changed(file: string): void {
    this.#changed.add(file);
  }

  /** The files with a test that failed; undefined if the tests did not end in time. */
  async run(tests: readonly string[]): Promise<readonly string[] | undefined> {
    if (tests.length === 0) return [];
    const child = this.#child ?? (await this.#start());
    const request: TestRequest = { changed: [...this.#changed], tests };
    this.#changed.clear();
    const end = new AbortController();
    const limit = setTimeout(() => end.abort(), LIMIT_MS + LIMIT_OF_A_FILE_MS * tests.length);
    const onExit = (): void => end.abort();
    child.once('exit', onExit);
    try {
      child.send(request);
      const [{ failed }] = (await once(child, 'message', { signal: end.signal })) as [TestResponse];
      return failed;
    } catch (error) {
      if (!end.signal.aborted) throw error;
      await this.stop();
      return undefined;
    } finally {
      clearTimeout(limit);
      child.off('exit', onExit);
    }
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(join(import.meta.dirname, 'test-runner-main.ts'), [this.#root], {
      env: this.#env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    await once(child, 'message');
    return child;
  }
}
