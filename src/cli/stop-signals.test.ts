import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { stopSignals } from './run-process.ts';

class Source extends EventEmitter {
  readonly exitCodes: number[] = [];
  exit(code: number): void {
    this.exitCodes.push(code);
  }
}

test('the first signal aborts, the second ends the process', () => {
  const source = new Source();
  const signal = stopSignals(source);
  expect(signal.aborted).toBe(false);
  source.emit('SIGTERM', 'SIGTERM');
  expect(signal.reason).toEqual(new Error('SIGTERM received'));
  expect(source.exitCodes).toEqual([]);
  source.emit('SIGINT', 'SIGINT');
  expect(source.exitCodes).toEqual([130]);
});
