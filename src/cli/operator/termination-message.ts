import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { errorText } from '@addon-operator/base/error-text';
import type { RootLogger } from '@addon-operator/logging/json-logger';
import { observeLog } from '@addon-operator/logging/observe-log';

/** Where the kubelet reads why a container ended; there is such a file only in pods. */
const TERMINATION_LOG = '/dev/termination-log';
/** The kubelet cuts what is longer. */
const MAX_BYTES = 4096;

/** A logger that also puts fatal records into the termination message of the container. */
export function withTerminationMessage(log: RootLogger, file?: string): RootLogger {
  return observeLog(log, ({ level, message, fields }) => {
    if (level !== 'fatal') return;
    const { error } = fields;
    const reason = typeof error === 'string' ? error : error instanceof Error ? errorText(error) : '';
    writeTerminationMessage(reason === '' ? message : `${message}: ${reason}`, file);
  });
}

/**
 * Makes a text the termination message of the container, which `kubectl describe pod` shows. Does nothing where there is no
 * such file or it cannot be written: the log has the text too.
 *
 * @param file default `/dev/termination-log`
 */
export function writeTerminationMessage(text: string, file: string = TERMINATION_LOG): void {
  try {
    const descriptor = openSync(file, constants.O_WRONLY | constants.O_TRUNC);
    try {
      writeSync(descriptor, Buffer.from(text).subarray(0, MAX_BYTES));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Not in a pod.
  }
}
