import type { SteadyClock } from '@addon-operator/base/clock';
import { hasCode, OperatorError } from '@addon-operator/base/errors';
import { ContentCheck } from './digest.ts';
import type { RegistryResponse } from './registry-connections.ts';
import type { RegistryEndpoint } from './registry-endpoint.ts';
import type { Descriptor } from './repository.ts';
import { isCut } from './response-status.ts';

export interface BlobSources {
  readonly clock: SteadyClock;
  readonly registry: RegistryEndpoint;
  readonly mirrors: readonly RegistryEndpoint[];
  readonly onMirrorFailure: (mirror: string, error: unknown) => void;
}

/** Per source, beyond the first. */
const MAX_RESUMES = 4;
const FIRST_PAUSE_MS = 500;

/** One download of a blob: resumed after a cut, at the same source first, then at the next one. */
export class BlobDownload {
  readonly #descriptor: Descriptor;
  readonly #sources: BlobSources;
  readonly #check: ContentCheck;

  constructor(descriptor: Descriptor, sources: BlobSources) {
    this.#descriptor = descriptor;
    this.#sources = sources;
    this.#check = new ContentCheck(descriptor);
  }

  /** @throws OperatorError ARTIFACT_INVALID at the end, where the content is not that of the digest */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { mirrors, registry, onMirrorFailure } = this.#sources;
    for (const mirror of mirrors) {
      try {
        yield* this.#from(mirror, signal);
        return;
      } catch (error) {
        signal.throwIfAborted();
        onMirrorFailure(mirror.url, error);
        // What was handed out already cannot be taken back.
        if (hasCode(error, 'ARTIFACT_INVALID')) throw error;
      }
    }
    yield* this.#from(registry, signal);
  }

  async *#from(source: RegistryEndpoint, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    for (let resumes = 0; ; resumes += 1) {
      try {
        yield* this.#rest(source, signal);
        this.#check.finish(source.url);
        return;
      } catch (error) {
        if (signal.aborted || !isCut(error) || resumes === MAX_RESUMES) throw error;
        await this.#sources.clock.sleep(FIRST_PAUSE_MS * 2 ** resumes, signal);
      }
    }
  }

  async *#rest(source: RegistryEndpoint, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const { digest, size } = this.#descriptor;
    const start = this.#check.received;
    if (start === size && start > 0) return;
    // Both ends: not every registry takes a range without its end.
    const headers: Record<string, string> = start === 0 ? {} : { Range: `bytes=${start}-${size - 1}` };
    const path = `blobs/${digest}`;
    const response = await source.send({ method: 'GET', path, headers, expect: [200, 206] }, signal);
    // A registry without ranges begins at the start.
    let skip = start > 0 && response.status === 200 ? start : 0;
    requireRange(response, start, source.url);
    for await (const chunk of response.chunks()) {
      const fresh = chunk.subarray(Math.min(skip, chunk.length));
      skip -= chunk.length - fresh.length;
      if (fresh.length === 0) continue;
      this.#check.add(fresh, source.url);
      yield fresh;
    }
  }
}

function requireRange(response: RegistryResponse, start: number, from: string): void {
  if (response.status !== 206) return;
  const range = response.header('content-range') ?? '';
  if (range.startsWith(`bytes ${start}-`)) return;
  throw new OperatorError(
    'ARTIFACT_INVALID',
    `${from}: bytes from ${start} on were requested, and ${range} returned`,
  );
}
