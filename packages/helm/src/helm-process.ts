// Runs one helm process through the launcher, and builds its environment from that of the daemon. A failure
// of helm is a result with the line of stderr that says most, without secrets of the values; only a helm that
// cannot be started throws. A helm that is killed may leave its release pending, which `release-store.ts`
// repairs.

import { join } from 'node:path';
import { roundedMs } from '@addon-operator/base/clock';
import type { Logger } from '@addon-operator/base/log';
import { type SpanContext, traceparentOf } from '@addon-operator/base/trace';
import { killedBy } from '@addon-operator/process/process-failure';
import type { ProcessRunner } from '@addon-operator/process/process-runner';
import { cutMiddle } from '@addon-operator/strings/cut-middle';
import { formatGoDuration } from '@addon-operator/strings/go-duration';
import type { HelmBinary } from './find-helm.ts';
import { maskValues } from './redact.ts';

/** When helm is stopped it ends its hooks and records the release as failed; that takes a moment. */
const GRACE_MS = 10_000;
const MAX_ERROR_CHARACTERS = 8_192;

interface HelmProcessOptions {
  readonly runner: ProcessRunner;
  readonly helm: HelmBinary;
  readonly env: Readonly<Record<string, string>>;
  readonly workDir: string;
  readonly log: Logger;
}

interface HelmRun {
  readonly args: readonly string[];
  /** Time limit for the whole process in milliseconds. */
  readonly timeoutMs: number;
  readonly captureStdoutBytes?: number;
  /** Secret texts in them are taken out of error messages. */
  readonly values?: unknown;
  /** Finds the error in what helm wrote to stderr; default {@link helmError}. */
  readonly readError?: (stderr: string) => string;
  /** Passed on in the variable `TRACEPARENT`; default: none. */
  readonly span?: SpanContext | undefined;
}

export type HelmOutcome =
  | { readonly type: 'succeeded'; readonly stdout: string; readonly isStdoutTruncated: boolean }
  | {
      readonly type: 'failed';
      readonly error: string;
      readonly stdout: string;
      /** Absent if helm was killed. */
      readonly exitCode?: number;
      /** Set when helm was stopped at its time limit. */
      readonly isTimedOut?: true;
    };

/** Runs helm once. A failing helm is an outcome; PROCESS_SPAWN is thrown when there is no helm to run. */
export async function runHelm(
  options: HelmProcessOptions,
  run: HelmRun,
  signal: AbortSignal,
): Promise<HelmOutcome> {
  const { runner, helm, env, workDir, log } = options;
  const { outcome, stdout, stderr, stderrStart, isStdoutTruncated, durationMs } = await runner.run(
    {
      file: helm.path,
      args: run.args,
      cwd: workDir,
      env: run.span === undefined ? env : { ...env, TRACEPARENT: traceparentOf(run.span) },
      timeoutMs: run.timeoutMs,
      graceMs: GRACE_MS,
      captureStdoutBytes: run.captureStdoutBytes ?? 0,
    },
    signal,
  );
  log.debug({ command: run.args[0], outcome, durationMs: roundedMs(durationMs) }, 'helm ended');
  if (outcome.type === 'exited' && outcome.exitCode === 0)
    return { type: 'succeeded', stdout, isStdoutTruncated };
  // Before it is cut: half a secret would not be found any more.
  const said = (run.readError ?? helmError)(maskValues(bothEnds(stderrStart, stderr), run.values));
  switch (outcome.type) {
    case 'exited':
      return {
        type: 'failed',
        error: said === '' ? `helm exited with code ${outcome.exitCode}` : said,
        stdout,
        exitCode: outcome.exitCode,
      };
    case 'signalled':
      return { type: 'failed', error: withDetail(`helm was ${killedBy(outcome.signal)}`, said), stdout };
    case 'timed-out':
      return {
        type: 'failed',
        error: withDetail(`helm did not end within ${formatGoDuration(outcome.timeoutMs)}`, said),
        stdout,
        isTimedOut: true,
      };
  }
}

/** helm names the template and the line at the beginning of an error, and the reason often at its end. */
function bothEnds(start: string | undefined, end: string): string {
  return start === undefined ? end : `${start}…${end.replace(/^…/, '')}`;
}

/**
 * The error in what helm wrote to stderr, without the warnings before it, cut to a size fit for a log: both ends of a longer
 * one are left.
 */
export function helmError(stderr: string): string {
  const start = /^Error: /m.exec(stderr);
  const text = (start === null ? stderr : stderr.slice(start.index + start[0].length)).trim();
  return cutMiddle(text, MAX_ERROR_CHARACTERS);
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`;
}

interface HelmEnvironmentOptions {
  /** The daemon's own environment: proxies, CA bundles, cloud credentials and `PATH` apply to helm too. */
  readonly base: Readonly<Record<string, string | undefined>>;
  readonly kubeConfigPath: string;
  /** Directory of the driver; helm's caches and configuration go below it. */
  readonly workDir: string;
  /** Directory of the post-renderer plugin of helm 4. */
  readonly pluginsDir: string;
  /** `HELM_DRIVER`. */
  readonly storageDriver: string;
}

/**
 * helm lives for a fraction of a second: collecting its garbage as often as Go does by default is a fifth of what it
 * costs. The limit lets a large chart collect as often as it must.
 */
const GARBAGE_COLLECTION = { GOGC: '400', GOMEMLIMIT: '256MiB' };

/**
 * The environment of every helm process. A person's helm settings (`HELM_NAMESPACE`, `HELM_KUBECONTEXT`, plugins…) do
 * not reach it: two operators with the same input must do the same.
 */
export function helmEnvironment(options: HelmEnvironmentOptions): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.base)) {
    if (value !== undefined && !name.startsWith('HELM_')) env[name] = value;
  }
  return {
    ...GARBAGE_COLLECTION,
    ...env,
    KUBECONFIG: options.kubeConfigPath,
    KUBECACHEDIR: join(options.workDir, 'kube-cache'),
    HELM_CACHE_HOME: join(options.workDir, 'cache'),
    HELM_CONFIG_HOME: join(options.workDir, 'config'),
    HELM_DATA_HOME: join(options.workDir, 'data'),
    HELM_PLUGINS: options.pluginsDir,
    HELM_DRIVER: options.storageDriver,
  };
}
