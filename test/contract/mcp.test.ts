import { PassThrough } from 'node:stream';
import { systemClock } from '@addon-operator/base/clock';
import { Ajv } from 'ajv';
import { expect, test, vi } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { sandboxBackend } from '../support/backends.ts';
import { World } from '../support/world.ts';
import { configMapChart, shHook, under } from '../support/world-files.ts';

const SECRETS = Array.from({ length: 50 }, (_item, index) => `s3cret-value-${index}-${'x'.repeat(index)}`);
const REFERENCES = SECRETS.map(
  (_secret, index) => `k${index}: {valueFrom: {secretKeyRef: {name: web-secret, key: k${index}}}}`,
);
const ajv = new Ajv({ strict: false, formats: { 'date-time': true } });

interface Tool {
  readonly name: string;
  readonly outputSchema: object;
}
interface ToolResponse {
  readonly isError: boolean;
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly content: readonly { readonly text: string }[];
}

/** A client as those of assistants: lines of JSON-RPC to the command, and back. */
class Client implements AsyncDisposable {
  readonly #input = new PassThrough();
  readonly #waiting = new Map<number, (response: { result?: unknown; error?: { code: number } }) => void>();
  readonly #ended: Promise<number>;
  /** Everything that the command has written. */
  output = '';
  #id = 0;

  constructor(world: World, ...args: readonly string[]) {
    let rest = '';
    const stdout = {
      write: (text: string): void => {
        this.output += text;
        rest += text;
        const lines = rest.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const response = JSON.parse(line) as { id: number; result?: unknown };
          this.#waiting.get(response.id)?.(response);
        }
      },
    };
    this.#ended = runCli(['mcp', ...args], {
      env: { ...world.hostEnv, ...world.settingsEnv, DEBUG_UNIX_SOCKET: world.flags['debug-unix-socket'] },
      cwd: world.directory,
      clock: systemClock,
      stdin: this.#input,
      stdout,
      stderr: { write: (text: string) => (this.output += text) },
      stopSignal: () => new AbortController().signal,
    });
  }

  async request(method: string, params: object): Promise<{ result?: unknown; error?: { code: number } }> {
    this.#id += 1;
    const { promise, resolve } = Promise.withResolvers<{ result?: unknown }>();
    this.#waiting.set(this.#id, resolve);
    this.#input.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params })}\n`);
    return await promise;
  }

  async begin(protocolVersion: string): Promise<readonly Tool[]> {
    await this.request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'test' } });
    const { result } = await this.request('tools/list', {});
    return (result as { tools: readonly Tool[] }).tools;
  }

  async call(name: string, args: object = {}): Promise<ToolResponse> {
    const { result } = await this.request('tools/call', { name, arguments: args });
    return result as ToolResponse;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#input.end();
    if ((await this.#ended) !== 0) throw new Error(`mcp failed: ${this.output}`);
  }
}

/** A module whose hook prints all secrets and fails, beside one that is well. */
async function failingWorld(): Promise<World> {
  const world = await World.create(await sandboxBackend(), {
    flags: { 'secret-references': '*' },
    modules: {
      'values.yaml': 'webEnabled: true\ndbEnabled: true\n',
      ...under('001-db', configMapChart('db', 'db')),
      ...under('002-web', configMapChart('web', 'web')),
      '002-web/values.yaml': `web:\n${REFERENCES.map((line) => `  ${line}\n`).join('')}`,
      '002-web/hooks/certificate.sh': shHook(
        'beforeHelm: 1',
        'cat "$VALUES_PATH" >&2; cat "$VALUES_PATH"; echo "cannot find the certificate" >&2; exit 3',
      ),
    },
  });
  const stringData = Object.fromEntries(SECRETS.map((secret, index) => [`k${index}`, secret]));
  const body = { kind: 'Secret', metadata: { name: 'web-secret' }, stringData };
  await world.create('secrets', body);
  await world.start();
  await world.untilDelayed();
  return world;
}

/** Calls every tool that needs no id, and those that need one with ids from the others. */
async function callAll(client: Client): Promise<ReadonlyMap<string, ToolResponse>> {
  const web = { module: 'web' };
  const runs = await client.call('runs', { result: 'failed' });
  const { runs: failed } = runs.structuredContent as { runs: readonly { id: number; eventId: string }[] };
  const [run] = failed;
  return new Map([
    ['runs', runs],
    ['status', await client.call('status')],
    ['list_modules', await client.call('list_modules')],
    ['explain_module', await client.call('explain_module', web)],
    ['module_values', await client.call('module_values', web)],
    ['module_diff', await client.call('module_diff', { module: 'db' })],
    ['module_history', await client.call('module_history', { module: 'db' })],
    ['queues', await client.call('queues')],
    ['run_output', await client.call('run_output', { id: Number(run?.id) })],
    ['trace_event', await client.call('trace_event', { id: run?.eventId ?? '' })],
    ['next', await client.call('next')],
    ['lint', await client.call('lint')],
    ['search_docs', await client.call('search_docs', { query: 'HOOK_FAILED' })],
  ]);
}

test.each(['2025-06-18', '2025-11-25'])(
  'with protocol %s every tool returns what its schema says, and two of them lead to the error',
  async (version) => {
    await using world = await failingWorld();
    await using client = new Client(world);
    const tools = await client.begin(version);
    const responses = await callAll(client);
    expect([...responses.keys()].toSorted()).toEqual(tools.map(({ name }) => name).toSorted());
    for (const { name, outputSchema } of tools) {
      const response = responses.get(name);
      expect([name, response?.isError, response?.content.at(-1)?.text.slice(0, 1)]).toEqual([
        name,
        false,
        '{',
      ]);
      const isValid = ajv.compile(outputSchema);
      expect([name, isValid(response?.structuredContent), isValid.errors]).toEqual([name, true, null]);
    }
    const told = ['status', 'explain_module']
      .map((name) => responses.get(name)?.content.at(-1)?.text)
      .join('\n');
    for (const fact of ['web', 'certificate.sh', 'cannot find the certificate']) expect(told).toContain(fact);
    expect(responses.get('search_docs')?.structuredContent?.['sections']).not.toEqual([]);
  },
);

test('no secret is in the output of any tool, and nothing changes without actions', async () => {
  await using world = await failingWorld();
  const before = JSON.stringify(await world.get('configmaps', 'addon-operator-pauses'));
  await using client = new Client(world);
  await client.begin('2025-11-25');
  await callAll(client);
  expect(client.output).toContain('***');
  for (const secret of SECRETS) expect(client.output).not.toContain(secret);
  const refused = await client.request('tools/call', {
    name: 'pause_module',
    arguments: { module: 'web', reason: 'x' },
  });
  expect(refused.error?.code).toBe(-32_602);
  expect(JSON.stringify(await world.get('configmaps', 'addon-operator-pauses'))).toBe(before);
  expect(world.log.records.filter(({ msg }) => msg === 'an action is requested')).toEqual([]);
});

test('with actions a module is paused and resumed, under the name of the client', async () => {
  await using world = await failingWorld();
  await using client = new Client(world, '--allow-actions');
  await client.begin('2025-11-25');
  expect(await client.call('pause_module', { module: 'web', reason: 'INC-7' })).toMatchObject({
    isError: false,
  });
  await vi.waitFor(
    async () => {
      const { content } = await client.call('explain_module', { module: 'web' });
      expect(content.at(-1)?.text).toContain('INC-7');
    },
    { timeout: 60_000 },
  );
  expect(await client.call('resume_module', { module: 'web' })).toMatchObject({ isError: false });
  const actions = world.log.records.filter(({ msg }) => msg === 'an action is requested');
  expect(actions.map(({ action, by, reason }) => [action, by, reason])).toEqual([
    ['pause', 'mcp', 'INC-7'],
    ['resume', 'mcp', ''],
  ]);
});

test('without an operator each tool says so, and the session goes on', async () => {
  await using world = await World.create(await sandboxBackend(), {});
  await using client = new Client(world);
  await client.begin('2025-11-25');
  expect(await client.call('status')).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('no operator runs here') }],
  });
  expect(await client.call('search_docs', { query: 'queue' })).toMatchObject({ isError: false });
});
