import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '@addon-operator/base/errors';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { daemonHost } from '../../test/support/daemon-host.ts';
import { FileWaits, READ_AGAIN_MS } from './file-waits.ts';
import { QUIET_MS } from './watch-files.ts';

const WAITING = 'files cannot be loaded, the start waits until they are corrected';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'file-waits-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** In one step: half of a file would be another problem. */
function write(text: string): void {
  writeFileSync(join(directory, '.draft'), text);
  renameSync(join(directory, '.draft'), join(directory, 'file'));
}

/** Loads a file that is broken unless it contains `good`. */
async function load(): Promise<string> {
  const text = readFileSync(join(directory, 'file'), 'utf8');
  if (text !== 'good') throw new OperatorError('CONFIG_INVALID', text);
  return text;
}

function waiting() {
  const host = daemonHost();
  const stop = new AbortController();
  const waits = new FileWaits({ directories: [directory], host, stop: stop.signal });
  const problems = (): readonly unknown[] =>
    host.captured.records.filter(({ level }) => level === 'error').map(({ error }) => String(error));
  return { host, stop, waits, problems };
}

test('a file that cannot be loaded is waited for, and each of its problems is reported once', async () => {
  const { host, waits, problems } = waiting();
  const over = new AbortController();
  const ended = once(over.signal, 'abort');
  const passTime = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await Promise.race([host.clock.untilAsleep(), ended]);
      if (!over.signal.aborted) await host.clock.advance(QUIET_MS);
    }
  };
  write('bad');
  const loaded = waits.untilLoaded(load);
  const passing = passTime();
  await host.captured.untilMessage(WAITING);
  write('worse');
  await host.captured.untilMessage(WAITING, 2);
  write('good');
  expect(await loaded).toBe('good');
  over.abort();
  await passing;
  expect(problems()).toEqual([expect.stringContaining('bad'), expect.stringContaining('worse')]);
  expect(waits.hasWaited).toBe(true);
});

test('a wait ends with the stop', async () => {
  const { host, stop, waits } = waiting();
  write('bad');
  const loaded = waits.untilLoaded(load);
  await host.captured.untilMessage(WAITING);
  stop.abort(new Error('stopped'));
  await expect(loaded).rejects.toThrow('stopped');
});

test('nothing is waited for without an author, and for errors that are no problem of files', async () => {
  write('bad');
  const impatient = new FileWaits(undefined);
  await expect(impatient.untilLoaded(load)).rejects.toThrow('bad');
  const { waits } = waiting();
  await expect(waits.untilLoaded(() => Promise.reject(new TypeError('a defect')))).rejects.toThrow(
    'a defect',
  );
  expect([impatient.hasWaited, waits.hasWaited]).toEqual([false, false]);
});

test('without an author values are read again from time to time, and what is wrong can be seen until then', async () => {
  const host = daemonHost();
  const events: string[] = [];
  const onWait = async (error: OperatorError) => {
    events.push(`shown ${error.message}`);
    return async () => void events.push('ended');
  };
  const waits = new FileWaits({ directories: undefined, host, onWait, stop: new AbortController().signal });
  const results = [new OperatorError('VALUES_INVALID', 'values.yaml:3'), 'loaded'];
  const loaded = waits.untilLoaded(async () => {
    const next = results.shift();
    if (next instanceof Error) throw next;
    return next;
  });
  await host.clock.untilAsleep();
  expect(events).toEqual(['shown values.yaml:3']);
  await host.clock.advance(READ_AGAIN_MS);
  expect(await loaded).toBe('loaded');
  expect(events).toEqual(['shown values.yaml:3', 'ended']);
  const missing = new OperatorError('MODULE_INVALID', 'no directory');
  await expect(waits.untilLoaded(() => Promise.reject(missing))).rejects.toThrow('no directory');
});
