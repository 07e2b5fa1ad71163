import { expect, test } from 'vitest';
import {
  HOOK_FAILURE as FAILURE,
  NEXT_ATTEMPT as NEXT,
  READY_MODULE,
} from '../../test/support/module-explanations.ts';
import { firstFalse, WHY_IDS, type WhyNode } from './cause.ts';
import { causesOf, NO_OBSTACLES, type Obstacles } from './module-causes.ts';
import { explanationText, type ModuleExplanation, type RequiredModule } from './module-explanation.ts';
import { type FlagResponse, whyTree } from './why-tree.ts';

const READY: ModuleExplanation = {
  ...READY_MODULE,
  source: 'common-values',
  reason: 'webEnabled in /modules/values.yaml is true',
  release: { revision: 3, isOwned: true },
};
const NOTHING = { file: null, isEnabled: null, reason: '' };
const ANSWERS: readonly FlagResponse[] = [
  {
    extender: 'Static',
    file: '/modules/values.yaml',
    isEnabled: true,
    reason: 'webEnabled in /modules/values.yaml is true',
  },
  { ...NOTHING, extender: 'DynamicallyEnabled' },
  { ...NOTHING, extender: 'KubeConfig' },
  { ...NOTHING, extender: 'ScriptEnabled', file: '/modules/001-web/enabled' },
];
const OFF = { status: 'disabled', isEnabled: false, step: 'not started', release: null } as const;
const HOOK_FILE = '/modules/001-web/hooks/a.sh';
const hookPlace = (binding: string) => ({ type: 'hook', file: HOOK_FILE, binding }) as const;
const PAUSE = { reason: 'disks', since: '', until: NEXT, isOfAll: false };
const BLOCKED = {
  queue: 'main',
  task: 'ConvergeModules',
  error: 'the script failed',
  file: '',
  nextAttemptAt: NEXT,
  hook: null,
};
const DB = {
  name: 'db',
  range: '>=2',
  isOptional: false,
  status: null,
  unmet: { type: 'absent', text: 'requires module db, which does not exist' },
} as const;

const OTHER_VERSION = {
  type: 'version',
  text: 'requires module db in version >=2, but it has version 1.0.0',
} as const;
const NEEDY = { ...OFF, source: 'requirement', reason: OTHER_VERSION.text };

function treeOf(
  explanation: Partial<ModuleExplanation>,
  obstacles: Partial<Obstacles> = {},
  responses: readonly FlagResponse[] = ANSWERS,
): WhyNode {
  const facts = { ...READY, ...explanation };
  const causes = causesOf(facts, { ...NO_OBSTACLES, ...obstacles });
  return whyTree({ ...facts, causes }, { flag: 'webEnabled', responses, hasChart: true });
}

function response(extender: string, file: string | null): readonly FlagResponse[] {
  return [
    ...ANSWERS.filter((one) => one.extender !== extender),
    { extender, file, isEnabled: false, reason: '' },
  ];
}

type Row = readonly [string, WhyNode, string, Partial<WhyNode>];

const ROWS: readonly Row[] = [
  ['ready', treeOf({}), 'yes yes yes yes yes yes yes yes yes yes yes yes', {}],
  ['without a decision', treeOf({ ...OFF, status: 'undecided' }), 'yes yes yes - yes yes - - - - - -', {}],
  [
    'denied',
    treeOf({ status: 'unauthorized', reason: 'not authorized: no signature', step: 'not started' }),
    'no yes yes yes yes yes - - - - - -',
    { id: 'authorized', text: 'not authorized: no signature' },
  ],
  [
    'without a directory',
    treeOf({ ...OFF, status: 'held', reason: 'its directory is gone', waitsFor: ['a decision'] }),
    'yes no yes - yes yes - - - - - -',
    { id: 'found', remedy: 'a decision' },
  ],
  [
    'behind a refused ConfigMap',
    treeOf({}, { configProblem: 'replicas: must be integer' }),
    'yes yes no yes yes yes yes yes yes yes yes yes',
    { id: 'config', ref: 'configmap', remedy: 'correct the ConfigMap with `kubectl edit configmap`' },
  ],
  [
    'behind an enabled script that fails',
    treeOf({ ...OFF, status: 'undecided' }, { blocksAll: BLOCKED }),
    'yes yes yes no yes yes - - - - - -',
    { id: 'enabled', ref: 'queue/main', until: NEXT },
  ],
  [
    'disabled as no source sets its flag',
    treeOf({ ...OFF, source: 'default', reason: 'no source sets the flag of the module' }, {}, []),
    'yes yes yes no yes yes - - - - - -',
    {
      id: 'enabled',
      remedy: 'set `webEnabled: true` in values.yaml or `webEnabled: "true"` in the ConfigMap',
    },
  ],
  [
    'disabled by values.yaml',
    treeOf({ ...OFF, source: 'common-values' }, {}, response('Static', '/modules/values.yaml')),
    'yes yes yes no yes yes - - - - - -',
    {
      id: 'enabled',
      remedy: 'set `webEnabled: true` in /modules/values.yaml or `webEnabled: "true"` in the ConfigMap',
    },
  ],
  [
    'disabled by the ConfigMap',
    treeOf({ ...OFF, source: 'config-map' }, {}, response('KubeConfig', null)),
    'yes yes yes no yes yes - - - - - -',
    { id: 'enabled', remedy: 'set `webEnabled: "true"` in the ConfigMap' },
  ],
  [
    'disabled by a global hook',
    treeOf({ ...OFF, source: 'global-hook' }, {}, response('DynamicallyEnabled', 'a.sh')),
    'yes yes yes no yes yes - - - - - -',
    {
      id: 'enabled',
      remedy: 'set `webEnabled: "true"` in the ConfigMap, which counts more than the global hook',
    },
  ],
  [
    'disabled by its script',
    treeOf({ ...OFF, source: 'enabled-script' }, {}, response('ScriptEnabled', '/modules/001-web/enabled')),
    'yes yes yes no yes yes - - - - - -',
    { id: 'enabled', remedy: '/modules/001-web/enabled decides: change the script, or what it looks at' },
  ],
  [
    'disabled for a requirement',
    treeOf({
      ...OFF,
      source: 'requirement',
      reason: 'requires module db, which does not exist',
      requires: [DB],
    }),
    'yes yes yes yes yes no - - - - - -',
    { id: 'requirements', ref: 'module/db', text: 'requires module db, which does not exist' },
  ],
  [
    'paused',
    treeOf({ status: 'paused', pause: PAUSE }),
    'yes yes yes yes no yes yes yes yes yes yes yes',
    { id: 'not-paused', until: NEXT, remedy: '`addon-operator module resume web`' },
  ],
  [
    'behind a task of others that fails',
    treeOf({ status: 'starting', step: 'startup' }, { blocksOwn: { ...BLOCKED, task: 'ModuleRun db' } }),
    'yes yes yes yes yes yes no - - - - -',
    { id: 'queue', ref: 'queue/main' },
  ],
  [
    'behind a task of others',
    treeOf({
      status: 'starting',
      step: 'startup',
      waitsFor: ['ModuleRun:main:db in front of it in queue main'],
      waits: [{ type: 'queue', text: 'ModuleRun:main:db in front of it in queue main' }],
    }),
    'yes yes yes yes yes yes - - - - - -',
    {},
  ],
  [
    'without a permission',
    treeOf({}, { staleBindings: [{ text: "binding 'pods' has no snapshot", isForbidden: true }] }),
    'yes yes yes yes yes yes yes no yes yes yes yes',
    { id: 'synchronized', text: "binding 'pods' has no snapshot" },
  ],
  [
    'with a beforeHelm hook that fails',
    treeOf({ status: 'failing', step: 'helm', failure: { ...FAILURE, place: hookPlace('beforeHelm') } }),
    'yes yes yes yes yes yes yes yes no - - -',
    { id: 'before-helm', until: NEXT },
  ],
  [
    'with a chart that fails',
    treeOf({ status: 'failing', step: 'helm', failure: { ...FAILURE, code: 'HELM_FAILED' } }),
    'yes yes yes yes yes yes yes yes - no - -',
    { id: 'helm' },
  ],
  [
    'with an afterHelm hook that fails',
    treeOf({
      status: 'failing',
      step: 'helm',
      failure: { ...FAILURE, place: hookPlace('afterHelm') },
    }),
    'yes yes yes yes yes yes yes yes - - - no',
    { id: 'ready' },
  ],
  [
    'with a schedule hook that fails and prints names of bindings',
    treeOf({
      status: 'failing',
      failure: { ...FAILURE, error: 'no beforeHelm hook, no afterHelm', place: hookPlace('schedule') },
    }),
    'yes yes yes yes yes yes yes yes yes yes no -',
    { id: 'hooks', remedy: `correct ${HOOK_FILE} or what its error names; the operator retries by itself` },
  ],
  [
    'with a Synchronization that fails',
    treeOf({
      status: 'failing',
      step: 'wait-for-synchronization',
      failure: { ...FAILURE, place: hookPlace('kubernetes') },
    }),
    'yes yes yes yes yes yes yes no - - - -',
    { id: 'synchronized' },
  ],
];

const MARKS = { true: 'yes', false: 'no', null: '-' } as const;

test.each(ROWS)(
  'the tree of a module %s shows what is true, and names the first condition that is not',
  (_name, tree, marks, first) => {
    expect(tree.children.map(({ id }) => id)).toEqual(WHY_IDS);
    expect(tree.children.map(({ ok }) => MARKS[`${ok}`]).join(' ')).toBe(marks);
    const found = firstFalse(tree);
    expect(found ?? {}).toMatchObject(first);
    expect(tree.ok).toBe(marks.includes('no') ? false : marks.includes('-') ? null : true);
    expect(found === undefined).toBe(!marks.includes('no'));
  },
);

test.each<[string, Partial<RequiredModule>, Partial<ModuleExplanation>, string]>([
  ['that is ready', { status: 'ready', unmet: null }, {}, 'yes yes db >=2: ready'],
  ['that fails and is retried', { status: 'failing', unmet: null }, {}, 'yes - db >=2: failing'],
  [
    'that is optional and missing',
    { isOptional: true, unmet: null },
    {},
    'yes yes db >=2, optional: does not exist',
  ],
  ['in another version', { status: 'ready', unmet: OTHER_VERSION }, NEEDY, `no no ${OTHER_VERSION.text}`],
  ['that is missing, of a module that a flag disables', {}, OFF, `no no ${DB.unmet.text}`],
  ['that is missing, of a module that its policy protects', {}, {}, `- no ${DB.unmet.text}`],
])(
  'a required module %s is shown as what it is, and never below its opposite',
  (_name, required, explanation, expected) => {
    const tree = treeOf({ requires: [{ ...DB, ...required }], ...explanation });
    const requirements = tree.children.find(({ id }) => id === 'requirements');
    const [child] = requirements?.children ?? [];
    expect(`${MARKS[`${requirements?.ok ?? null}`]} ${MARKS[`${child?.ok ?? null}`]} ${child?.text}`).toBe(
      expected,
    );
  },
);

test('each source of the flag is named with its file and what it said', () => {
  const enabled = treeOf({}).children.find(({ id }) => id === 'enabled');
  expect(enabled?.children).toMatchObject([
    {
      id: 'Static',
      ok: true,
      ref: '/modules/values.yaml',
      text: 'webEnabled in /modules/values.yaml is true',
    },
    { id: 'DynamicallyEnabled', ok: null, ref: null, text: 'says nothing' },
    { id: 'KubeConfig', ok: null, text: 'says nothing' },
    { id: 'ScriptEnabled', ok: null, ref: '/modules/001-web/enabled' },
  ]);
});

test('explain does not say that a module is ready above what is in its way', () => {
  const explained = (obstacles: Partial<Obstacles>) => {
    const causes = causesOf(READY, { ...NO_OBSTACLES, ...obstacles });
    const status = causes.length === 0 ? 'ready' : 'held-up';
    return explanationText({ ...READY, status, causes, why: treeOf({}, obstacles) });
  };
  expect(explained({ configProblem: 'replicas' })).toMatch(
    /^status +held up\nsince +\S+\nheld up by +the ConfigMap/mu,
  );
  expect(explained({})).toMatch(/^status +ready\nenabled/mu);
});

test('a module is not said to be as its last run left it while its objects are not watched', () => {
  const readyText = (explanation: Partial<ModuleExplanation>) =>
    treeOf(explanation).children.find(({ id }) => id === 'ready')?.text;
  expect(readyText({})).toBe('its last run succeeded; its objects are not watched');
  expect(readyText({ drift: { mode: 'warn', objects: [] } })).toBe('its last run succeeded');
  expect(readyText({ release: null })).toBe('its last run succeeded');
});

test('a condition with several causes names all of them', () => {
  const stale = (name: string) => ({ text: `binding '${name}' has no snapshot`, isForbidden: true });
  const tree = treeOf({}, { staleBindings: [stale('pods'), stale('nodes')] });
  expect(firstFalse(tree)).toMatchObject({
    text: "binding 'pods' has no snapshot",
    children: [{ id: 'Forbidden', text: "binding 'nodes' has no snapshot" }],
  });
});

test('explain shows the tree, the first condition that is not true and what fixes it', () => {
  const off = { ...READY, ...OFF, source: 'config-map', reason: 'webEnabled in the ConfigMap is false' };
  const why = whyTree(off, { flag: 'webEnabled', responses: response('KubeConfig', null), hasChart: true });
  const text = explanationText({ ...off, why });
  expect(text).toContain('held up by   webEnabled in the ConfigMap is false\n');
  expect(text).toContain('to fix it    set `webEnabled: "true"` in the ConfigMap\n');
  expect(text.slice(text.indexOf('TRUE'))).toBe(`TRUE  CONDITION           WHY
yes   authorized          nothing denies the module
yes   found               its directory is /modules/001-web
yes   config              the ConfigMap is accepted
no    enabled             webEnabled in the ConfigMap is false
yes   enabled/Static      webEnabled in /modules/values.yaml is true
no    enabled/KubeConfig  disables it
yes   not-paused          it is not paused
yes   requirements        it requires no other module
-     queue               not reached
-     synchronized        not reached
-     before-helm         not reached
-     helm                not reached
-     hooks               not reached
-     ready               not reached
`);
  expect(explanationText({ ...READY, why: treeOf({}) })).not.toContain('CONDITION');
});
