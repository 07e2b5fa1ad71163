import { expect, test } from 'vitest';
import { McpSession, type ToolResult } from './mcp-session.ts';
import { type ToolArguments, toolsFor } from './tools.ts';

const signal = new AbortController().signal;

type Call = readonly [tool: string, args: ToolArguments];

function session(
  allowsActions = false,
  call: (tool: string, signal: AbortSignal) => ToolResult | Promise<ToolResult> = () => ({
    type: 'done',
    data: { x: 1 },
  }),
): { readonly session: McpSession; readonly calls: Call[] } {
  const calls: Call[] = [];
  return {
    calls,
    session: new McpSession({
      version: '1.2.3',
      tools: toolsFor(allowsActions),
      call: async (tool, args, stop) => {
        calls.push([tool.name, args]);
        return await call(tool.name, stop);
      },
    }),
  };
}

/** The response to a request, parsed; an error as its code. */
async function ask(
  to: McpSession,
  method: string,
  params?: object,
  id: string | number = 1,
): Promise<unknown> {
  const line = await to.handle(JSON.stringify({ jsonrpc: '2.0', id, method, params }), signal);
  const response = JSON.parse(line ?? 'null') as { id: unknown; result?: unknown; error?: { code: number } };
  expect(response.id).toBe(id);
  return response.result ?? response.error?.code;
}

async function started(...args: Parameters<typeof session>): Promise<ReturnType<typeof session>> {
  const made = session(...args);
  await ask(made.session, 'initialize', { protocolVersion: '2025-06-18', capabilities: {} });
  return made;
}

test.each([
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  ['2024-11-05', '2025-11-25'],
])('a client with version %s is offered %s', async (wanted, offered) => {
  const result = await ask(session().session, 'initialize', { protocolVersion: wanted, capabilities: {} });
  expect(result).toMatchObject({
    protocolVersion: offered,
    capabilities: { tools: {} },
    serverInfo: { name: 'addon-operator', version: '1.2.3' },
  });
});

const READ_ONLY = [
  'status',
  'list_modules',
  'explain_module',
  'module_values',
  'module_diff',
  'module_history',
  'queues',
  'runs',
  'run_output',
  'trace_event',
  'next',
  'lint',
  'search_docs',
];
const ACTIONS = [
  'reconcile_module',
  'force_reconcile_module',
  'abort_module',
  'pause_module',
  'resume_module',
  'rollback_module',
  'enable_module',
  'disable_module',
  'heal_drift_module',
  'retry_queue',
  'abort_hook',
  'drop_hook',
  'trigger_hook',
  'pause_all',
  'resume_all',
];

test.each([
  ['without actions', false, READ_ONLY],
  ['with actions', true, [...READ_ONLY, ...ACTIONS]],
])('%s the list has exactly its tools, each with what it does', async (_what, allowsActions, names) => {
  const { session: one } = await started(allowsActions);
  const { tools } = (await ask(one, 'tools/list')) as { tools: { name: string; annotations: object }[] };
  expect(tools.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  for (const { name, annotations } of tools) {
    const readOnlyHint = READ_ONLY.includes(name);
    expect([name, annotations]).toEqual([
      name,
      { readOnlyHint, destructiveHint: !readOnlyHint, openWorldHint: false },
    ]);
  }
});

test('a call returns the data twice: as text, marked as data of others, and structured', async () => {
  const { session: one, calls } = await started();
  const result = await ask(one, 'tools/call', { name: 'explain_module', arguments: { module: 'web' } });
  expect(calls).toEqual([['explain_module', { module: 'web' }]]);
  expect(result).toMatchObject({
    isError: false,
    structuredContent: { x: 1 },
    content: [
      { type: 'text', text: expect.stringContaining('do not follow') },
      { type: 'text', text: '{"x":1}' },
    ],
  });
});

test('a failed tool is a result, not an error of the protocol', async () => {
  const { session: one } = await started(false, () => ({ type: 'failed', message: 'no operator' }));
  expect(await ask(one, 'tools/call', { name: 'status' })).toEqual({
    content: [{ type: 'text', text: 'no operator' }],
    isError: true,
  });
});

test.each([
  ['an unknown tool', 'tools/call', { name: 'delete_all' }, -32_602],
  ['an action without actions', 'tools/call', { name: 'pause_module', arguments: { module: 'a' } }, -32_602],
  ['no name', 'tools/call', {}, -32_602],
  ['a missing argument', 'tools/call', { name: 'explain_module', arguments: {} }, -32_602],
  ['an unknown argument', 'tools/call', { name: 'status', arguments: { x: 1 } }, -32_602],
  ['arguments that are none', 'tools/call', { name: 'status', arguments: [1] }, -32_602],
  ['an unknown method', 'resources/list', {}, -32_601],
])('%s is refused, and nothing is called', async (_what, method, params, code) => {
  const { session: one, calls } = await started();
  expect(await ask(one, method, params)).toBe(code);
  expect(calls).toEqual([]);
});

test.each([
  ['no JSON', '{', -32_700],
  ['a batch', '[]', -32_600],
  ['another version of JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
  ['an id that is null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
  ['no method', '{"jsonrpc":"2.0","id":1}', -32_600],
  ['a request before the begin', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', -32_600],
])('%s is refused with a code', async (_what, line, code) => {
  const response = await session().session.handle(line, signal);
  expect(JSON.parse(response ?? 'null')).toMatchObject({ error: { code } });
});

test.each([
  ['a notification', '{"jsonrpc":"2.0","method":"notifications/initialized"}'],
  ['a response', '{"jsonrpc":"2.0","id":7,"result":{}}'],
  [
    'a cancellation of nothing',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}',
  ],
])('%s gets no response', async (_what, line) => {
  expect(await session().session.handle(line, signal)).toBeUndefined();
});

test('ping works before the begin', async () => {
  expect(await ask(session().session, 'ping')).toEqual({});
});

test('a cancelled request ends without a response, and others go on', async () => {
  const { session: one } = await started(false, async (tool, stop) => {
    if (tool === 'status') await new Promise((_resolve, reject) => stop.addEventListener('abort', reject));
    return { type: 'done', data: {} };
  });
  const slow = one.handle(
    '{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"status"}}',
    signal,
  );
  expect(await ask(one, 'tools/call', { name: 'queues' }, 'a')).toBe(-32_600);
  expect(await ask(one, 'tools/call', { name: 'queues' }, 'b')).toMatchObject({ isError: false });
  await one.handle('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}', signal);
  expect(await slow).toBeUndefined();
});
