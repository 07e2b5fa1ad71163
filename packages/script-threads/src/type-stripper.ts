import { readFileSync } from 'node:fs';
import { type LoadHookSync, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

const TYPESCRIPT = /^file:.*\.m?ts$/;
const ES_MODULE = /^\s*(?:import|export)\b/m;

/** One end of the line on which a worker requests the text of a TypeScript file without its types from the main thread. */
export interface StripperClient {
  readonly port: MessagePort;
  /** Becomes 1 when the response is there. */
  readonly signal: SharedArrayBuffer;
}

type Result = { readonly source: string | undefined };

/**
 * Answers a worker, in the main thread: the compiler that removes types takes 12 MB in every thread that uses it.
 * Gives no source for what is not plainly an ES module: Node itself then decides what it is, or says what is wrong.
 */
export function serveStripper(): StripperClient {
  const { port1, port2 } = new MessageChannel();
  const signal = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const view = new Int32Array(signal);
  port1.on('message', (url: string) => {
    const reply: Result = { source: strippedModule(url) };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    port1.postMessage(reply);
    Atomics.store(view, 0, 1);
    Atomics.notify(view, 0);
  });
  port1.unref();
  return { port: port2, signal };
}

/** The source without types; undefined if it cannot be read or is no ES module. */
function strippedModule(url: string): string | undefined {
  try {
    const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8'));
    return ES_MODULE.test(source) ? source : undefined;
  } catch {
    return undefined;
  }
}

/** The hook for loading modules that a worker registers: it sends a request to the main thread and waits for the response. */
export function strippingLoad({ port, signal }: StripperClient): LoadHookSync {
  const view = new Int32Array(signal);
  return (url, context, next) => {
    if (!TYPESCRIPT.test(url) || context.format?.startsWith('commonjs') === true) return next(url, context);
    Atomics.store(view, 0, 0);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    port.postMessage(url);
    // The main thread may still be waking us for the previous response: only the value shows that this one is there.
    while (Atomics.load(view, 0) === 0) Atomics.wait(view, 0, 0);
    const received = receiveMessageOnPort(port);
    const { source }: Result = received?.message ?? { source: undefined };
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true };
  };
}
