import { constants } from 'node:os';
import { withLinesBelow } from '@addon-operator/strings/headline';
import type { ProcessOutcome, ProcessResult } from './process-runner.ts';

/** A shell that ends because a program was killed exits with 128 and the number of the signal. */
const EXIT_OF_SIGNAL = 128;
/** Signals that end programs. Exit codes above 128 for other signals are taken as ordinary codes. */
const FATAL = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGPIPE',
  'SIGALRM',
  'SIGTERM',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
] as const;

/**
 * The reason why a process failed: first that it was killed or took too long, then the most telling line of stderr, and
 * all its lines below that.
 */
export function failureReason({ outcome, stderr }: Pick<ProcessResult, 'outcome' | 'stderr'>): string {
  const reason = reasonWithOutput(killedReason(outcome) ?? '', stderr);
  return reason === '' && outcome.type === 'exited' ? `cmd run: exit status ${outcome.exitCode}` : reason;
}

/** A sentence about a failed process, then the line of stderr that says most, and all its lines below that. */
export function reasonWithOutput(sentence: string, stderr: string): string {
  const printed = stderr.trimEnd().replace(/^\s*\n/u, '');
  const parts = [sentence, tellingLine(printed)].filter((part) => part !== '');
  return withLinesBelow(parts.join(': '), printed);
}

/** How a signal ended a program, such as `killed by SIGKILL, perhaps out of memory`. */
export function killedBy(signal: string): string {
  // The kernel sends it when memory is short, and says so nowhere that the program or its parent can see.
  return `killed by ${signal}${signal === 'SIGKILL' ? ', perhaps out of memory' : ''}`;
}

/** The signal or limit that ended a process, or a program that it ran; undefined if it ended by itself. */
export function killedReason(outcome: ProcessOutcome): string | undefined {
  switch (outcome.type) {
    case 'signalled':
      return killedBy(outcome.signal);
    case 'timed-out':
      return `it ran longer than its limit of ${outcome.timeoutMs / 1_000} s`;
    case 'exited': {
      const { exitCode } = outcome;
      const signal = FATAL.find((name) => constants.signals[name] === exitCode - EXIT_OF_SIGNAL);
      return signal && `a program that it ran was ${killedBy(signal)} (exit status ${exitCode})`;
    }
  }
}

/** A Python traceback begins with this line, and ends with the first line that is not indented. */
const TRACEBACK = /^Traceback \(most recent call last\):/u;
/** Back traces, excerpts of source, and what `set -x` prints. */
const FRAME =
  /^Traceback |^\s+at |^\s+File "|^\s*from \S+:\d+|^\s+\S+:\d+ \+0x|^goroutine \d+ |^\+{1,9} |^\s*[\^~]+\s*$|^Node\.js v/u;
const ERROR = /error|exception|panic|fatal:/iu;

/** The line of an output that says most about a failure: the last of a traceback, else the first about an error, else the last. */
export function tellingLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '');
  const traceback = lines.findLastIndex((line) => TRACEBACK.test(line));
  const raised = traceback === -1 ? undefined : lines.slice(traceback + 1).find(isAtMargin);
  const others = lines.filter((line) => !FRAME.test(line));
  const errors = others.filter((line) => ERROR.test(line));
  const line = raised ?? errors.find(isAtMargin) ?? errors[0] ?? others.at(-1) ?? lines.at(-1) ?? '';
  return line.trim();
}

function isAtMargin(line: string): boolean {
  return /^\S/u.test(line);
}
