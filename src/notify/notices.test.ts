import { expect, test } from 'vitest';
import type { ModuleStatus, ModuleSummary } from '../status/module-explanation.ts';
import { dueNotices, FLAPPING_MS, type NoticeRules, PROBLEMS, type SentNotices } from './notices.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const RULES: NoticeRules = { states: PROBLEMS, repeatMs: undefined };

function isoAt(seconds: number): string {
  return new Date(START_MS + seconds * 1_000).toISOString();
}

function summaryOf(module: string, status: ModuleStatus, sinceSeconds: number): ModuleSummary {
  return {
    module,
    status,
    since: isoAt(sinceSeconds),
    isEnabled: status !== 'disabled',
    source: null,
    reason: 'it is enabled',
    waitsFor: [],
    version: '1.0.0',
    revision: 3,
    lastError: status === 'failing' ? 'helm failed' : null,
    nextTryAt: null,
    paused: null,
  };
}

/** Looks at the module `web` at these seconds, and returns what was sent as `second type status`. */
function notices(
  states: readonly (readonly [atSeconds: number, status: ModuleStatus | 'removed', sinceSeconds?: number])[],
  rules = RULES,
): readonly string[] {
  let sent: SentNotices = new Map();
  const all: string[] = [];
  for (const [atSeconds, status, sinceSeconds = atSeconds] of states) {
    const modules = status === 'removed' ? [] : [summaryOf('web', status, sinceSeconds)];
    const due = dueNotices(sent, modules, { steadyMs: atSeconds * 1_000, iso: isoAt(atSeconds) }, rules);
    sent = due.sent;
    all.push(...due.notices.map(({ type, status: state }) => `${atSeconds} ${type} ${state}`));
  }
  return all;
}

test.each([
  [
    'a module that is well',
    [
      [0, 'undecided'],
      [1, 'starting'],
      [2, 'ready'],
    ],
    [],
  ],
  ['a problem that is there at the start', [[0, 'held']], ['0 problem held']],
  [
    'a problem and its end',
    [
      [0, 'ready'],
      [1, 'failing'],
      [2, 'failing', 1],
      [3, 'ready'],
      [4, 'ready', 3],
    ],
    ['1 problem failing', '3 resolved ready'],
  ],
  [
    'a problem that becomes another one',
    [
      [0, 'failing'],
      [9, 'isolated'],
      [12, 'ready'],
    ],
    ['0 problem failing', '9 problem isolated', '12 resolved ready'],
  ],
  [
    'a pause of a module with a problem',
    [
      [0, 'failing'],
      [9, 'paused'],
      [10, 'starting'],
      [12, 'ready'],
    ],
    ['0 problem failing', '12 resolved ready'],
  ],
  [
    'a module that is disabled for its problem',
    [
      [0, 'failing'],
      [9, 'disabled'],
    ],
    ['0 problem failing', '9 resolved disabled'],
  ],
  [
    'a module that is removed',
    [
      [0, 'failing'],
      [9, 'removed'],
      [10, 'removed'],
    ],
    ['0 problem failing', '9 resolved disabled'],
  ],
  [
    'a module that is removed without a problem',
    [
      [0, 'ready'],
      [9, 'removed'],
    ],
    [],
  ],
  [
    'a module that flaps',
    [
      [0, 'failing'],
      [10, 'ready'],
      [20, 'failing'],
      [30, 'ready'],
      [40, 'failing'],
      [299, 'failing', 40],
      [300, 'failing', 40],
      [301, 'ready'],
      [310, 'ready', 301],
    ],
    ['0 problem failing', '10 resolved ready', '300 problem failing', '310 resolved ready'],
  ],
  [
    'a module that flaps and is well in the end',
    [
      [0, 'failing'],
      [10, 'ready'],
      [20, 'failing'],
      [30, 'ready'],
      [900, 'ready', 30],
    ],
    ['0 problem failing', '10 resolved ready'],
  ],
  [
    'an end that comes soon after another',
    [
      [0, 'failing'],
      [290, 'ready'],
      [300, 'failing'],
      [310, 'ready'],
      [589, 'ready', 310],
      [590, 'ready', 310],
    ],
    ['0 problem failing', '290 resolved ready', '300 problem failing', '590 resolved ready'],
  ],
] as const)('%s', (_what, states, expected) => {
  expect(notices(states)).toEqual(expected);
});

test('other states are notices only where they are wanted, and end no problem', () => {
  const rules: NoticeRules = { states: ['failing', 'paused'], repeatMs: undefined };
  const states = [
    [0, 'isolated'],
    [1, 'failing'],
    [2, 'paused'],
    [3, 'held-up'],
    [4, 'ready'],
  ] as const;
  expect(notices(states, rules)).toEqual(['1 problem failing', '2 changed paused', '4 resolved ready']);
});

test('a problem that lasts is repeated with the same notice until it ends, when the sink needs that', () => {
  const rules: NoticeRules = { states: PROBLEMS, repeatMs: 60_000 };
  const states = [
    [0, 'failing'],
    [59, 'failing', 0],
    [60, 'failing', 0],
    [119, 'failing', 0],
    [121, 'starting'],
    [122, 'ready'],
    [300, 'ready', 122],
  ] as const;
  expect(notices(states, rules)).toEqual([
    '0 problem failing',
    '60 problem failing',
    '121 problem failing',
    '122 resolved ready',
  ]);
});

test('a notice has the same id for every sink, and another one for every other state', () => {
  const now = { steadyMs: 0, iso: isoAt(9) };
  const idsOf = (rules: NoticeRules, ...modules: readonly ModuleSummary[]) =>
    dueNotices(new Map(), modules, now, rules).notices.map(({ id }) => id);
  const states = [
    summaryOf('web', 'failing', 1),
    summaryOf('web', 'failing', 2),
    summaryOf('web', 'held', 1),
    summaryOf('db', 'failing', 1),
  ];
  const ids = states.flatMap((state) => idsOf(RULES, state));
  expect(new Set(ids).size).toBe(4);
  expect(states.flatMap((state) => idsOf({ states: ['failing', 'held'], repeatMs: 1 }, state))).toEqual(ids);
});

test('the end of a problem says when the problem began', () => {
  const at = (seconds: number) => ({ steadyMs: seconds * 1_000, iso: isoAt(seconds) });
  const first = dueNotices(new Map(), [summaryOf('web', 'failing', 1)], at(1), RULES);
  const second = dueNotices(first.sent, [summaryOf('web', 'isolated', 7)], at(7), RULES);
  const { notices: ends } = dueNotices(
    second.sent,
    [summaryOf('web', 'ready', FLAPPING_MS / 1_000)],
    at(999),
    RULES,
  );
  expect(first.notices).toMatchObject([{ message: 'helm failed', problemSince: isoAt(1), revision: 3 }]);
  expect(ends).toMatchObject([{ type: 'resolved', since: isoAt(300), problemSince: isoAt(1) }]);
});
