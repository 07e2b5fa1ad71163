import { scratchDirectory } from '@addon-operator/files/scratch-directory';
import { inspect } from '../../app/inspect.ts';
import { packModule } from '../../artifacts/pack-module.ts';
import { CONFIG_MAP, NAMESPACE } from '../../devkit/operator-objects.ts';
import { readSetting } from '../../settings/read-settings.ts';
import { ruleOf } from '../../tools/lint/lint.ts';
import type { ModuleReaders } from '../../tools/lint/parse-module.ts';
import { type LintReportFormat, ruleText } from '../../tools/lint/report.ts';
import type { Profile } from '../../tools/lint/rule.ts';
import { runLint, type WithReaders } from '../../tools/lint/run-lint.ts';
import type { CliHost } from '../cli-host.ts';
import { harmless } from '../harmless.ts';
import { printData } from '../output/print-data.ts';
import { quietHost } from '../quiet-host.ts';
import { withSandboxApi } from '../sandbox/sandbox-lab.ts';
import { createFirstObjects } from '../sandbox/sandbox-objects.ts';

export interface LintCommandOptions {
  /** Empty: the modules directories of the settings. */
  readonly directories: readonly string[];
  readonly output: LintReportFormat;
  readonly fix?: boolean;
  readonly rule?: readonly string[];
  readonly profile?: Profile;
  readonly strict?: boolean;
  readonly explain?: string;
}

/** Checks modules, or explains a rule, and returns the exit code. */
export async function moduleLintCommand(options: LintCommandOptions, host: CliHost): Promise<number> {
  const { directories, output: format, rule: rules = [], explain, fix, strict, profile } = options;
  if (explain !== undefined) {
    host.stdout.write(ruleText(ruleOf(explain)));
    return 0;
  }
  const { text, exitCode } = await runLint(
    {
      directories:
        directories.length > 0 ? directories : readSetting('modulesDirs', { env: host.env, flags: {} }),
      cwd: host.cwd,
      format,
      rules,
      isFixing: fix === true,
      isStrict: strict === true,
      ...(profile && { profile }),
    },
    (use) => withReaders(host, isPacking(profile, rules) ? { pack } : {}, use),
  );
  printData(host, format === 'text' ? harmless(text) : text);
  return exitCode;
}

/** Compressing takes longer than all else that is checked. */
function isPacking(profile: Profile | undefined, rules: readonly string[]): boolean {
  return rules.length === 0 ? profile === 'delivery' : rules.includes('not-packable');
}

/** A version that is missing is a finding of another rule, and may be an option of the push. */
async function pack(directory: string, signal: AbortSignal): Promise<void> {
  await packModule(directory, { version: '0.0.0' }, signal);
}

/** The parts of the operator run on an API that lasts for the command; no module is in its directories. */
async function withReaders<T>(
  host: CliHost,
  more: Pick<ModuleReaders, 'pack'>,
  use: Parameters<WithReaders<T>>[0],
): Promise<T> {
  const signal = host.stopSignal();
  await using running = new AsyncDisposableStack();
  const flags = { 'modules-dir': await scratchDirectory(running) };
  return await withSandboxApi(host, { flags }, async ({ sandbox, settings, env }) => {
    await createFirstObjects(sandbox.url, { namespace: NAMESPACE, configMap: CONFIG_MAP }, signal);
    return await inspect(
      settings,
      // What the operator would log is what findings say.
      quietHost({ ...host, env, stderr: { write: () => true } }),
      ({ operator: { sources }, base: { helm, cluster } }) =>
        use(
          {
            loadHooks: sources.loadModuleHooks,
            helm,
            findKind: (apiVersion, kind) => cluster.discovery.find(apiVersion, kind, signal),
            allowsLinksOutside: settings.allowsLinksOutside,
            ...more,
          },
          signal,
        ),
      signal,
    );
  });
}
