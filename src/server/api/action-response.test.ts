import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import type { PauseRequest } from '../module-responses.ts';
import { type ActionParts, actionResponse, type RequestedAction } from './action-response.ts';
import { AuditList } from './audit-list.ts';
import { type Requester, trustedRequester } from './requester.ts';
import { API_SCHEMAS } from './schemas.ts';

async function ask(body: unknown, parts: Partial<ActionParts> = {}, module = 'web') {
  const actions: RequestedAction[] = [];
  const audit = new AuditList();
  const all = {
    audit,
    view: daemonView(),
    ...NO_COMMANDS,
    requestOperation: () => 'requested' as const,
    onAction: (action: RequestedAction) => void actions.push(action),
    ...parts,
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = { module, body: text, requester: trustedRequester('page') };
  const response = await actionResponse(all, request, new AbortController().signal);
  return {
    status: response.status,
    data: JSON.parse(response.body) as unknown,
    actions,
    audit: audit.entries,
  };
}

test.each(['reconcile', 'force-reconcile', 'abort'])('%s is passed on as by the command', async (action) => {
  const asked: string[] = [];
  const requestOperation: ActionParts['requestOperation'] = (module, operation) => {
    asked.push(`${module} ${operation}`);
    return 'requested';
  };
  const { status, data, actions } = await ask({ action, reason: 'it hangs' }, { requestOperation });
  expect(status).toBe(202);
  expect(data).toMatchObject({ operation: { module: 'web', action, by: 'page' } });
  expect(new Ajv().validate(API_SCHEMAS['operation'] ?? false, data)).toBe(true);
  expect(asked).toEqual([`web ${action}`]);
  expect(actions).toEqual([{ module: 'web', target: 'module web', action, reason: 'it hangs', by: 'page' }]);
});

test('a pause has a reason and an end, and is ended', async () => {
  const asked: unknown[] = [];
  const pauses = {
    pause: async (module: string | undefined, pause: PauseRequest) => void asked.push([module, pause]),
    resume: async (module: string | undefined) => asked.push(module) > 0,
    nowMs: () => 1_000,
  };
  const { status, data } = await ask({ action: 'pause', reason: 'move', for: '2s' }, { pauses });
  expect([status, data]).toEqual([
    202,
    {
      operation: {
        module: 'web',
        target: 'module web',
        action: 'pause',
        by: 'page',
        message: 'module web is paused until 1970-01-01T00:00:03.000Z',
      },
    },
  ]);
  expect((await ask({ action: 'resume' }, { pauses })).status).toBe(202);
  expect(asked).toEqual([['web', { reason: 'move', untilMs: 3_000 }], 'web']);
});

test('a rollback is passed on with its target', async () => {
  const asked: unknown[] = [];
  const rollback: ActionParts['rollback'] = async (module, order) => {
    asked.push([module, order]);
    return await Promise.resolve({ type: 'done', revision: 1, version: '1.0.0', newRevision: 3 });
  };
  const { status, actions } = await ask(
    { action: 'rollback', to: '1', withValues: 'true', reason: 'INC-7' },
    { rollback },
  );
  expect(status).toBe(202);
  expect(asked).toEqual([['web', { to: '1', withValues: true, isDryRun: false }]]);
  expect(actions).toMatchObject([{ module: 'web', action: 'rollback', reason: 'INC-7', by: 'page' }]);
});

test.each([
  ['not JSON', 'the body is not JSON'],
  ['[]', 'the body must be an object'],
  [
    {},
    '"action" must be one of reconcile, force-reconcile, abort, pause, resume, rollback, enable, disable, heal-drift',
  ],
  [{ action: 'delete' }, '"action" must be one of'],
  [{ action: 'pause' }, 'pause needs "reason"'],
  [{ action: 'pause', reason: 'x', for: 'soon' }, 'cannot read the duration "soon"'],
  [{ action: 'abort', for: '2h' }, '"for" is no field of abort'],
  [{ action: 'pause', reason: 'x', withValues: 'true' }, '"withValues" is no field of pause'],
  [{ action: 'abort', force: 'yes' }, 'unknown field "force"'],
  [{ action: 'abort', reason: 1 }, '"reason" must be a string'],
  [{ action: 'abort', reason: 'x'.repeat(1_001) }, 'must not be longer than 1000 characters'],
])('%j is refused: %s', async (body, message) => {
  const { status, data, actions } = await ask(body);
  expect(status).toBe(400);
  expect(data).toMatchObject({
    error: { code: 'REQUEST_INVALID', message: expect.stringContaining(message) as string },
  });
  expect(actions).toEqual([]);
});

test.each([
  ['disabled', 'REQUEST_REFUSED'],
  ['paused', 'REQUEST_REFUSED'],
  ['unauthorized', 'MODULE_UNAUTHORIZED'],
] as const)('of a module that is %s nothing is recorded', async (outcome, code) => {
  const { status, data, actions } = await ask({ action: 'reconcile' }, { requestOperation: () => outcome });
  expect([status, data, actions]).toMatchObject([409, { error: { code } }, []]);
});

test('an unknown module is not found', async () => {
  expect(await ask({ action: 'abort' }, {}, 'nosuch')).toMatchObject({
    status: 404,
    data: { error: { code: 'MODULE_UNKNOWN' } },
  });
});

test('a pause that cannot be saved is a failure', async () => {
  const pauses = { ...NO_COMMANDS.pauses, pause: () => Promise.reject(new Error('no cluster')) };
  expect(await ask({ action: 'pause', reason: 'x' }, { pauses })).toMatchObject({
    status: 500,
    data: { error: { code: 'INTERNAL', message: 'no cluster' } },
    actions: [],
  });
});

const HOOKS = ['web/hooks/a.sh', 'a.sh', 'hooks/a.sh'];

test.each<[object, string, string, string | undefined, string]>([
  [{ action: 'retry', queue: 'main' }, 'reconcile', 'queue main', 'web', 'retry main'],
  [{ action: 'retry', queue: 'idle' }, 'reconcile', 'queue idle', undefined, 'retry idle'],
  [
    { action: 'abort-hook', hook: 'web/hooks/a.sh' },
    'abort',
    'hook web/hooks/a.sh',
    'web',
    'abort web/hooks/a.sh false',
  ],
  [
    { action: 'drop-hook', hook: 'web/hooks/a.sh', queue: 'main' },
    'abort',
    'hook web/hooks/a.sh',
    'web',
    'abort web/hooks/a.sh true main',
  ],
  // The hook of module `hooks` is also the short name of the one of module `web`.
  [
    { action: 'abort-hook', hook: 'hooks/a.sh' },
    'abort',
    'hook hooks/a.sh',
    undefined,
    'abort hooks/a.sh false',
  ],
  [
    { action: 'trigger-hook', hook: 'a.sh', binding: 'x' },
    'trigger',
    'hook a.sh',
    undefined,
    'trigger a.sh x',
  ],
  [{ action: 'pause-all', reason: 'night', for: '2s' }, 'pause', 'all modules', undefined, 'pause all'],
  [{ action: 'resume-all' }, 'pause', 'all modules', undefined, 'resume all'],
])('%j is done, and recorded with its verb, target and module', async (body, verb, target, module, done) => {
  const { status, data, actions, audit, asked, verbs } = await askOperator(body);
  const { action } = body as { action: string };
  expect([status, asked, verbs]).toEqual([202, [done], [[verb, module]]]);
  const operation = {
    operation: { module: '', target, action, by: 'page (alice)', message: expect.any(String) as string },
  };
  expect(data).toEqual(operation);
  expect(new Ajv().validate(API_SCHEMAS['operation'] ?? false, data)).toBe(true);
  expect(actions).toMatchObject([{ action, target, module: module ?? '', by: 'page (alice)' }]);
  expect(audit).toMatchObject([{ action, target, result: 'accepted', by: 'page (alice)' }]);
});

test.each([
  [{ action: 'reconcile' }, 400, '"action" must be one of retry, abort-hook'],
  [{ action: 'retry' }, 400, 'retry needs "queue"'],
  [{ action: 'resume-all', for: '2h' }, 400, '"for" is no field of resume-all'],
  [{ action: 'trigger-hook', hook: 'a.sh' }, 400, 'trigger-hook needs "binding"'],
  [
    { action: 'abort-hook', hook: 'hooks/b.sh' },
    404,
    'there is no hook hooks/b.sh (did you mean "hooks/a.sh"?)',
  ],
])('%j is refused with %i: %s', async (body, expected, message) => {
  const { status, data, actions, asked } = await askOperator(body);
  expect([status, data]).toMatchObject([
    expected,
    { error: { message: expect.stringContaining(message) as string } },
  ]);
  expect([actions, asked]).toEqual([[], []]);
});

/** A request for an action that is not about a module, with what it did and the access that it needed. */
async function askOperator(body: object) {
  const [asked, verbs, actions, audit] = [[], [], [], new AuditList()] as [
    string[],
    unknown[],
    RequestedAction[],
    AuditList,
  ];
  const task = { ...WAITING_TASK, module: 'web' };
  const queue = {
    name: 'main',
    length: 1,
    keys: 0,
    status: { type: 'delayed', since: null, until: null } as const,
  };
  const parts: ActionParts = {
    ...NO_COMMANDS,
    view: daemonView({ taskQueues: () => [{ ...queue, tasks: [task] }], globalHooks: () => ['a.sh'] }),
    hooks: () => HOOKS,
    tasks: {
      retryHead: (name) => {
        asked.push(`retry ${name}`);
        return { type: 'retried', task: 'ModuleRun web' };
      },
      abortHook: (request) => {
        asked.push(['abort', request.hook, request.isDropped, request.queue].join(' ').trim());
        return { type: 'aborted', runs: 1 };
      },
      triggerHook: ({ hook, binding }) => {
        asked.push(`trigger ${hook} ${binding}`);
        return { type: 'queued', queue: 'main', ahead: 0 };
      },
    },
    pauses: {
      pause: async (module) => void asked.push(`pause ${module ?? 'all'}`),
      resume: async (module) => asked.push(`resume ${module ?? 'all'}`) > 0,
      nowMs: () => 1_000,
    },
    onAction: (action) => void actions.push(action),
  };
  const requester: Requester = {
    ...trustedRequester('page (alice)'),
    refusalOf: async (verb, module) => {
      verbs.push([verb, module]);
      return await Promise.resolve(undefined);
    },
  };
  const request = { module: '', body: JSON.stringify(body), requester };
  const response = await actionResponse({ ...parts, audit }, request, new AbortController().signal);
  const data = JSON.parse(response.body) as unknown;
  return { status: response.status, data, actions, audit: audit.entries, asked, verbs };
}

const WAITING_TASK = {
  id: 'main/1',
  type: 'ModuleRun',
  hook: '',
  binding: '',
  trigger: '',
  eventId: '',
  triggeredBy: null,
  queuedAt: '',
  failures: 1,
  lastError: 'no',
  lastCode: '',
  waits: [],
};

test.each([
  ['enable', 'set', 202, 'webEnabled: "true" is set in ConfigMap op/values', 'accepted'],
  ['disable', 'set', 202, 'webEnabled: "false" is set in ConfigMap op/values', 'accepted'],
  ['enable', 'unchanged', 409, 'ConfigMap op/values has webEnabled: "true" already', 'refused'],
] as const)(
  '%s, whose flag is %s, is responded to with %i',
  async (action, type, expected, message, result) => {
    const asked: unknown[] = [];
    const setFlag: ActionParts['setFlag'] = async (module, isEnabled) => {
      asked.push([module, isEnabled]);
      return await Promise.resolve({ type, flag: 'webEnabled', configMap: 'op/values' });
    };
    const { status, data, audit } = await ask({ action }, { setFlag });
    expect([status, JSON.stringify(data)]).toEqual([
      expected,
      expect.stringContaining(message.replaceAll('"', '\\"')),
    ]);
    expect(asked).toEqual([['web', action === 'enable']]);
    expect(audit).toMatchObject([{ action, result, target: 'module web' }]);
  },
);

test('drift is healed by a run with helm', async () => {
  const asked: string[] = [];
  const requestOperation: ActionParts['requestOperation'] = (module, operation) => {
    asked.push(`${module} ${operation}`);
    return 'requested';
  };
  expect((await ask({ action: 'heal-drift' }, { requestOperation })).status).toBe(202);
  expect(asked).toEqual(['web force-reconcile']);
});

test('the audit list has the last 200 requests, the newest first, and those that failed', async () => {
  const list = new AuditList();
  const entry = {
    time: '',
    by: 'page',
    action: 'retry',
    reason: '',
    result: 'accepted',
    message: '',
  } as const;
  for (let number = 1; number <= 201; number += 1) list.add({ ...entry, target: `queue ${number}` });
  expect(list.entries).toHaveLength(200);
  expect([list.entries[0]?.target, list.entries.at(-1)?.target]).toEqual(['queue 201', 'queue 2']);
  const pauses = { ...NO_COMMANDS.pauses, pause: () => Promise.reject(new Error('no cluster')) };
  const { audit } = await ask({ action: 'pause', reason: 'x' }, { pauses });
  expect(audit).toMatchObject([{ result: 'failed', message: 'no cluster', reason: 'x' }]);
});

test('an action that the client may not request does nothing', async () => {
  const asked: unknown[] = [];
  const requester: Requester = {
    ...trustedRequester('page (alice)'),
    refusalOf: (verb, module) => Promise.resolve(`alice may not ${verb} module ${module ?? ''}`),
  };
  const request = { module: 'web', body: '{"action":"abort"}', requester };
  const requestOperation: ActionParts['requestOperation'] = (...args) => {
    asked.push(args);
    return 'requested';
  };
  const onAction: ActionParts['onAction'] = (action, outcome) => void asked.push([action.target, outcome]);
  const parts = {
    view: daemonView(),
    ...NO_COMMANDS,
    requestOperation,
    onAction,
    audit: new AuditList(),
  };
  const { status, body } = await actionResponse(parts, request, new AbortController().signal);
  expect([status, body]).toEqual([403, expect.stringContaining('alice may not abort module web')]);
  // It is logged, and the list of actions is not filled by it.
  expect(asked).toEqual([['module web', 'forbidden']]);
  expect(parts.audit.entries).toEqual([]);
});
