import type { ServerResponse } from 'node:http';
import { OperatorError } from '@addon-operator/base/errors';
import { type LogFields, type Logger, silentLogger } from '@addon-operator/base/log';
import { isObject } from '@addon-operator/json';
import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import { ObjectPatcher } from '@addon-operator/kube-client/object-patch/object-patcher';
import { parsePatchOperations } from '@addon-operator/kube-client/object-patch/parse-operations';
import type { ResourceAccess } from '@addon-operator/kube-client/policy-rules';
import { onTestFinished } from 'vitest';
import { FakeClock, settle } from './fake-clock.ts';
import {
  type ReceivedRequest,
  responseJson,
  responseStatus,
  startLoopbackServer,
} from './loopback-server.ts';
import { plainClient } from './plain-client.ts';

const never = new AbortController().signal;

export type Stored = Record<string, unknown> & { metadata: Record<string, unknown> };
/** Answers a request in place of the server; false lets the server answer. */
export type Intercept = (request: ReceivedRequest, response: ServerResponse) => boolean;

const configMaps: ApiResource = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  singular: 'configmap',
  shortNames: ['cm'],
  isNamespaced: true,
  verbs: ['get'],
};

/** An API server that knows ConfigMaps, a patcher on it, and what both saw; all ends with the test. */
export async function patchLab(intercept: Intercept = () => false) {
  const objects = new Map<string, Stored>();
  let version = 0;
  const store = (path: string, object: Stored): Stored => {
    version += 1;
    const uid = objects.get(path)?.metadata['uid'] ?? `uid-${version}`;
    const stored = { ...object, metadata: { ...object.metadata, uid, resourceVersion: String(version) } };
    objects.set(path, stored);
    return stored;
  };
  const serve = (request: ReceivedRequest, response: ServerResponse): void => {
    const { method, path } = request;
    const body: Stored = request.body === '' ? { metadata: {} } : JSON.parse(request.body);
    const existing = objects.get(path.replace(/\/status$/, ''));
    if (method === 'POST') {
      const own = `${path}/${String(body.metadata['name'])}`;
      if (!path.startsWith('/api/v1/namespaces/')) response.writeHead(405).end('method not allowed');
      else if (objects.has(own)) responseStatus(response, 409, 'AlreadyExists');
      else responseJson(response, 201, store(own, body));
    } else if (existing === undefined) responseStatus(response, 404, 'NotFound', 'configmaps "x" not found');
    else if (method === 'GET') responseJson(response, 200, existing);
    else if (method === 'DELETE') {
      objects.delete(path);
      responseJson(response, 200, { kind: 'Status', details: { uid: existing.metadata['uid'] } });
    } else if (
      method === 'PUT' &&
      body.metadata['resourceVersion'] !== existing.metadata['resourceVersion']
    ) {
      responseStatus(response, 409, 'Conflict', 'the object has been modified');
    } else responseJson(response, 200, store(path, method === 'PUT' ? body : { ...existing, ...body }));
  };
  const server = await startLoopbackServer((request, response) => {
    if (!intercept(request, response)) serve(request, response);
  });

  const clock = new FakeClock();
  const client = plainClient(server.url, clock);
  const warnings: LogFields[] = [];
  const log: Logger = { ...silentLogger, warn: (fields, message) => warnings.push({ ...fields, message }) };
  const access: ResourceAccess[] = [];
  const patcher = new ObjectPatcher({
    kube: client,
    clock,
    random: () => 0,
    log,
    async find(_apiVersion, kind) {
      if (['configmap', 'cm'].includes(kind.toLowerCase())) return configMaps;
      throw new OperatorError('KUBE_KIND_UNKNOWN', `kind '${kind}' is not supported by cluster`);
    },
    jq: { compile: async (program) => ({ apply: async (input) => applyProgram(program, input) }) },
    onAccess: (needed) => access.push(needed),
  });
  /** Applies a patch file while time passes whenever something waits for it. */
  async function apply(text: string, signal = never): Promise<string> {
    const outcome = patcher.apply(parsePatchOperations(text), signal).then(
      () => 'applied',
      (error: unknown) => String(error),
    );
    const state = { isSettled: false };
    void outcome.finally(() => {
      state.isSettled = true;
    });
    while (!state.isSettled) {
      const [delayMs] = clock.pendingDelaysMs;
      // Deadlines of requests are longer than every pause of the patcher.
      if (delayMs !== undefined && delayMs <= 1_000) await clock.advance(delayMs);
      else await settle();
    }
    return outcome;
  }
  const calls = (): string[] => server.requests.map(({ method, path }) => `${method} ${path}`);
  const seed = (name: string, more: object = {}): Stored =>
    store(`${collection}/${name}`, configMap(name, more) as Stored);
  onTestFinished(async () => {
    client.close();
    await server.stop();
  });
  return { access, apply, calls, clock, objects, seed, server, warnings };
}

/** Replaces jq: each word is a result with that text as data. */
function applyProgram(program: string, input: unknown): readonly unknown[] {
  if (program === '.') return [input];
  return program
    .split(' ')
    .map((word) => (word === 'null' ? null : { ...(isObject(input) ? input : {}), data: { word } }));
}

export const collection = '/api/v1/namespaces/web/configmaps';

export function configMap(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'web' }, ...more };
}

export function file(...operations: object[]): string {
  return operations.map((operation) => JSON.stringify(operation)).join('\n');
}

export const target = { kind: 'cm', namespace: 'web', name: 'a' };

/** The server does what the first request of this method asks for, and its response is lost. */
export function loseFirstResponse(method: string): Intercept {
  let isLost = false;
  return (request, response) => {
    if (request.method !== method || isLost) return false;
    isLost = true;
    response.writeHead = () => response;
    response.end = (() => {
      response.socket?.destroy();
      return response;
    }) as typeof response.end;
    return false;
  };
}

/** The server refuses the first request of this method as timed out, without doing anything. */
export function timeOutFirst(method: string): Intercept {
  let isDone = false;
  return (request, response) => {
    if (request.method !== method || isDone) return false;
    isDone = true;
    responseStatus(response, 504, 'Timeout');
    return true;
  };
}
