/** The gauges about modules of sources, which are read at each scrape. */

import type { Instrument } from './instrument.ts';

/** Modules of sources, as the gauges show them. */
export interface DeliveryGauges {
  readonly pending: readonly { readonly module: string; readonly reason: string; readonly needs: string }[];
  /** Modules with an update in progress. */
  readonly updating: readonly string[];
  /** Modules whose installed or wanted version has failed. */
  readonly failed: readonly string[];
  readonly missing: readonly string[];
  readonly sources: readonly {
    readonly source: string;
    readonly isReady: boolean;
    readonly lastSuccessSeconds: number | undefined;
  }[];
  readonly storeBytes: number;
}

export const NO_DELIVERY_GAUGES: DeliveryGauges = {
  pending: [],
  updating: [],
  failed: [],
  missing: [],
  sources: [],
  storeBytes: 0,
};

interface DeliveryInstruments {
  readonly updatePending: Instrument<'module' | 'reason' | 'needs'>;
  readonly updateRunning: Instrument<'module'>;
  readonly updateFailed: Instrument<'module'>;
  readonly sourceReady: Instrument<'source'>;
  readonly sourceLastSuccess: Instrument<'source'>;
  readonly contentMissing: Instrument<'module'>;
  readonly storeBytes: Instrument<never>;
}

/** Rebuilds the gauges, so that series of what is gone do not stay. */
export function setDeliveryGauges(
  instruments: DeliveryInstruments,
  { pending, updating, failed, missing, sources, storeBytes: bytes }: DeliveryGauges,
): void {
  const { updatePending, updateRunning, updateFailed, contentMissing, storeBytes } = instruments;
  const { sourceReady, sourceLastSuccess } = instruments;
  for (const gauge of [
    updatePending,
    updateRunning,
    updateFailed,
    sourceReady,
    sourceLastSuccess,
    contentMissing,
  ])
    gauge.reset();
  for (const labels of pending) updatePending.set(labels, 1);
  for (const module of missing) contentMissing.set({ module }, 1);
  for (const module of updating) updateRunning.set({ module }, 1);
  for (const module of failed) updateFailed.set({ module }, 1);
  for (const { source, isReady, lastSuccessSeconds } of sources) {
    sourceReady.set({ source }, isReady ? 1 : 0);
    if (lastSuccessSeconds !== undefined) sourceLastSuccess.set({ source }, lastSuccessSeconds);
  }
  storeBytes.set({}, bytes);
}
