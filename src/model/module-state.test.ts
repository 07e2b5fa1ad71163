import { expect, test } from 'vitest';
import {
  hasDeployFailed,
  hooksOf,
  isDeployed,
  isStarted,
  isUnfinished,
  type ModuleEvent,
  type ModuleState,
  mustRepeatStartup,
  NEW_MODULE,
  phaseOf,
  stallOf,
  transition,
} from './module-state.ts';

type EventName = keyof typeof EVENTS;
type StateName = keyof typeof STATES;

const NOTHING = { isRunPending: false, isForcePending: false } as const;
const HOOKS = [] as const;
const STALL = { error: 'never', isByRequirement: false } as const;

const DEPLOYING = { type: 'deploying', hooks: HOOKS, hasSucceeded: false, hasDeployFailed: false } as const;
const READY = { type: 'ready', hooks: HOOKS, hasDeployFailed: false } as const;

const EVENTS = {
  'hooks-loaded': { type: 'hooks-loaded', hooks: HOOKS },
  'startup-done': { type: 'startup-done' },
  'monitors-started': { type: 'monitors-started' },
  synchronized: { type: 'synchronized' },
  'deploy-failed': { type: 'deploy-failed' },
  'run-succeeded': { type: 'run-succeeded', isRepeated: false },
  'run-succeeded, repeated': { type: 'run-succeeded', isRepeated: true },
  'run-failed': { type: 'run-failed' },
  'run-stalled': { type: 'run-stalled', stall: STALL },
  'run-aborted': { type: 'run-aborted', stall: STALL },
  'run-requested': { type: 'run-requested' },
  'recheck-requested': { type: 'recheck-requested' },
  'deletion-requested': { type: 'deletion-requested' },
  'force-requested': { type: 'force-requested' },
  'attempt-started': { type: 'attempt-started' },
  'deletion-started': { type: 'deletion-started' },
} as const satisfies Record<ModuleEvent['type'] | 'run-succeeded, repeated', ModuleEvent>;

/** At least one of each type. */
const STATES = {
  starting: { type: 'starting', hooks: undefined, ...NOTHING },
  'starting+hooks': { type: 'starting', hooks: HOOKS, ...NOTHING },
  synchronizing: { type: 'synchronizing', hooks: HOOKS, areMonitorsStarted: false, ...NOTHING },
  'synchronizing+monitors': { type: 'synchronizing', hooks: HOOKS, areMonitorsStarted: true, ...NOTHING },
  deploying: { ...DEPLOYING, ...NOTHING },
  ready: { ...READY, ...NOTHING },
  'failed(deploying)': { type: 'failed', at: DEPLOYING, ...NOTHING },
  'stalled(ready)': { type: 'stalled', at: READY, stall: STALL, ...NOTHING },
  'deleting(ready)': { type: 'deleting', interrupted: READY, ...NOTHING },
  'deleting(stalled(ready))': {
    type: 'deleting',
    interrupted: { type: 'stalled', at: READY, stall: STALL },
    ...NOTHING,
  },
  'ready+run+force': { ...READY, isRunPending: true, isForcePending: true },
} as const satisfies Record<string, ModuleState>;

/** A state in one word: what it wraps in parentheses, and each fact that holds after a plus. */
function word(state: ModuleState): string {
  const facts = [
    [nameOf(state), true],
    ['run', state.isRunPending],
    ['force', state.isForcePending],
  ] as const;
  return facts.flatMap(([fact, holds]) => (holds ? [fact] : [])).join('+');
}

function nameOf(state: ModuleState): string {
  switch (state.type) {
    case 'starting':
      return state.hooks === undefined ? 'starting' : 'starting+hooks';
    case 'synchronizing':
      return state.areMonitorsStarted ? 'synchronizing+monitors' : 'synchronizing';
    case 'deploying':
      return `deploying${state.hasSucceeded ? '+succeeded' : ''}${state.hasDeployFailed ? '+broken' : ''}`;
    case 'ready':
      return state.hasDeployFailed ? 'ready+broken' : 'ready';
    case 'failed':
    case 'stalled':
      return `${state.type}(${nameOf({ ...state.at, ...NOTHING })})`;
    case 'deleting':
      return `deleting(${nameOf({ ...state.interrupted, ...NOTHING })})`;
  }
}

/** Where each event leads from each state; `=` is the same state. */
const TABLE = {
  'hooks-loaded': {
    starting: 'starting+hooks',
    'starting+hooks': '=',
    synchronizing: '=',
    'synchronizing+monitors': '=',
    deploying: '=',
    ready: '=',
    'failed(deploying)': '=',
    'stalled(ready)': '=',
    'deleting(ready)': '=',
    'deleting(stalled(ready))': '=',
    'ready+run+force': '=',
  },
  'startup-done': {
    starting: '=',
    'starting+hooks': 'synchronizing',
    synchronizing: '=',
    'synchronizing+monitors': '=',
    deploying: '=',
    ready: '=',
    'failed(deploying)': '=',
    'stalled(ready)': '=',
    'deleting(ready)': '=',
    'deleting(stalled(ready))': '=',
    'ready+run+force': '=',
  },
  'monitors-started': {
    starting: '=',
    'starting+hooks': '=',
    synchronizing: 'synchronizing+monitors',
    'synchronizing+monitors': '=',
    deploying: '=',
    ready: '=',
    'failed(deploying)': '=',
    'stalled(ready)': '=',
    'deleting(ready)': '=',
    'deleting(stalled(ready))': '=',
    'ready+run+force': '=',
  },
  synchronized: {
    starting: '=',
    'starting+hooks': '=',
    synchronizing: '=',
    'synchronizing+monitors': 'deploying',
    deploying: '=',
    ready: '=',
    'failed(deploying)': '=',
    'stalled(ready)': '=',
    'deleting(ready)': '=',
    'deleting(stalled(ready))': '=',
    'ready+run+force': '=',
  },
  'deploy-failed': {
    starting: '=',
    'starting+hooks': '=',
    synchronizing: '=',
    'synchronizing+monitors': '=',
    deploying: 'deploying+broken',
    ready: 'ready+broken',
    'failed(deploying)': 'failed(deploying+broken)',
    'stalled(ready)': 'stalled(ready+broken)',
    'deleting(ready)': 'deleting(ready+broken)',
    'deleting(stalled(ready))': 'deleting(stalled(ready+broken))',
    'ready+run+force': 'ready+broken+run+force',
  },
  'run-succeeded': {
    starting: '=',
    'starting+hooks': '=',
    synchronizing: '=',
    'synchronizing+monitors': '=',
    deploying: 'ready',
    ready: '=',
    'failed(deploying)': 'ready',
    'stalled(ready)': 'ready',
    'deleting(ready)': 'ready',
    'deleting(stalled(ready))': 'ready',
    'ready+run+force': 'ready',
  },
  'run-succeeded, repeated': {
    starting: '=',
    'starting+hooks': '=',
    synchronizing: '=',
    'synchronizing+monitors': '=',
    deploying: 'deploying+succeeded',
    ready: '=',
    'failed(deploying)': 'deploying+succeeded',
    'stalled(ready)': 'ready',
    'deleting(ready)': 'ready',
    'deleting(stalled(ready))': 'ready',
    'ready+run+force': 'ready',
  },
  'run-failed': {
    starting: 'failed(starting)',
    'starting+hooks': 'failed(starting+hooks)',
    synchronizing: 'failed(synchronizing)',
    'synchronizing+monitors': 'failed(synchronizing+monitors)',
    deploying: 'failed(deploying)',
    ready: 'failed(ready)',
    'failed(deploying)': '=',
    'stalled(ready)': '=',
    'deleting(ready)': 'deleting(failed(ready))',
    'deleting(stalled(ready))': '=',
    'ready+run+force': 'failed(ready)+run+force',
  },
  'run-stalled': {
    starting: 'stalled(starting)',
    'starting+hooks': 'stalled(starting+hooks)',
    synchronizing: 'stalled(synchronizing)',
    'synchronizing+monitors': 'stalled(synchronizing+monitors)',
    deploying: 'stalled(deploying)',
    ready: 'stalled(ready)',
    'failed(deploying)': 'stalled(deploying)',
    'stalled(ready)': '=',
    'deleting(ready)': 'stalled(ready)',
    'deleting(stalled(ready))': 'stalled(ready)',
    'ready+run+force': 'stalled(ready)+force',
  },
  'run-aborted': {
    starting: 'stalled(starting)',
    'starting+hooks': 'stalled(starting+hooks)',
    synchronizing: 'stalled(synchronizing)',
    'synchronizing+monitors': 'stalled(synchronizing+monitors)',
    deploying: 'stalled(deploying)',
    ready: 'stalled(ready)',
    'failed(deploying)': 'stalled(deploying)',
    'stalled(ready)': '=',
    'deleting(ready)': 'stalled(ready)',
    'deleting(stalled(ready))': 'stalled(ready)',
    'ready+run+force': 'stalled(ready)',
  },
  'run-requested': {
    starting: 'starting+run',
    'starting+hooks': 'starting+hooks+run',
    synchronizing: 'synchronizing+run',
    'synchronizing+monitors': 'synchronizing+monitors+run',
    deploying: 'deploying+run',
    ready: 'ready+run',
    'failed(deploying)': 'failed(deploying)+run',
    'stalled(ready)': 'stalled(ready)+run',
    'deleting(ready)': 'ready+run',
    'deleting(stalled(ready))': 'stalled(ready)+run',
    'ready+run+force': '=',
  },
  'recheck-requested': {
    starting: '=',
    'starting+hooks': '=',
    synchronizing: '=',
    'synchronizing+monitors': '=',
    deploying: '=',
    ready: '=',
    'failed(deploying)': '=',
    'stalled(ready)': '=',
    'deleting(ready)': 'ready+run',
    'deleting(stalled(ready))': 'stalled(ready)+run',
    'ready+run+force': '=',
  },
  'deletion-requested': {
    starting: 'deleting(starting)',
    'starting+hooks': 'deleting(starting+hooks)',
    synchronizing: 'deleting(synchronizing)',
    'synchronizing+monitors': 'deleting(synchronizing+monitors)',
    deploying: 'deleting(deploying)',
    ready: 'deleting(ready)',
    'failed(deploying)': 'deleting(failed(deploying))',
    'stalled(ready)': 'deleting(stalled(ready))',
    'deleting(ready)': '=',
    'deleting(stalled(ready))': '=',
    'ready+run+force': 'deleting(ready)+force',
  },
  'force-requested': {
    starting: 'starting+force',
    'starting+hooks': 'starting+hooks+force',
    synchronizing: 'synchronizing+force',
    'synchronizing+monitors': 'synchronizing+monitors+force',
    deploying: 'deploying+force',
    ready: 'ready+force',
    'failed(deploying)': 'failed(deploying)+force',
    'stalled(ready)': 'stalled(ready)+force',
    'deleting(ready)': 'deleting(ready)+force',
    'deleting(stalled(ready))': 'deleting(stalled(ready))+force',
    'ready+run+force': '=',
  },
  'attempt-started': {
    starting: '=',
    'starting+hooks': '=',
    synchronizing: '=',
    'synchronizing+monitors': '=',
    deploying: '=',
    ready: '=',
    'failed(deploying)': '=',
    'stalled(ready)': 'failed(ready)',
    'deleting(ready)': '=',
    'deleting(stalled(ready))': 'deleting(failed(ready))',
    'ready+run+force': '=',
  },
  'deletion-started': {
    starting: 'deleting(starting)',
    'starting+hooks': 'deleting(starting+hooks)',
    synchronizing: 'deleting(starting+hooks)',
    'synchronizing+monitors': 'deleting(starting+hooks)',
    deploying: 'deleting(starting+hooks)',
    ready: 'deleting(starting+hooks)',
    'failed(deploying)': 'deleting(starting+hooks)',
    'stalled(ready)': 'deleting(starting+hooks)',
    'deleting(ready)': 'deleting(starting+hooks)',
    'deleting(stalled(ready))': 'deleting(starting+hooks)',
    'ready+run+force': 'deleting(starting+hooks)',
  },
} as const satisfies Record<EventName, Record<StateName, string>>;

const PAIRS = Object.entries(TABLE).flatMap(([event, row]) =>
  Object.entries(row).map(([state, expected]) => [event, state, expected] as const),
) as readonly (readonly [EventName, StateName, string])[];

test.each(PAIRS)('transition() by %s from %s: %s', (event, state, expected) => {
  expect(word(STATES[state])).toBe(state);
  expect(word(transition(STATES[state], EVENTS[event]))).toBe(expected === '=' ? state : expected);
});

test('a new module is starting', () => {
  expect(word(NEW_MODULE)).toBe('starting');
});

/** The values that the readers of a state receive. */
const READINGS = {
  starting: 'startup, unfinished',
  'starting+hooks': 'startup, unfinished, started',
  synchronizing: 'synchronization, unfinished, started',
  'synchronizing+monitors': 'wait-for-synchronization, unfinished, started',
  deploying: 'helm, unfinished, started',
  ready: 'ready, started, deployed',
  'failed(deploying)': 'helm, unfinished, started',
  'stalled(ready)': 'ready, started, stalled',
  'deleting(ready)': 'ready, unfinished, started, deployed',
  'deleting(stalled(ready))': 'ready, unfinished, started, stalled',
  'ready+run+force': 'ready, unfinished, started, deployed',
} as const satisfies Record<StateName, string>;

test.each(Object.entries(READINGS) as readonly [StateName, string][])(
  '%s is read as %s',
  (name, expected) => {
    const state: ModuleState = STATES[name];
    const facts = [
      [phaseOf(state), true],
      ['unfinished', isUnfinished(state)],
      ['started', isStarted(state)],
      ['deployed', isDeployed(state)],
      ['stalled', stallOf(state) === STALL],
    ] as const;
    expect(facts.flatMap(([fact, holds]) => (holds ? [fact] : [])).join(', ')).toBe(expected);
    expect(hooksOf(state)).toBe(name === 'starting' ? undefined : HOOKS);
  },
);

test.each([
  { hasSucceeded: false, isBroken: false, repeats: false },
  { hasSucceeded: false, isBroken: true, repeats: true },
  { hasSucceeded: true, isBroken: true, repeats: false },
  { hasSucceeded: true, isBroken: false, repeats: false },
])('mustRepeatStartup() while deploying, with %j', ({ hasSucceeded, isBroken, repeats }) => {
  const at = { ...DEPLOYING, hasSucceeded, hasDeployFailed: isBroken };
  expect(mustRepeatStartup({ type: 'failed', at, ...NOTHING })).toBe(repeats);
  expect(hasDeployFailed({ type: 'failed', at, ...NOTHING })).toBe(isBroken);
});

test('a module that was ready before does not repeat its start-up, when its deploy fails', () => {
  const failed = transition({ ...READY, ...NOTHING }, { type: 'deploy-failed' });
  expect(mustRepeatStartup(failed)).toBe(false);
});

test('a module whose hooks changed values after a complete run is deployed, and unfinished', () => {
  const repeated = transition({ ...DEPLOYING, ...NOTHING }, { type: 'run-succeeded', isRepeated: true });
  expect([isDeployed(repeated), isUnfinished(repeated)]).toEqual([true, true]);
  expect(isDeployed({ ...DEPLOYING, ...NOTHING })).toBe(false);
});
