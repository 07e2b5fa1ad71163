import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ClientRequest } from 'node:http';

/** One HTTP request that something in this process sent through `node:http`. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
}

const CHANNEL = 'http.client.request.start';

/** Notes every request of a daemon in this process, which sends its own through `node:http`; `fetch` does not count. */
export class SentRequests {
  readonly all: SentRequest[] = [];
  readonly #note = (message: unknown): void => {
    const { request } = message as { readonly request: ClientRequest };
    this.all.push({ method: request.method, path: request.path });
  };

  constructor() {
    subscribe(CHANNEL, this.#note);
  }

  [Symbol.dispose](): void {
    unsubscribe(CHANNEL, this.#note);
  }
}
