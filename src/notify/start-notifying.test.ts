import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@addon-operator/base/log';
import { Redactor } from '@addon-operator/masking/redactor';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { startLoopbackServer } from '../../test/support/loopback-server.ts';
import { writeTree } from '../../test/support/world-files.ts';
import { AllowedHosts } from '../hooks/http/allowed-hosts.ts';
import type { ModuleSummary } from '../status/module-explanation.ts';
import { createNotifying, readSinks } from './start-notifying.ts';

const SLACK = 'https://hooks.slack.com/services/T0/B0/abcdefgh';
let cwd: string;
let redactor: Redactor;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'notify-'));
  redactor = new Redactor();
});

afterEach(() => rm(cwd, { recursive: true }));

async function read(content: string, files: Readonly<Record<string, string>> = {}) {
  await writeTree(cwd, { ...files, 'notify.yaml': content });
  const env = { SLACK_URL: SLACK, SHORT: 'short', NO_URL: 'no url' };
  const host = { clock: new FakeClock(), random: () => 0, log: silentLogger, env, cwd };
  const hosts = new AllowedHosts({ entries: [] });
  return await readSinks({
    file: 'notify.yaml',
    host,
    hosts,
    redactor,
    metrics: { notification: () => undefined },
  });
}

test('the file names receivers, and credentials come from files and variables, which are masked from then on', async () => {
  const content = `
sinks:
  - name: pager
    webhook: {url: 'https://hooks.example.com/a?b=c', secretFrom: {file: hmac}}
    modules: ['web-*', '!web-test']
    states: [failing, ready]
  - {name: chat, slack: {urlFrom: {env: SLACK_URL}}}
  - {name: alerts, alertmanager: {url: 'http://alertmanager.monitoring.svc:9093/prefix/'}}
`;
  const sinks = await read(content, { hmac: 'a-secret-of-24-letters-x\n' });
  const shown = sinks.map(({ name, format, url, secret, patterns, rules: { states, repeatMs } }) => {
    return [name, format, url.href, secret, patterns, states.length, repeatMs];
  });
  expect(shown).toEqual([
    [
      'pager',
      'webhook',
      'https://hooks.example.com/a?b=c',
      'a-secret-of-24-letters-x',
      'web-*,!web-test',
      2,
      undefined,
    ],
    ['chat', 'slack', SLACK, undefined, '*', 5, undefined],
    [
      'alerts',
      'alertmanager',
      'http://alertmanager.monitoring.svc:9093/prefix/api/v2/alerts',
      undefined,
      '*',
      5,
      60_000,
    ],
  ]);
  expect(redactor.text(`${SLACK} a-secret-of-24-letters-x`)).toBe('*** ***');
});

test.each([
  ['nothing', '', 'must be a mapping, not empty'],
  ['no list', 'sinks: {}', 'sinks: must be a list, not a mapping'],
  ['no sink', 'sinks: []', 'sinks: must have at least 1 item'],
  [
    'an unknown key',
    'sinks: [{name: a, webhok: {url: "http://a"}}]',
    'sinks[0].webhok: unknown key (did you mean "webhook"?)',
  ],
  [
    'a secret in the file',
    'sinks: [{name: a, webhook: {url: "http://a", secret: abc}}]',
    'sinks[0].webhook.secret: unknown key',
  ],
  [
    'an address of Slack in the file',
    'sinks: [{name: a, slack: {url: "http://a"}}]',
    'sinks[0].slack.url: unknown key',
  ],
  [
    'two formats',
    'sinks: [{name: a, webhook: {url: "http://a"}, alertmanager: {url: "http://a"}}]',
    'sinks[0]: must have exactly one of webhook, slack, alertmanager',
  ],
  [
    'another protocol',
    'sinks: [{name: a, webhook: {url: "file:///etc/passwd"}}]',
    'sinks[0].webhook.url: must be a URL with http or https',
  ],
  [
    'a password',
    'sinks: [{name: a, webhook: {url: "http://b:c@d"}}]',
    'sinks[0].webhook.url: must be a URL with http or https, without a user',
  ],
  [
    'a wrong state',
    'sinks: [{name: a, webhook: {url: "http://a"}, states: [failed]}]',
    'sinks[0].states[0]: must be one of failing,',
  ],
  [
    'a wrong type',
    'sinks: [{name: a, webhook: {url: "http://a"}, modules: web}]',
    'sinks[0].modules: must be a list, not a string',
  ],
  [
    'a name twice',
    'sinks: [{name: a, webhook: {url: "http://a"}}, {name: a, webhook: {url: "http://a"}}]',
    'sinks[1].name: a is used twice',
  ],
  [
    'a state that is no alert',
    'sinks: [{name: a, alertmanager: {url: "http://a"}, states: [failing, paused]}]',
    'sinks[0].states: paused is no problem',
  ],
  ['a duplicate key', 'sinks: []\nsinks: []', 'notify.yaml:2: at sinks: the key is given twice'],
  [
    'a missing variable',
    'sinks: [{name: a, slack: {urlFrom: {env: NONE}}}]',
    'sinks[0]: urlFrom: the variable NONE is not set',
  ],
  ['a missing file', 'sinks: [{name: a, slack: {urlFrom: {file: none}}}]', 'sinks[0]: ENOENT'],
  [
    'a variable that is no address',
    'sinks: [{name: a, slack: {urlFrom: {env: NO_URL}}}]',
    'sinks[0]: urlFrom: must be a URL with http or https',
  ],
  [
    'a short secret',
    'sinks: [{name: a, webhook: {url: "http://a", secretFrom: {env: SHORT}}}]',
    'sinks[0]: secretFrom: must have at least 16 characters',
  ],
  [
    'an address of this machine',
    'sinks: [{name: a, webhook: {url: "http://127.0.0.1/"}}]',
    'sinks[0]: the address 127.0.0.1 is not allowed for HTTP hooks',
  ],
  [
    'an address of cloud metadata',
    'sinks: [{name: a, webhook: {url: "http://169.254.169.254/"}}]',
    'sinks[0]: the address 169.254.169.254 is not allowed',
  ],
])('a mistake in the file ends the start with its place: %s', async (_what, content, problem) => {
  const error = await read(content).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
  expect(String(error)).toContain(join(cwd, 'notify.yaml'));
  expect(String(error)).toContain(problem);
});

test('all mistakes are reported, one a line', async () => {
  await expect(read('sinks: [{nam: a, slack: {}}]')).rejects.toThrow(
    /nam: unknown key.*\n.*urlFrom is missing.*\n.*name is missing$/su,
  );
});

function failing(module: string): ModuleSummary {
  const about = { source: null, reason: '', waitsFor: [], version: null, revision: null, nextTryAt: null };
  const since = '2026-01-01T00:00:00.000Z';
  const lastError = 'cannot sign in with correct-horse';
  return { ...about, module, status: 'failing', since, isEnabled: true, lastError, paused: null };
}

test('changes are noticed within a second, or 10 s where no run changed, and secrets in them are masked', async () => {
  const received = Promise.withResolvers<void>();
  const server = await startLoopbackServer((_request, response) => {
    response.end();
    if (server.requests.length === 2) received.resolve();
  });
  try {
    await writeTree(cwd, {
      'notify.yaml': `sinks: [{name: a, webhook: {url: '${server.url}'}, modules: ['*', '!b']}]`,
    });
    const clock = new FakeClock();
    const host = { clock, random: () => 0, log: silentLogger, env: {}, cwd };
    const hosts = new AllowedHosts({ entries: ['127.0.0.1'] });
    const metrics = { notification: () => undefined };
    const notify = await createNotifying({ file: 'notify.yaml', host, hosts, redactor, metrics });
    let [modules, key, looks]: [ModuleSummary[], string, number] = [[], '0', 0];
    const view = {
      modules: () => {
        looks += 1;
        return modules;
      },
      stateKey: () => key,
    };
    const stop = new AbortController();
    const ended = notify({ view, origin: () => ({ cluster: '', namespace: 'x' }) }, stop.signal);
    await settle();
    redactor.add('correct-horse');
    [modules, key] = [[failing('a'), failing('b')], '1'];
    await clock.advance(1_000);
    expect(looks).toBe(2);
    modules.push(failing('c'));
    await clock.advance(9_000);
    expect(looks).toBe(2);
    await clock.advance(1_000);
    expect(looks).toBe(3);
    await received.promise;
    stop.abort();
    await ended;
    expect(server.requests.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject(
      ['a', 'c'].map((module) => ({ subject: module, data: { message: 'cannot sign in with ***' } })),
    );
  } finally {
    await server.stop();
  }
});
