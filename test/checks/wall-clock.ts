/**
 * Why a file of src/ may read the wall clock: each compares it with a time from outside of the process, or shows it.
 * Everything else that needs time measures how long something takes, and the steady clock does that.
 */
export const WALL_CLOCK_READERS: Readonly<Record<string, string>> = {
  'server/api/operator-identity.ts': 'the time of a response',
  'cli/hook/hook-test-lab.ts': 'the virtual clock that objects get their times from',
  'devkit/test/open-case.ts': 'the virtual clock that objects get their times from',
  'cli/sandbox/sandbox-lab.ts': 'passes a clock on',
  'cli/operator/doctor-command.ts': 'the time of the files in an archive',
  'devkit/doctor-facts.ts': 'the clock of this machine is compared with that of the API server',
  'cli/module/module-sign.ts': 'a serial number that grows with the time of signing',
  'cli/sandbox/progress-display.ts': 'the time of day in front of each line',
  'cli/daemon/debug-command.ts': 'ages in tables',
  'cli/output/watch-response.ts': 'the time above each refreshed answer',
  'requests/debug-commands.ts': 'a pause begins and ends at times that are kept in the cluster',
  'extensions/flow/create-flow-hooks.ts': 'schedules of modules (`reconcileEvery`)',
  'operator/reconcile-webhooks.ts': 'times in the status of a module',
  'webhooks/certificate-secret.ts': 'certificates expire',
  'hooks/http/http-hooks.ts': 'a date in the header Retry-After',
  'journal/journal.ts': 'when a run began, shown',
  'plan/read-release-objects.ts': 'Events of the last hour have times of other machines',
  'reconcile/module-run.ts': 'when a module last ran well, shown and kept over restarts',
  'notify/start-notifying.ts': 'when a module was removed, shown to receivers',
  'journal/marks.ts': 'when something happened, shown',
  'journal/stored-run.ts': 'times of a run on another machine, whose steady clock shows another time',
  'leader/presence.ts': 'the times in a Lease, for people: nothing is decided by them',
  'hook-runs/hook-execution.ts': 'when a hook was started, shown',
  'views/collect-module-facts.ts': 'since when a module cannot be described, shown',
  'views/explain-module.ts': 'since when a module has its status, shown',
  'views/next-items.ts': 'times of crontabs and pauses',
  'views/hook-details.ts': 'times of crontabs',
  'model/pauses.ts': 'a pause begins and ends at times that are kept in the cluster',
  'reconcile/reconcile-module.ts': 'the last reconcile, for schedules of modules',
  'model/requeues.ts': 'when a module is due, shown',
  'settings/runtime-parameters.ts': 'when a temporary value expires, shown',
  'status/event-recorder.ts': 'the times of Events',
  'status/module-objects.ts': 'times in the status of a module',
  'releases/deploy.ts': 'the time in a release record',
  'releases/rollback.ts': 'the time in a release record',
  'releases/drift/module-drift.ts': 'since when an object differs, shown',
  'recordings/recorder.ts': 'when a run began, shown',
  'tools/hook-test/activity.ts': 'passes a clock on',
  'tools/hook-test/virtual-clock.ts': 'the clock of tests of hooks itself',
  'operator/switch-modules.ts': 'since when an update is pending, shown',
  'module-store/module-store.ts': 'when content was added, shown and compared after restarts',
  'reconcile/module-memory.ts':
    'since when files of a module last, kept in the cluster and compared after restarts',
  'app/start-delivery.ts': 'times in the status of sources',
  'cli/module/module-approve.ts': 'when a version was approved',
  'delivery/check-source.ts':
    'when a version was seen first, and a source was read last, kept in the cluster',
  'delivery/records.ts': 'since when content is missing, shown',
  'delivery/step-module.ts': 'windows of updates, and times that are kept in the cluster',
  'delivery/roll-back.ts': 'when a version failed, kept in the cluster',
  'server/api/stream-route.ts': 'a sign-in ends when its token expires',
  'ui/access-reviews.ts': 'tokens expire',
  'ui/sign-in.ts': 'a sign-in ends when its token expires',
  'authorization/keyring.ts': 'signatures and keys expire',
};

/** The same for files of packages, whose paths are relative to packages/. */
export const PACKAGE_WALL_CLOCK_READERS: Readonly<Record<string, string>> = {
  'base/src/clock.ts': 'the clock itself',
  'crontab/src/schedule-manager.ts': 'crontabs',
  'jq/src/engines/jq-builtin-main.ts': 'the function `now`',
  'kube-client/src/leader-election/leader-elector.ts':
    'the times in a Lease, for people: nothing is decided by them',
  'kube-sandbox/src/api-state.ts': 'creationTimestamp and the like',
  'kube-sandbox/src/event-controller.ts': 'Events expire by the times in them',
  'kube-sandbox/src/resource-handlers.ts': 'the column AGE',
  'kube-sandbox/src/sandbox-clock.ts': 'the clock itself',
  'logging/src/json-logger.ts': 'the time of a log record',
  'logging/src/log-tail.ts': 'the time of a log record',
  'oci/src/registry-authorization.ts': 'a date in the header Retry-After',
  'oci/src/registry-endpoint.ts': 'a date in the header Retry-After',
  'task-queue/src/task-queue.ts': 'when a task is tried again, shown',
  'tracing/src/otel-tracer.ts': 'the times of spans, shown',
};

/** Files that are clocks. */
const CLOCKS = ['base/src/clock.ts', 'kube-sandbox/src/sandbox-clock.ts'];

/** Time that does not come from a clock that was handed in. */
const RAW_TIME =
  /\bDate\.now\b|\bperformance\.now\b|\bhrtime\b|\bnew Date\(\)|\bset(?:Timeout|Interval)\(|\bAbortSignal\.timeout\b|'(?:node:)?timers\/promises'.*\bsetTimeout\b|\bsetTimeout\b.*'(?:node:)?timers\/promises'/;
/** A variable, member or property that takes a reading as it is. */
const READING =
  /#?(?<name>\w+)\s*(?:\?\?)?(?:=|:)\s*(?:[\w?.]+\s*\?\?\s*)?(?:[\w#]+\.)*wallMs\(\)\s*(?:[,;})]|$)/gm;
const CALL = String.raw`(?:[\w#]+\.)*wallMs\(\)`;
const OPERATOR = String.raw`\s*(?:-|<=?|>=?)\s*`;

/** One sentence for each use of time in files of src/ (path → source) that breaks when the wall clock is set. */
export function wallClockProblems(
  files: ReadonlyMap<string, string>,
  readers: Readonly<Record<string, string>> = WALL_CLOCK_READERS,
): string[] {
  const codes = [...files].map(([file, source]) => [file, withoutComments(source)] as const);
  const problems = codes.flatMap(([file, code]) => [
    ...code.split('\n').flatMap((line) => {
      if (CLOCKS.includes(file) || !RAW_TIME.test(line)) return [];
      return [`src/${file} reads time or waits without a Clock: ${line.trim()}`];
    }),
    ...(/\bwallMs\b/.test(code) && !Object.hasOwn(readers, file)
      ? [
          `src/${file} reads the wall clock: use steadyMs(), or list the file and why in test/checks/wall-clock.ts`,
        ]
      : []),
    ...(CLOCKS.includes(file)
      ? []
      : durationsOf(code).map((text) => `src/${file} takes two wall times for a duration: ${text}`)),
  ]);
  const unused = Object.keys(readers).filter(
    (file) => !/\bwallMs\b|\bwallTimeOf\b/.test(files.get(file) ?? ''),
  );
  return [
    ...problems,
    ...unused.map((file) => `src/${file} is listed as a reader of the wall clock and is none`),
  ];
}

/** Differences and comparisons of two readings of the wall clock. */
function durationsOf(code: string): string[] {
  const names = [...new Set([...code.matchAll(READING)].map(({ groups }) => groups?.['name'] ?? ''))];
  const reading = [CALL, ...names.map((name) => String.raw`(?:[\w#?]+\.)*#?${name}\b`)].join('|');
  const duration = new RegExp(`(?<![\\w.#])(?:${reading})${OPERATOR}\\(?(?:${reading})`, 'g');
  return [...code.matchAll(duration)].map(([text]) => text);
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}
