import type { ServerResponse } from 'node:http';
import { responseJson, startLoopbackServer } from './loopback-server.ts';

interface SentObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

/** What the server of a module is sent. */
export interface ModuleHookBody {
  readonly formFactor: string;
  readonly phase: string;
  readonly object: SentObject;
  readonly children: Readonly<Record<string, SentObject>>;
}

/** Gives the response, or answers itself and returns nothing. */
export type ModuleHookBehaviour = (
  body: ModuleHookBody,
  response: ServerResponse,
) => object | undefined | Promise<object | undefined>;

/** A server of a module on a loopback port; its user may change how it answers. @param port default: any free one */
export async function startModuleHookServer(behaviour: ModuleHookBehaviour, port = 0) {
  const bodies: ModuleHookBody[] = [];
  const state = { behaviour };
  const server = await startLoopbackServer(
    (request, response) => {
      const body = JSON.parse(request.body) as ModuleHookBody;
      bodies.push(body);
      Promise.resolve(state.behaviour(body, response)).then(
        (reply) => {
          if (reply !== undefined) responseJson(response, 200, reply);
        },
        () => response.destroy(),
      );
    },
    undefined,
    port,
  );
  return {
    url: server.url,
    bodies,
    requests: server.requests,
    /** The phases it was asked in, in order. */
    phases: () => bodies.map(({ phase }) => phase),
    responseWith: (next: ModuleHookBehaviour) => {
      state.behaviour = next;
    },
    stop: () => server.stop(),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** Answers with an error of the hooks API. */
export function refuse(
  error: { readonly message?: string; readonly permanent?: boolean; readonly continue?: boolean },
  status = 500,
): ModuleHookBehaviour {
  return (_body, response) => {
    responseJson(response, status, error);
    return undefined;
  };
}

/** Answers with a text. */
export function responseText(status: number, type: string, text: string, headers = {}): ModuleHookBehaviour {
  return (_body, response) => {
    response.writeHead(status, { 'content-type': type, ...headers }).end(text);
    return undefined;
  };
}

/** The section of a `module.yaml` that names a server. */
export function hookSection(uri: string, capabilities: readonly string[], more = ''): string {
  return `hook:\n  version: v1\n  address: {uri: "${uri}"}\n  capabilities: [${capabilities.join(', ')}]\n${more}`;
}
