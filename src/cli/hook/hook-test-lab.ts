import { dirname } from 'node:path';
import { systemClock } from '@addon-operator/base/clock';
import type { HookLab } from '../../devkit/hook-lab.ts';
import type { LoadedHook } from '../../devkit/loaded-hook.ts';
import type { BindingCoverage } from '../../devkit/test/binding-coverage.ts';
import { mergedSetting, newCase, noteChange, openCase } from '../../devkit/test/open-case.ts';
import type { Beginning, CaseParts, CurrentCase } from '../../devkit/test/open-hook.ts';
import type { RunJq, TestCase, TestFile, TestWorld } from '../../tools/hook-test/hook-test.ts';
import type { CliHost } from '../cli-host.ts';
import { withSandboxLab } from '../sandbox/sandbox-lab.ts';
import { hookPathOf } from './hook-test-files.ts';
import { replayIn } from './hook-test-replay.ts';

export interface TestLabOptions {
  /** Gets what the hooks are run for. */
  readonly coverage: BindingCoverage;
  /** Starts hooks that are executables. */
  readonly wrap?: string | undefined;
}

/** Opens the worlds of cases, one after another. Cases at the same time need a lab each. */
export interface TestLab {
  readonly jq: RunJq;
  open(path: string, file: TestFile, test: TestCase): Promise<TestWorld & AsyncDisposable>;
}

/**
 * Starts what its cases share: one sandbox, one launcher of processes, jq. When this resolves all of it has ended.
 *
 * @throws OperatorError when that is not possible; errors of `use`
 */
export async function withTestLab<T>(
  host: CliHost,
  options: TestLabOptions,
  use: (lab: TestLab) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let current: CurrentCase | undefined;
  const shared = {
    cwd: host.cwd,
    replay: (recordings, ...hooks) => replayIn(recordings, host.cwd, ...hooks),
    loaded: new Map<string, LoadedHook>(),
    beginnings: new Map<string, Beginning>(),
  } satisfies Partial<CaseParts>;
  return await withSandboxLab(
    host,
    {
      wallMs: () => (current?.clock ?? systemClock).wallMs(),
      onChange: (change) => noteChange(current, change),
      onRequest: ({ method, path }) => {
        current?.activity.touch();
        current?.requests.push(`${method} ${path}`);
        return current?.api.response(method);
      },
    },
    ({ lab, sandbox, settings }) =>
      use({
        jq: async (program, value) => await runJq(lab, program, value, signal),
        open: async (path, file, test) => {
          const setting = mergedSetting(file, test);
          current = newCase(setting);
          return await openCase(
            { ...options, ...shared, lab, sandbox, settings, current, signal },
            { path: hookPathOf(path, file.hook), directory: dirname(path) },
            setting,
          );
        },
      }),
    signal,
  );
}

async function runJq(
  { jq }: HookLab,
  program: string,
  value: unknown,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const filter = await jq.compile(program, signal);
  return await filter.apply(value, signal);
}
