import { homedir, tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '@addon-operator/base/errors';
import { startSandbox } from '@addon-operator/kube-sandbox';
import { fileLogOutput } from '@addon-operator/logging/file-log-output';
import type { RootLogger } from '@addon-operator/logging/json-logger';
import { observeLog } from '@addon-operator/logging/observe-log';
import { findExecutable } from '@addon-operator/process/executable-file';
import type { Daemon } from '../../app/start.ts';
import { runDaemon } from '../../daemon.ts';
import { OWN_CODE } from '../../own-code.ts';
import type { DirectorySettings } from '../../settings/directory-settings.ts';
import type { LogSettings } from '../../settings/log-settings.ts';
import { readSettings } from '../../settings/read-settings.ts';
import { portType } from '../../settings/setting-type.ts';
import type { Settings } from '../../settings.ts';
import { hookText, NOTED_HOOK_MS } from '../../status/running-hook.ts';
import { cacheDirectory } from '../../tools/pinned-tools/cache-directory.ts';
import { pinnedKubectl } from '../../tools/pinned-tools/pinned-tools.ts';
import { runningHooks } from '../../views/collect-operator-facts.ts';
import type { CliHost } from '../cli-host.ts';
import { daemonHost, daemonLog } from '../daemon-host.ts';
import { withHookTools } from '../hook/hook-tools.ts';
import { endFacts } from './end-facts.ts';
import { summaryScreen, tourScreen } from './end-screen.ts';
import { ProgressDisplay } from './progress-display.ts';
import { rethrowSandboxError } from './sandbox-failure.ts';
import {
  createSourceDirectories,
  prepareStateDirectory,
  removeSocketDirectory,
  writeKubeconfig,
} from './sandbox-files.ts';
import { type GivenSettings, isGiven, sandboxFlags } from './sandbox-flags.ts';
import { createFirstObjects } from './sandbox-objects.ts';
import { type SandboxFiles, sandboxFiles } from './sandbox-paths.ts';

/** The launch script beside `src/` or `dist/`. */
const EXECUTABLE = fileURLToPath(new URL('../bin/addon-operator', OWN_CODE));

export interface SandboxCommandOptions {
  /** Relative to the working directory. */
  readonly stateDir: string;
  /** Drop the state of earlier runs. */
  readonly isReset: boolean;
  /** Port of the API, as it was given. */
  readonly port: string;
  /** Values of daemon flags, by flag name. */
  readonly flags: Readonly<Record<string, string>>;
}

/**
 * Runs the embedded API and the daemon on it until the process is asked to stop, and shows what happens.
 *
 * @returns the exit code, see `runDaemon`
 * @throws OperatorError CONFIG_INVALID before anything is started; what keeps the API from starting
 */
export async function runSandbox(options: SandboxCommandOptions, host: CliHost): Promise<number> {
  const files = sandboxFiles(resolve(host.cwd, options.stateDir), tmpdir());
  const given = { env: host.env, flags: options.flags };
  const settings = readSettings({ env: host.env, flags: sandboxFlags(given, files) });
  const isPortChosen = isGiven('prometheus-listen-port', given);
  const port = apiPort(options.port);
  const stop = host.stopSignal();
  await prepareStateDirectory(files, options.isReset);
  const created = createSourceDirectories(defaultDirectories(settings, given, host.cwd));
  const display = new ProgressDisplay(host);
  const log = observedLog(settings, files, host, display);
  await using running = new AsyncDisposableStack();
  running.defer(() => removeSocketDirectory(files));
  // The daemon needs the API to stop in order: it goes last, so it does not listen to the stop signal.
  const lifetime = new AbortController();
  const sandbox = { directory: files.apiDir, port, clock: host.clock, log };
  const api = await startSandbox(sandbox, lifetime.signal).catch(rethrowSandboxError);
  running.defer(() => api.stop());
  writeKubeconfig(files.kubeconfig, api.kubeconfig);
  display.say(`sandbox API at ${api.url}`);
  for (const directory of created) display.say(`created the empty directory ${directory}`, 'warning');
  const watching = display.run();
  running.defer(async () => {
    display.stop();
    await watching;
  });
  stop.addEventListener('abort', () => display.say('stopping'), { once: true });
  const { namespace, configMapName: configMap } = settings;
  await createFirstObjects(api.url, { namespace, configMap }, lifetime.signal);
  const kubectl = findKubectl(host, display, stop);
  const parts = { settings, files, host, display, log, kubectl, isPortChosen };
  const exitCode = await runAndShow(parts, stop);
  await kubectl;
  const end = exitCode === 0 ? 'stopped' : `failed, see ${files.log}`;
  display.write(`${end}; the state is kept in ${files.stateDir}\n`);
  return exitCode;
}

interface RunParts {
  readonly settings: Settings;
  readonly files: SandboxFiles;
  readonly host: CliHost;
  readonly display: ProgressDisplay;
  readonly log: RootLogger;
  readonly kubectl: Promise<string | undefined>;
  readonly isPortChosen: boolean;
}

async function runAndShow(parts: RunParts, stop: AbortSignal): Promise<number> {
  const { settings, files, host, display, log, isPortChosen } = parts;
  let pageAddress: string | undefined;
  return await runDaemon(
    settings,
    {
      ...daemonHost(host, log),
      ...(!isPortChosen && {
        onPortInUse: (port) =>
          display.say(`port ${port} is in use, metrics are served on a free port`, 'warning'),
      }),
      // What hooks do with kubectl or a client library must reach the sandbox, never a cluster of the user.
      env: { ...withHookTools(host.env, files.binDir), KUBECONFIG: files.kubeconfig },
      onUi: (address) => {
        pageAddress = address;
        display.say(`page at ${address}`);
      },
      onTaskFailure: (failed) => display.showFailure(failed),
    },
    stop,
    {
      onStarted: ({ operator, view }) => {
        display.watch({
          status: () => view.status(),
          longHooks: () =>
            runningHooks(operator)
              .filter(({ runningMs }) => runningMs >= NOTED_HOOK_MS)
              .map((hook) => ({
                key: `${hook.queue} ${hook.hook} ${hook.binding} ${hook.pid}`,
                text: hookText(hook),
              })),
        });
      },
      onConverged: async (daemon) => {
        await showEnd({ ...parts, pageAddress }, daemon, stop).catch((error: unknown) => {
          if (!stop.aborted) throw error;
        });
      },
    },
  );
}

async function showEnd(
  parts: RunParts & { readonly pageAddress: string | undefined },
  daemon: Daemon,
  stop: AbortSignal,
): Promise<void> {
  const { settings, files, display, pageAddress } = parts;
  const { elapsedMs, paint, lines } = display;
  const kubectl = await parts.kubectl;
  const facts = await endFacts(
    { daemon, settings, lines, files, kubectl, executable: EXECUTABLE, pageAddress, elapsedMs },
    stop,
  );
  display.write(summaryScreen(facts, paint));
  if (!settings.exitsAfterConverge && !stop.aborted) display.write(tourScreen(facts, paint));
}

function observedLog(
  settings: LogSettings,
  files: SandboxFiles,
  host: CliHost,
  display: ProgressDisplay,
): RootLogger {
  return observeLog(daemonLog(settings, host, fileLogOutput(files.log)), (record) =>
    display.showRecord(record),
  );
}

/** The pinned kubectl, which is fetched at the first time, or that of PATH where there is none; undefined without any. */
async function findKubectl(
  host: CliHost,
  display: ProgressDisplay,
  signal: AbortSignal,
): Promise<string | undefined> {
  const cacheDir = cacheDirectory(host.env, homedir());
  const onProgress = (text: string): void => display.say(text);
  try {
    return await pinnedKubectl({ cacheDir, onProgress }, signal);
  } catch {
    return findExecutable('kubectl', host.env['PATH'] ?? '');
  }
}

/** The directories of modules and hooks that the user has not named: a named one that does not exist is a mistake. */
function defaultDirectories(
  { modulesDirs, globalHooksDir }: Pick<DirectorySettings, 'modulesDirs' | 'globalHooksDir'>,
  given: GivenSettings,
  cwd: string,
): readonly string[] {
  return [
    ...(isGiven('modules-dir', given) ? [] : modulesDirs),
    ...(isGiven('global-hooks-dir', given) ? [] : [globalHooksDir]),
  ].map((directory) => resolve(cwd, directory));
}

function apiPort(text: string): number {
  const port = portType.parse(text);
  if (port !== undefined) return port;
  const message = `flag --sandbox-port: value "${text}" is invalid; accepted: ${portType.accepted}`;
  throw new OperatorError('CONFIG_INVALID', message);
}
