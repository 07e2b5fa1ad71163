import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { note } from './figures.ts';
import { copyCheckout } from './mutants/copy-checkout.ts';
import { MUTANTS } from './mutants/list.ts';
import { type Mutant, type MutatedFile, nearestTests, withMutant } from './mutants/mutant.ts';
import { TestRunner } from './mutants/test-runner.ts';

interface Options {
  /** A part of the path of a file, or of what a mutant breaks. */
  readonly only: string | undefined;
  /** `2/4` is the second of four parts. */
  readonly shard: string | undefined;
}

interface Planted extends MutatedFile {
  readonly mutant: Mutant;
}

/** Plants one fault after another in a copy of the checkout, and lists those that no test notices. */
export async function benchMutants(options: Options): Promise<void> {
  const chosen = chosenMutants(options);
  const directory = await mkdtemp(join(tmpdir(), 'bench-mutants-'));
  const root = join(directory, 'copy');
  const temporary = join(directory, 'tmp');
  await mkdir(temporary);
  await copyCheckout(root);
  const runner = new TestRunner(root, { ...process.env, TMPDIR: temporary, NODE_ENV: 'test' });
  const bench = new MutantBench(root, runner);
  const survivors: string[] = [];
  try {
    for (const planted of chosen) {
      const problem = await bench.problemWith(planted);
      if (problem === undefined) continue;
      survivors.push(problem);
      note(problem);
    }
  } finally {
    await runner.stop();
    await rm(directory, { recursive: true, force: true });
  }
  note(`${chosen.length} mutants, ${chosen.length - survivors.length} noticed, ${survivors.length} not`);
  if (survivors.length > 0) process.exitCode = 1;
}

function chosenMutants({ only, shard = '1/1' }: Options): readonly Planted[] {
  const [part = 1, parts = 1] = shard.split('/').map(Number);
  return MUTANTS.flatMap((file) => file.mutants.map((mutant) => ({ ...file, mutant })))
    .filter(({ file, mutant }) => only === undefined || `${file} ${mutant.breaks}`.includes(only))
    .filter((_mutant, index) => index % parts === part - 1);
}

class MutantBench {
  readonly #root: string;
  readonly #runner: TestRunner;
  readonly #tests: readonly string[];
  /** Tests that pass without a fault. */
  readonly #sound = new Set<string>();
  readonly #unsound = new Set<string>();

  constructor(root: string, runner: TestRunner) {
    this.#root = root;
    this.#runner = runner;
    this.#tests = globSync(['src/**/*.test.ts', 'packages/*/src/**/*.test.ts'], { cwd: root });
  }

  /** One line about a mutant that no assertion notices; undefined for any other. */
  async problemWith({ mutant, ...of }: Planted): Promise<string | undefined> {
    const original = await readFile(join(this.#root, of.file), 'utf8');
    const { text, line } = withMutant(of.file, original, mutant);
    const { own, folder } = nearestTests(of, this.#tests);
    for (const nearest of [own, folder]) {
      const tests = await this.#soundOf(nearest);
      await this.#write(of.file, text);
      const failed = await this.#runner.run(tests);
      await this.#write(of.file, original);
      if (failed === undefined) return `HANGS     ${of.file}:${line}  ${mutant.breaks}`;
      if (failed.length > 0) return undefined;
    }
    return `SURVIVES  ${of.file}:${line}  ${mutant.breaks}`;
  }

  async #write(file: string, text: string): Promise<void> {
    await writeFile(join(this.#root, file), text);
    this.#runner.changed(file);
  }

  /** The tests without those that fail in the copy anyway, which would notice everything. */
  async #soundOf(tests: readonly string[]): Promise<readonly string[]> {
    for (let unknown = this.#unknownOf(tests); unknown.length > 0; unknown = this.#unknownOf(tests)) {
      const failed = (await this.#runOnce(unknown)) ?? (await this.#runOnce(unknown));
      if (failed === undefined)
        throw new Error(`tests fail or hang without any fault: ${unknown.join(', ')}`);
      if (failed.length === 0) for (const test of unknown) this.#sound.add(test);
      for (const test of failed) {
        note(`left out, since it fails without any fault: ${test}`);
        this.#unsound.add(test);
      }
    }
    return tests.filter((test) => this.#sound.has(test));
  }

  /** The tests that failed; undefined, and a new process for the next run, when something else did: the last fault may be the cause. */
  async #runOnce(tests: readonly string[]): Promise<readonly string[] | undefined> {
    const failed = await this.#runner.run(tests);
    if (failed?.every((test) => tests.includes(test)) === true) return failed;
    await this.#runner.stop();
    return undefined;
  }

  #unknownOf(tests: readonly string[]): readonly string[] {
    return tests.filter((test) => !this.#sound.has(test) && !this.#unsound.has(test));
  }
}
