/** Wiring: the journal, with the runs of earlier starts. */
import { join, resolve } from 'node:path';
import { fieldsOf } from '@addon-operator/json';
import { Journal } from '../journal/journal.ts';
import { JournalFile } from '../journal/journal-file.ts';
import type { BuildOptions } from './build-options.ts';

/** In place of a directory: nothing is written to disk. */
const OFF = 'off';

/**
 * Creates the journal. It contains the runs that are in its file; on a new node, the last run of each module that is in its
 * Module object. Commands that inspect, and a module that runs alone, have no file: they are no start of the operator.
 */
export async function createJournal({
  settings,
  host,
  base,
  redactor,
  objects,
  variant = {},
  running,
}: BuildOptions): Promise<Journal> {
  const { clock, log } = host;
  const isAlone = variant.isInspection === true || variant.lone !== undefined;
  const directory = settings.journalDir === '' ? join(base.tmpDir, 'journal') : resolve(settings.journalDir);
  const file =
    isAlone || settings.journalDir === OFF ? undefined : await JournalFile.open({ directory, log });
  const journal = new Journal({
    clock,
    redact: (text) => redactor.text(text),
    bootId: base.tracing.bootId,
    file,
  });
  if (file !== undefined)
    running.defer(async () => {
      journal.close();
      await file[Symbol.asyncDispose]();
    });
  const role = settings.isHaEnabled ? `${settings.podName} leads` : 'the operator started';
  journal.marks.add({ kind: 'start', text: `${role} (version ${host.version})` });
  running.defer(
    base.cluster.health.subscribe({
      outageBegan: () => journal.marks.add({ kind: 'outage', text: 'the API server gives no response' }),
      outageEnded: (lastedMs) =>
        journal.marks.add({ kind: 'outage', text: 'the API server gave no response' }, lastedMs),
    }),
  );
  const operator = `${settings.namespace}/${settings.configMapName}`;
  objects?.objects.onChange((name, _before, after) => {
    if (after?.operator !== operator) return;
    const { startedAt, durationMs, result } = fieldsOf(fieldsOf(after.status)['lastRun']);
    if (typeof startedAt !== 'string' || typeof durationMs !== 'number') return;
    journal.seedModuleRun(name, {
      startedAt,
      durationMs,
      result: result === 'success' ? 'success' : 'failed',
    });
  });
  return journal;
}
