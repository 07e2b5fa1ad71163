import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { callHandler } from '../../sdk/call-handler.ts';
import { isHookDefinition } from '../../sdk/define-hook.ts';
import { recordHookRun } from '../../sdk/record-hook-run.ts';
import { failureText } from './failure-text.ts';
import type { RunFacts, RunRequest, WorkerReply } from './host-protocol.ts';
import { type StripperClient, strippingLoad } from './type-stripper.ts';
import { WorkerOutput } from './worker-output.ts';

/** One output of a hook may be as large as that of an executable. */
const MAX_OUTPUT_CHARACTERS = 10 * 1024 * 1024;
const EXTENSION = path.extname(import.meta.url);
const SDK: Readonly<Record<string, string>> = {
  'addon-operator/sdk': new URL(`../../sdk/sdk${EXTENSION}`, import.meta.url).href,
  'addon-operator/sdk/testing': new URL(`../../sdk/test-hook${EXTENSION}`, import.meta.url).href,
};

/** What the thread that starts a worker gives it. */
export interface WorkerData {
  readonly path: string;
  readonly inFlight: SharedArrayBuffer;
  readonly stripper: StripperClient;
}

interface Definition {
  readonly config: unknown;
  readonly handler: (input: unknown) => unknown;
}

main(workerData as WorkerData);

/** The thread of one hook: loads its file, then handles one run after the other. */
function main({ path: file, inFlight, stripper }: WorkerData): void {
  const output = new WorkerOutput(inFlight, (stream, text) => reply({ type: 'output', stream, text }));
  catchOutput(process.stdout, (bytes) => output.write('stdout', bytes));
  catchOutput(process.stderr, (bytes) => output.write('stderr', bytes));
  // Hooks lie anywhere, and none of their directories has our package.
  registerHooks({
    resolve: (specifier, context, next) => {
      const url = SDK[specifier];
      return url === undefined ? next(specifier, context) : { url, shortCircuit: true };
    },
    load: strippingLoad(stripper),
  });
  load(file).then(
    (hook) => {
      reply({ type: 'ready', config: JSON.stringify(configOf(hook)) });
      serve(hook, output);
    },
    (error: unknown) => reply({ type: 'load-failed', reason: failureText(error) }),
  );
}

async function load(file: string): Promise<Definition> {
  const module: unknown = await import(pathToFileURL(file).href);
  const exported =
    typeof module === 'object' && module !== null && 'default' in module ? module.default : undefined;
  if (isHookDefinition(exported)) return exported as unknown as Definition;
  const found = exported === undefined ? 'it has none' : `this one is a ${typeof exported}`;
  throw new Error(`the default export must be what defineHook(...) returns, ${found}`);
}

function configOf({ config }: Definition): unknown {
  return typeof config === 'object' && !Array.isArray(config) ? { configVersion: 'v1', ...config } : config;
}

function serve(hook: Definition, output: WorkerOutput): void {
  const timersAtStart = setTimers();
  let abort = new AbortController();
  parentPort?.on('message', (request: RunRequest | { readonly type: 'abort' }) => {
    if (request.type === 'abort') return abort.abort(new Error('the run is to end'));
    abort = new AbortController();
    output.begin(request.maxOutputBytes);
    const cpu = process.threadCpuUsage();
    const facts = (): RunFacts => {
      const used = process.threadCpuUsage(cpu);
      const { total_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics();
      return {
        droppedBytes: output.droppedBytes,
        leakedTimers: Math.max(0, setTimers() - timersAtStart),
        userCpuMs: used.user / 1_000,
        systemCpuMs: used.system / 1_000,
        memoryBytes: heapBytes + externalBytes,
      };
    };
    run(hook, request, abort.signal, output).then(
      (outputs) => reply({ type: 'done', outputs, ...facts() }),
      (error: unknown) => reply({ type: 'failed', reason: failureText(error), ...facts() }),
    );
  });
}

async function run(hook: Definition, { texts }: RunRequest, signal: AbortSignal, output: WorkerOutput) {
  const recorded = recordHookRun(texts, (line) => output.write('stdout', Buffer.from(`${line}\n`)), signal);
  await callHandler(hook.handler, recorded.input);
  const outputs = recorded.outputs();
  for (const [name, text] of Object.entries(outputs)) {
    if (text.length > MAX_OUTPUT_CHARACTERS)
      throw new RangeError(
        `its ${name} has ${text.length} characters, more than the limit of ${MAX_OUTPUT_CHARACTERS}`,
      );
  }
  return outputs;
}

function setTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

function reply(message: WorkerReply): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message);
}

/** Output goes the same way as the replies, so that none of it comes after the end of its run. */
function catchOutput(stream: NodeJS.WriteStream, write: (bytes: Buffer) => void): void {
  stream.write = (
    chunk: string | Uint8Array,
    encoding?: BufferEncoding | ((error?: Error | null) => void),
    callback?: (error?: Error | null) => void,
  ): boolean => {
    write(
      typeof chunk === 'string'
        ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8')
        : Buffer.from(chunk),
    );
    const done = typeof encoding === 'function' ? encoding : callback;
    if (done !== undefined) queueMicrotask(done);
    return true;
  };
}
