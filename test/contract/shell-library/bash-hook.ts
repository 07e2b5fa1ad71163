import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa, execaSync } from 'execa';
import { projectRoot } from '../../checks/checkout.ts';

/** Whether bash and jq, which the library needs, are on this machine. */
export const lacksBashOrJq = ['bash', 'jq'].some(
  (tool) => execaSync(tool, ['--version'], { reject: false }).exitCode !== 0,
);

export interface BashRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BashRunOptions {
  /** What the file of BINDING_CONTEXT_PATH holds. Default: an empty list. */
  readonly contexts?: readonly object[];
  readonly args?: readonly string[];
  /** Directory that holds shell_lib.sh. Default: the checkout. */
  readonly frameworkDir?: string;
}

/** Runs a hook in bash that sources the library and then has this text. */
export async function runBashHook(text: string, options: BashRunOptions = {}): Promise<BashRun> {
  const { contexts = [], args = [], frameworkDir = projectRoot } = options;
  const directory = await mkdtemp(join(tmpdir(), 'shell-library-'));
  try {
    const hook = join(directory, 'hook.sh');
    const contextPath = join(directory, 'context.json');
    await writeFile(contextPath, JSON.stringify(contexts));
    await write(hook, `#!/usr/bin/env bash\nsource "\${FRAMEWORK_DIR:-}/shell_lib.sh"\n${text}\n`);
    const { exitCode, stdout, stderr } = await execa(hook, args, {
      env: { FRAMEWORK_DIR: frameworkDir, BINDING_CONTEXT_PATH: contextPath },
      stdin: 'ignore',
      reject: false,
    });
    return { exitCode: exitCode ?? -1, stdout, stderr };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Writes an executable file, and its directories. */
export async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  await chmod(path, 0o755);
}
