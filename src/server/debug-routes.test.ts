import type { RouteResponse } from '@addon-operator/http-server/response';
import { expect, test } from 'vitest';
import { daemonView, moduleView, NO_COMMANDS } from '../../test/support/daemon-view-stub.ts';
import type { DaemonView } from '../status/daemon-view.ts';
import { type DebugEndpoint, debugHandler } from './debug-routes.ts';

const PARAMETERS: DebugEndpoint['parameters'] = { list: () => [], set: () => undefined };

async function ask(
  path: string,
  view?: Partial<DaemonView>,
  parameters = PARAMETERS,
  post?: { readonly body: string; readonly isReadOnly?: boolean },
): Promise<RouteResponse> {
  const handler = debugHandler(
    { view: daemonView(view), parameters, ...NO_COMMANDS },
    post?.isReadOnly ?? false,
  );
  const [pathname = '', query = ''] = path.split('?');
  const request = { path: pathname, query: new URLSearchParams(query) };
  return await handler(
    { ...request, method: post === undefined ? 'GET' : 'POST', body: post?.body ?? '' },
    new AbortController().signal,
  );
}

test('the root says that the endpoint is alive', async () => {
  expect(await ask('/')).toMatchObject({ status: 200, body: 'debug endpoint is alive\n' });
});

test.each([
  '/nothing',
  '/queue/main.xml',
  '/queue/main',
  '/module/web/nothing.json',
  '/module/a/b/values.json',
])('%s is not found', async (path) => {
  expect(await ask(path)).toMatchObject({ status: 404, body: '404 page not found\n' });
});

test('the graph of the modules comes in the DOT language, and a picture of it not at all', async () => {
  expect(await ask('/graph?format=text')).toMatchObject({
    contentType: 'text/plain; charset=utf-8',
    body: expect.stringMatching(/^digraph modules \{[^]*"web"/) as string,
  });
  expect(await ask('/graph')).toMatchObject({
    status: 501,
    body: expect.stringContaining('dot -Tpng') as string,
  });
});

test('queues come as text, JSON and YAML', async () => {
  const queues = () => [
    { name: 'main', status: '', tasks: [{ index: 1, description: 't' }] },
    { name: 'q', status: '', tasks: [] },
  ];
  expect((await ask('/queue/main.text', { queues })).body).toBe(
    "Queue 'main': length 1, status: ''\n\n 1. t\n",
  );
  expect((await ask('/queue/list.text?showEmpty=true', { queues })).body).toContain(
    'Empty queues (1):\n- q\n',
  );
  expect(JSON.parse((await ask('/queue/main.json', { queues })).body)).toMatchObject({
    name: 'main',
    tasksCount: 1,
  });
  expect(JSON.parse((await ask('/queue/list.json', { queues })).body)).not.toHaveProperty('empty');
  expect(JSON.parse((await ask('/queue/list.json?showEmpty=true', { queues })).body)).toHaveProperty('empty');
  expect((await ask('/queue/list.yaml', { queues })).body).toContain('summary:\n  mainQueueTasks: 1\n');
});

test('queues for a table have all facts about tasks, and the runs that are in no queue', async () => {
  const unfinishedRuns = () => ({ waiting: ['later'], debounced: [], failed: [] });
  const { body } = await ask('/queue/list.json?tasks=true', { unfinishedRuns });
  expect(JSON.parse(body)).toEqual({ queues: [], waiting: ['later'], debounced: [], failed: [] });
});

test('sources and their modules are shown, empty where modules come from directories only', async () => {
  expect(JSON.parse((await ask('/delivery.json')).body)).toEqual({ sources: [], installs: [] });
});

test('the main queue is shown before it exists', async () => {
  expect((await ask('/queue/main.text')).body).toBe("Queue 'main': length 0, status: ''\n");
});

test('enabled modules are sorted', async () => {
  const enabledModules = () => ['b', 'a'];
  expect((await ask('/module/list.json', { enabledModules })).body).toBe('{"enabledModules":["a","b"]}\n');
  expect((await ask('/module/list.yaml', { enabledModules })).body).toBe('enabledModules:\n  - a\n  - b\n');
  expect((await ask('/module/list.text', { enabledModules })).body).toBe('{"enabledModules":["a","b"]}\n');
});

test('values of a module come alone, or beside the global ones', async () => {
  expect((await ask('/module/web/values.json')).body).toBe('{"image":"nginx","replicas":2}\n');
  expect(JSON.parse((await ask('/module/web/values.json?global=true')).body)).toEqual({
    global: { domain: 'example.com' },
    web: { replicas: 2, image: 'nginx' },
  });
  expect((await ask('/module/web/config.yaml')).body).toBe('replicas: 2\n');
});

test('text means JSON where there is no text form', async () => {
  expect(await ask('/global/values.text')).toMatchObject({
    contentType: 'application/json',
    body: '{"domain":"example.com"}\n',
  });
});

test.each([
  ['values.json', 'module not found\n'],
  ['config.yaml', 'module not found\n'],
  ['snapshots.json', 'module not found\n'],
  ['render', 'module not found\n'],
  ['patches.json', 'unknown module nosuch\n'],
])('%s of an unknown module fails', async (what, body) => {
  expect(await ask(`/module/nosuch/${what}`)).toMatchObject({ status: 500, body });
});

test('patches are null before the first one', async () => {
  expect((await ask('/module/web/patches.json')).body).toBe('null\n');
  const patches = () => [{ Operations: [{ op: 'add', path: '/web/a', value: 1 }] }];
  expect((await ask('/module/web/patches.json', { module: () => moduleView({ patches }) })).body).toBe(
    '[{"Operations":[{"op":"add","path":"/web/a","value":1}]}]\n',
  );
});

test('render passes its options and may be empty', async () => {
  expect(await ask('/module/web/render')).toMatchObject({ status: 200, body: '' });
  const render = (options: object) => Promise.resolve(JSON.stringify(options));
  const response = await ask('/module/web/render?debug=true&diff=true', {
    module: () => moduleView({ render }),
  });
  expect(response.body).toBe('{"isDebug":true,"isDiff":true}');
});

test('the resource monitor lists objects, or says that it does not run', async () => {
  const monitoredResources = () => ({ web: ['ns/Service/b', 'ns/Deployment/a'], dns: undefined });
  expect((await ask('/module/resource-monitor.json', { monitoredResources })).body).toBe(
    '{"dns":"No monitor","web":["ns/Deployment/a","ns/Service/b"]}\n',
  );
});

test('global hooks are listed by name', async () => {
  expect((await ask('/global/list.json', { globalHooks: () => ['b', 'a'] })).body).toBe(
    '{"globalHooks":["a","b"]}\n',
  );
});

test('runtime parameters come as a table or as data', async () => {
  const list = () => [
    { name: 'log.level', description: 'Level', default: 'info', value: 'debug', expiresAtMs: 0 },
    { name: 'x', description: 'Other', default: 'a', value: 'a' },
    { name: 'y', description: 'Broken', default: 'a', value: 'a', lastError: 'no\ndisk' },
  ];
  const parameters = { ...PARAMETERS, list };
  const table = (await ask('/config/list.text', {}, parameters)).body.split('\n');
  expect(table[0]).toBe(
    'NAME                           VALUE                EXPIRE AT            DESCRIPTION',
  );
  expect(table[2]).toBe('x                              a                                         Other');
  const data = JSON.parse((await ask('/config/list.json', {}, parameters)).body);
  expect(data).toMatchObject([{ name: 'log.level', expireAt: expect.any(String) }, { name: 'x' }, {}]);
  expect(data[1]).toEqual({ name: 'x', description: 'Other', default: 'a', value: 'a' });
  expect(table[3]).toBe(
    'y                              a                                         Error: no disk',
  );
  expect(data[2]).toMatchObject({ description: 'Broken', lastError: 'no\ndisk' });
});

test('a runtime parameter is set by a form', async () => {
  const calls: string[][] = [];
  const parameters = { ...PARAMETERS, set: (...values: string[]) => void calls.push(values) };
  const response = await ask('/config/set', {}, parameters, {
    body: 'name=log.level&value=debug&duration=5m',
  });
  expect(response).toMatchObject({ status: 200, body: '' });
  expect(calls).toEqual([['log.level', 'debug', '5m']]);
  expect(await ask('/config/set', {}, parameters, { body: 'value=debug' })).toMatchObject({
    status: 400,
    body: "'name' parameter is required\n",
  });
});

test('a refused value is reported', async () => {
  const set = () => {
    throw new Error('unknown runtime parameter "x"');
  };
  expect(await ask('/config/set', {}, { ...PARAMETERS, set }, { body: 'name=x' })).toMatchObject({
    status: 400,
    body: 'unknown runtime parameter "x"\n',
  });
});

test('what changes something needs POST and an endpoint that may be written', async () => {
  expect(await ask('/config/set')).toMatchObject({ status: 405 });
  expect(await ask('/queue/main.json', {}, PARAMETERS, { body: '' })).toMatchObject({ status: 405 });
  const post = { body: 'name=log.level&value=debug', isReadOnly: true };
  expect(await ask('/config/set', {}, PARAMETERS, post)).toMatchObject({ status: 405 });
});

test('discovery lists the routes of global and modules', async () => {
  const lines = (await ask('/discovery')).body.trimEnd().split('\n');
  expect(lines).toContain('GET /global/values.{format}');
  expect(lines).toContain('GET /module/{module}/render');
  expect(lines.some((line) => line.includes('/queue/'))).toBe(false);
});
