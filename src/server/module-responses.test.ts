import { expect, test } from 'vitest';
import { daemonView, NO_PAUSES } from '../../test/support/daemon-view-stub.ts';
import { readySummary } from '../../test/support/module-explanations.ts';
import {
  explainResponse,
  listResponse,
  type PauseRequest,
  pauseResponse,
  resumeResponse,
} from './module-responses.ts';

const NOW_MS = Date.parse('2026-05-31T17:00:00Z');
const { signal } = new AbortController();

async function pause(form: Readonly<Record<string, string>>, module?: string) {
  const asked: (readonly [string | undefined, PauseRequest])[] = [];
  const commands = {
    ...NO_PAUSES,
    nowMs: () => NOW_MS,
    pause: async (name: string | undefined, request: PauseRequest) => {
      asked.push([name, request]);
    },
  };
  const { status, body } = await pauseResponse(commands, module, new URLSearchParams(form), signal);
  return { status, body, asked };
}

test('pauseResponse() pauses for a time, until a time, or until it is resumed', async () => {
  const untilMs = NOW_MS + 7_200_000;
  expect(await pause({ reason: 'disks', for: '2h' }, 'web')).toEqual({
    status: 200,
    body: 'module web is paused until 2026-05-31T19:00:00.000Z\n',
    asked: [['web', { reason: 'disks', untilMs }]],
  });
  expect((await pause({ reason: 'disks', until: '2026-05-31T19:00:00Z' })).asked).toEqual([
    [undefined, { reason: 'disks', untilMs }],
  ]);
  expect(await pause({ reason: 'disks', for: '', until: '' })).toMatchObject({
    body: 'all modules are paused until they are resumed\n',
  });
});

test.each([
  [{}, "a pause needs a 'reason'"],
  [{ reason: 'x', for: 'long' }, 'cannot read the duration "long"'],
  [{ reason: 'x', for: '-1h' }, 'cannot read the duration "-1h"'],
  [{ reason: 'x', until: 'later' }, 'cannot read the time "later"'],
  [{ reason: 'x', until: '2026-05-31T16:00:00Z' }, 'is in the past'],
  [{ reason: 'x', for: '1h', until: '2027-01-01' }, "either 'for' or 'until'"],
])('pauseResponse() refuses %j', async (form, message) => {
  const response = await pause(form);
  expect(response).toMatchObject({ status: 400, asked: [] });
  expect(response.body).toContain(message);
});

test('pauseResponse() does not blame the form when the cluster cannot be asked', async () => {
  const commands = { ...NO_PAUSES, pause: () => Promise.reject(new Error('no answer')) };
  const form = new URLSearchParams({ reason: 'x' });
  await expect(pauseResponse(commands, 'web', form, signal)).rejects.toThrow('no answer');
});

test('resumeResponse() says when there was nothing to resume', async () => {
  const view = daemonView();
  expect(await resumeResponse({ view, pauses: NO_PAUSES }, 'web', signal)).toMatchObject({
    status: 404,
    body: 'module web is not paused; a pause of all modules ends with `addon-operator resume`\n',
  });
  const pauses = { ...NO_PAUSES, resume: async () => true };
  expect(await resumeResponse({ view, pauses }, undefined, signal)).toMatchObject({
    body: 'all modules are resumed\n',
  });
});

test('listResponse() has only modules with a problem of their own on request', () => {
  const modulesOf = [
    readySummary('web'),
    readySummary('db', { status: 'starting' }),
    readySummary('hanging', { heldUpBy: 'hook a.sh runs' }),
    readySummary('refused', { status: 'disabled', source: 'requirement' }),
    readySummary('behind', { status: 'starting', heldUpBy: 'db fails', heldUpRef: 'queue/main' }),
    readySummary('off', { status: 'disabled' }),
  ];
  const view = daemonView({ modules: () => modulesOf });
  const { modules } = JSON.parse(listResponse(view, 'json', true).body) as { modules: { module: string }[] };
  expect(modules.map(({ module }) => module)).toEqual(['db', 'hanging', 'refused']);
});

test('explainResponse() and listResponse() know text and data', async () => {
  const view = daemonView();
  expect(await explainResponse(view, 'nothing', 'text', signal)).toMatchObject({ status: 404 });
  expect(listResponse(view, 'json')).toMatchObject({ body: '{"modules":[]}\n' });
  expect(listResponse(view, 'text')).toMatchObject({ body: 'MODULE  STATUS  ENABLED  REASON\n' });
});
