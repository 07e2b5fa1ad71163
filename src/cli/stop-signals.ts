import { constants } from 'node:os';

/** The part of `process` that is needed here. */
export interface SignalSource {
  on(signal: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): void;
}

type StopSignal = 'SIGINT' | 'SIGTERM';

/**
 * A signal that aborts at the first SIGINT or SIGTERM. The second one ends the process at once, with 128 and its number.
 */
export function stopSignals(source: SignalSource): AbortSignal {
  const stop = new AbortController();
  const onSignal = (signal: StopSignal): void => {
    if (stop.signal.aborted) source.exit(128 + constants.signals[signal]);
    else stop.abort(new Error(`${signal} received`));
  };
  source.on('SIGINT', onSignal);
  source.on('SIGTERM', onSignal);
  return stop.signal;
}
