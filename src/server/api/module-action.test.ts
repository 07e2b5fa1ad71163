import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { daemonView, NO_COMMANDS } from '../../../test/support/daemon-view-stub.ts';
import type { PauseRequest } from '../module-responses.ts';
import { type ModuleAction, type ModuleActionParts, moduleActionResponse } from './module-action.ts';
import { type Requester, trustedRequester } from './requester.ts';
import { API_SCHEMAS } from './schemas.ts';

async function ask(body: unknown, parts: Partial<ModuleActionParts> = {}, module = 'web') {
  const actions: ModuleAction[] = [];
  const all = {
    view: daemonView(),
    ...NO_COMMANDS,
    requestOperation: () => 'requested' as const,
    onAction: (action: ModuleAction) => void actions.push(action),
    ...parts,
  };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = { module, body: text, requester: trustedRequester('page') };
  const response = await moduleActionResponse(all, request, new AbortController().signal);
  return { status: response.status, data: JSON.parse(response.body) as unknown, actions };
}

test.each(['reconcile', 'force-reconcile', 'abort'])('%s is passed on as by the command', async (action) => {
  const asked: string[] = [];
  const requestOperation: ModuleActionParts['requestOperation'] = (module, operation) => {
    asked.push(`${module} ${operation}`);
    return 'requested';
  };
  const { status, data, actions } = await ask({ action, reason: 'it hangs' }, { requestOperation });
  expect(status).toBe(202);
  expect(data).toMatchObject({ operation: { module: 'web', action, by: 'page' } });
  expect(new Ajv().validate(API_SCHEMAS['operation'] ?? false, data)).toBe(true);
  expect(asked).toEqual([`web ${action}`]);
  expect(actions).toEqual([{ module: 'web', action, reason: 'it hangs', by: 'page' }]);
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
  const rollback: ModuleActionParts['rollback'] = async (module, order) => {
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
  [{}, '"action" must be one of reconcile, force-reconcile, abort, pause, resume, rollback'],
  [{ action: 'delete' }, '"action" must be one of'],
  [{ action: 'pause' }, "a pause needs a 'reason'"],
  [{ action: 'pause', reason: 'x', for: 'soon' }, 'cannot read the duration "soon"'],
  [{ action: 'abort', for: '2h' }, '"for" is the duration of a pause'],
  [{ action: 'pause', reason: 'x', withValues: 'true' }, '"withValues" is an option of a rollback'],
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

test('an action that the client may not request does nothing', async () => {
  const asked: unknown[] = [];
  const requester: Requester = {
    ...trustedRequester('page (alice)'),
    refusalOf: (verb, module) => Promise.resolve(`alice may not ${verb} module ${module ?? ''}`),
  };
  const request = { module: 'web', body: '{"action":"abort"}', requester };
  const requestOperation: ModuleActionParts['requestOperation'] = (...args) => {
    asked.push(args);
    return 'requested';
  };
  const parts = { view: daemonView(), ...NO_COMMANDS, requestOperation };
  const { status, body } = await moduleActionResponse(parts, request, new AbortController().signal);
  expect([status, body]).toEqual([403, expect.stringContaining('alice may not abort module web')]);
  expect(asked).toEqual([]);
});
