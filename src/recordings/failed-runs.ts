/* A bounded ring of recordings of failed runs, for `hook record --failed`. */

/** The last recordings of runs that failed, as JSON: no more than a number of them, and of bytes in all. */
export class FailedRuns {
  readonly #maxRuns: number;
  readonly #maxBytes: number;
  readonly #runs: KeptRun[] = [];
  #bytes = 0;

  /** @param maxRuns 0 for none */
  constructor(maxRuns: number, maxBytes: number) {
    this.#maxRuns = maxRuns;
    this.#maxBytes = maxBytes;
  }

  /** Whether any runs are kept. */
  get isOn(): boolean {
    return this.#maxRuns > 0;
  }

  get maxRuns(): number {
    return this.#maxRuns;
  }

  /** The oldest first. */
  get all(): readonly KeptRun[] {
    return this.#runs;
  }

  /** Keeps a run in place of the oldest ones. One that is larger than the limit of all is not kept. */
  add(run: KeptRun): void {
    this.#runs.push(run);
    this.#bytes += bytesOf(run);
    while (this.#runs.length > this.#maxRuns || this.#bytes > this.#maxBytes) {
      const oldest = this.#runs.shift();
      if (oldest === undefined) return;
      this.#bytes -= bytesOf(oldest);
    }
  }
}

interface KeptRun {
  /** Name of the hook, with `<module>/` in front of that of a module. */
  readonly hook: string;
  /** JSON. */
  readonly recording: string;
}

/** As strings take it in memory: one that has characters beyond Latin 1 takes two bytes for each. */
function bytesOf({ recording }: KeptRun): number {
  return recording.length * 2;
}
