/**
 * Buffers log lines and the output of hooks for the stream hub between two ticks. Both buffers are bounded and count what
 * they drop, since a hook can print faster than a browser reads. Without a follower nothing is collected.
 */

import type { LogLine, LogTail } from '@addon-operator/logging/log-tail';
import type { DaemonView } from '../../status/daemon-view.ts';

/** Lines that were logged and printed since the last look. */
export interface TakenLines {
  readonly log: { readonly lines: readonly LogLine[]; readonly dropped: number };
  readonly outputs: readonly OutputPart[];
}

/** Output of the hook of a run since the last look. */
export interface OutputPart {
  readonly runId: string;
  readonly text: string;
  /** Characters in front of `text` that are left out. */
  readonly cut: number;
}

/** Per tick of the hub. */
const MAX_LOG_LINES = 100;
const MAX_OUTPUT = 16 * 1024;
const MAX_RUNS = 50;

/** Collects log lines and output of hooks between two reads; nothing while no client follows them. */
export class LiveLines {
  readonly #journal: Pick<DaemonView['journal'], 'followOutput'>;
  readonly #tail: LogTail | undefined;
  #endLog: (() => void) | undefined;
  #endOutput: (() => void) | undefined;
  #log: LogLine[] = [];
  #dropped = 0;
  readonly #outputs = new Map<string, { text: string; cut: number }>();

  constructor(journal: Pick<DaemonView['journal'], 'followOutput'>, tail: LogTail | undefined) {
    this.#journal = journal;
    this.#tail = tail;
  }

  /** The last lines of the log. */
  get recent(): readonly LogLine[] {
    return this.#tail?.recent ?? [];
  }

  /** Says which of them a client follows. */
  follow({ log, output }: { readonly log: boolean; readonly output: boolean }): void {
    if (log) this.#endLog ??= this.#tail?.follow((line) => this.#addLog(line));
    else {
      this.#endLog?.();
      this.#endLog = undefined;
      this.#log = [];
    }
    if (output) this.#endOutput ??= this.#journal.followOutput((id, line) => this.#addOutput(id, line));
    else {
      this.#endOutput?.();
      this.#endOutput = undefined;
      this.#outputs.clear();
    }
  }

  take(): TakenLines {
    const log = { lines: this.#log, dropped: this.#dropped };
    const outputs = [...this.#outputs].map(([runId, part]) => ({ runId, ...part }));
    this.#log = [];
    this.#dropped = 0;
    this.#outputs.clear();
    return { log, outputs };
  }

  #addLog(line: LogLine): void {
    this.#log.push(line);
    if (this.#log.length <= MAX_LOG_LINES) return;
    this.#log.shift();
    this.#dropped += 1;
  }

  #addOutput(runId: string, line: string): void {
    const known = this.#outputs.get(runId);
    // The page shows the whole output from the journal when a run is opened.
    if (known === undefined && this.#outputs.size >= MAX_RUNS) return;
    const part = known ?? { text: '', cut: 0 };
    this.#outputs.set(runId, part);
    part.text += `${line}\n`;
    const excess = part.text.length - MAX_OUTPUT;
    if (excess <= 0) return;
    part.text = part.text.slice(excess);
    part.cut += excess;
  }
}
