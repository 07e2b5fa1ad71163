import { Journal } from '../../src/journal/journal.ts';
import type { DebugEndpoint } from '../../src/server/debug-routes.ts';
import type { PauseCommands } from '../../src/server/module-responses.ts';
import type { DaemonView, ModuleView } from '../../src/status/daemon-view.ts';
import { FakeClock } from './fake-clock.ts';

/** Pauses nothing. */
export const NO_PAUSES: PauseCommands = {
  pause: async () => undefined,
  resume: async () => false,
  nowMs: () => 0,
};

/** What the debug endpoint can be asked to do. */
export const NO_COMMANDS: Pick<
  DebugEndpoint,
  | 'pauses'
  | 'releaseFinalizer'
  | 'requestOperation'
  | 'rollback'
  | 'tasks'
  | 'setFlag'
  | 'hooks'
  | 'recorder'
  | 'releases'
  | 'identity'
  | 'settings'
> = {
  pauses: NO_PAUSES,
  releaseFinalizer: async () => 'not-held',
  requestOperation: () => 'disabled',
  rollback: async () => ({ type: 'refused', reason: 'it has no release' }),
  tasks: {
    abortHook: () => ({ type: 'not-running', running: [] }),
    triggerHook: () => ({ type: 'queued', queue: 'main', ahead: 0 }),
    retryHead: (name) => ({ type: 'unknown', reason: `there is no queue ${name}` }),
  },
  setFlag: async () => ({ type: 'unknown' }),
  recorder: { serve: () => Promise.resolve(), sendFailed: () => undefined, keptFailures: 0 },
  hooks: () => ['web/hooks/hang.sh', 'a b'],
  identity: {
    version: 'test',
    bootId: 'boot',
    clock: new FakeClock(),
    nowIso: () => '1970-01-01T00:00:00.000Z',
    replica: 'pod',
    cluster: '',
    namespace: 'n',
    role: 'alone',
    usage: () => ({
      startedAt: '1970-01-01T00:00:00.000Z',
      uptimeMs: 0,
      cpuMs: 1,
      rssBytes: 2,
      heapUsedBytes: 1,
      eventLoopDelay: { meanMs: 0, p99Ms: 0 },
    }),
  },
  settings: {},
  releases: {
    unlock: async () => ({ type: 'absent' }),
    confirmFiles: async () => undefined,
    confirmPurge: async () => [],
  },
};

const NO_DETAILS = {
  layeredValues: () => [],
  hookPatches: () => [],
  hookSnapshots: () => [],
  hooks: () => [],
};

/** A daemon view with one module, `web`, and nothing else; tests replace what they look at. */
export function daemonView(overrides?: Partial<DaemonView>): DaemonView {
  return {
    readiness: () => ({ type: 'converged' }),
    convergeStatus: () => ({ type: 'done', tasks: 0 }),
    status: () => ({ level: 'well', text: 'all is well', problems: [], details: [], modules: {}, tasks: 0 }),
    runningHooks: () => [],
    unfinishedRuns: () => ({ waiting: [], debounced: [], failed: [] }),
    taskQueues: () => [],
    next: () => [],
    stateKey: () => '',
    journal: new Journal({ clock: new FakeClock() }),
    queues: () => [],
    delivery: () => ({ sources: [], installs: [] }),
    deliveryState: () => ({ sources: [], modules: [] }),
    enabledModules: () => ['web'],
    modules: () => [],
    moduleGraph: () => [{ name: 'web', order: 1, status: 'ready', requires: [] }],
    explainModule: async () => undefined,
    globalHooks: () => [],
    global: {
      values: () => ({ domain: 'example.com' }),
      configValues: () => ({}),
      patches: () => undefined,
      snapshots: () => ({}),
      ...NO_DETAILS,
    },
    module: (name) => (name === 'web' ? moduleView() : undefined),
    watches: () => [],
    patchAccess: () => [],
    monitoredResources: () => ({}),
    ...overrides,
  };
}

export function moduleView(overrides?: Partial<ModuleView>): ModuleView {
  return {
    valuesKey: 'web',
    values: () => ({ replicas: 2, image: 'nginx' }),
    configValues: () => ({ replicas: 2 }),
    patches: () => undefined,
    snapshots: () => ({}),
    ...NO_DETAILS,
    drift: () => null,
    objects: async () => ({ objects: [], eventsProblem: '' }),
    changed: () => ({
      since: null,
      run: null,
      version: null,
      files: null,
      values: [],
      moreValues: 0,
      objects: [],
    }),
    history: async () => [],
    versions: () => [],
    compareRevisions: async () => undefined,
    changes: async () => '',
    render: () => Promise.resolve(''),
    ...overrides,
  };
}
