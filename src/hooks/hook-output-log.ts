/**
 * Logs the output of hooks. Lines that form a JSON object become structured records, all others are logged as text. Objects
 * may span lines, so lines are held back while they can still be part of one.
 */

import type { Logger } from '@addon-operator/base/log';
import { isObject } from '@addon-operator/json';
import type { OutputStream } from '@addon-operator/process/process-runner';

/** Longer lines are cut, so that one line cannot fill the log. */
const MAX_LINE_CHARACTERS = 10_000;
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type OutputLevel = (typeof LEVELS)[number];

export interface HookOutputLog {
  line(stream: OutputStream, line: string): void;
  /** To be called when the hook has ended: logs what was still awaiting its end. */
  end(): void;
}

/** Gets each record that a hook logs on stdout. */
export type OnRecord = (record: Readonly<Record<string, unknown>>) => void;

/**
 * Logs what a hook prints, line by line: text at level info, with its indentation; a JSON object, which may span lines, keeps its own `level`
 * and `msg`, and its other keys become fields named `hook_<key>`, so that a hook cannot forge fields of the daemon.
 */
export function createHookOutputLog(log: Logger, onRecord: OnRecord = () => undefined): HookOutputLog {
  const joiners = {
    stdout: joinerFor(log, 'stdout', onRecord),
    stderr: joinerFor(log, 'stderr', () => undefined),
  };
  return {
    line: (stream, line) => {
      const text = line.trimEnd();
      if (text !== '') joiners[stream].push(text);
    },
    end: () => {
      joiners.stdout.end();
      joiners.stderr.end();
    },
  };
}

/** Each stream has its own joiner, since their lines interleave. */
function joinerFor(log: Logger, output: OutputStream, onRecord: OnRecord): JsonLineJoiner {
  const streamLog = log.child({ output });
  return new JsonLineJoiner({
    onObject: (record) => {
      logRecord(streamLog, record);
      onRecord(record);
    },
    onText: (line) => streamLog.info({}, truncate(line)),
  });
}

/** Logs a JSON object of a hook; large ones as one cut field. */
function logRecord(log: Logger, record: Record<string, unknown>): void {
  const { level, msg, time: _time, ...rest } = record;
  const fields: Record<string, unknown> = { proxyJsonLog: true };
  const text = JSON.stringify(rest);
  if (text.length > MAX_LINE_CHARACTERS) fields['hook.truncated'] = truncate(text);
  else for (const [key, value] of Object.entries(rest)) fields[`hook_${key}`] = value;
  log[isLevel(level) ? level : 'info'](fields, typeof msg === 'string' ? truncate(msg) : 'hook result');
}

function isLevel(value: unknown): value is OutputLevel {
  return LEVELS.some((level) => level === value);
}

function truncate(text: string): string {
  return text.length > MAX_LINE_CHARACTERS ? `${text.slice(0, MAX_LINE_CHARACTERS)}:truncated` : text;
}

/** An object that is not whole after this many characters is taken for text. */
const MAX_HELD_CHARACTERS = 64 * 1024;
const MAX_DEPTH = 64;
const TOKEN =
  /\s*(?:("(?:[^"\\\p{Cc}]|\\.)*")|([{}[\],:])|(true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))\s*/uy;

interface JsonLineListener {
  readonly onObject: (object: Record<string, unknown>) => void;
  readonly onText: (line: string) => void;
}

/**
 * Separates JSON objects from text in a stream of lines; an object may span lines. Lines are held back only while they are
 * the beginning of an object, so text that starts with a brace is passed on with the first line that cannot belong to one.
 */
export class JsonLineJoiner {
  readonly #listener: JsonLineListener;
  #held: string[] = [];
  #heldCharacters = 0;
  #prefix = new ObjectPrefix();

  constructor(listener: JsonLineListener) {
    this.#listener = listener;
  }

  push(line: string): void {
    if (this.#held.length === 0) {
      if (!line.trimStart().startsWith('{')) return this.#listener.onText(line);
      const object = parseObject(line);
      if (object !== undefined) return this.#listener.onObject(object);
    }
    const state = this.#prefix.push(line);
    if (state === 'broken' || this.#heldCharacters + line.length > MAX_HELD_CHARACTERS) {
      const isAlone = this.#held.length === 0;
      this.end();
      return isAlone ? this.#listener.onText(line) : this.push(line);
    }
    this.#held.push(line);
    this.#heldCharacters += line.length;
    if (state === 'open') return;
    const object = parseObject(this.#held.join('\n'));
    if (object === undefined) return this.end();
    this.#reset();
    this.#listener.onObject(object);
  }

  /** Nothing follows: what was held back is text. */
  end(): void {
    const lines = this.#held;
    this.#reset();
    for (const line of lines) this.#listener.onText(line);
  }

  #reset(): void {
    this.#held = [];
    this.#heldCharacters = 0;
    this.#prefix = new ObjectPrefix();
  }
}

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing';

/** Follows the grammar of JSON line by line, to know early that an object cannot become one. */
class ObjectPrefix {
  readonly #open: string[] = [];
  #expected: Expected = 'value';

  push(line: string): 'open' | 'complete' | 'broken' {
    TOKEN.lastIndex = 0;
    while (TOKEN.lastIndex < line.length) {
      const match = TOKEN.exec(line);
      if (match === null || !this.#take(match[1] === undefined ? (match[2] ?? '1') : '"')) return 'broken';
    }
    return this.#expected === 'nothing' ? 'complete' : 'open';
  }

  /** @param token a punctuation mark, `"` for a string, `1` for another scalar */
  #take(token: string): boolean {
    const expected = this.#expected;
    if (token === '}' || token === ']') return this.#close(token, expected);
    if (token === ':') return expected === 'colon' && this.#expect('value');
    if (token === ',')
      return expected === 'comma or end' && this.#expect(this.#open.at(-1) === '{' ? 'key' : 'value');
    if (expected === 'key' || expected === 'key or end') return token === '"' && this.#expect('colon');
    if (expected !== 'value' && expected !== 'value or end') return false;
    if (token !== '{' && token !== '[') return this.#expect('comma or end');
    this.#open.push(token);
    return this.#open.length <= MAX_DEPTH && this.#expect(token === '{' ? 'key or end' : 'value or end');
  }

  #close(token: '}' | ']', expected: Expected): boolean {
    const isFitting = this.#open.pop() === (token === '}' ? '{' : '[');
    const isAllowed =
      expected === 'comma or end' || expected === (token === '}' ? 'key or end' : 'value or end');
    return isFitting && isAllowed && this.#expect(this.#open.length === 0 ? 'nothing' : 'comma or end');
  }

  #expect(expected: Expected): true {
    this.#expected = expected;
    return true;
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
