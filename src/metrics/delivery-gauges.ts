/** The gauges about modules of sources, which are read at each scrape. */

import type { Instrument } from './instrument.ts';

/** Modules of sources, as the gauges show them. */
export interface DeliveryGauges {
  readonly pending: readonly { readonly module: string; readonly reason: string }[];
  readonly missing: readonly string[];
  readonly sources: readonly { readonly source: string; readonly lastSuccessSeconds: number | undefined }[];
  readonly storeBytes: number;
}

export const NO_DELIVERY: DeliveryGauges = { pending: [], missing: [], sources: [], storeBytes: 0 };

interface DeliveryInstruments {
  readonly updatePending: Instrument<'module' | 'reason'>;
  readonly sourceLastSuccess: Instrument<'source'>;
  readonly contentMissing: Instrument<'module'>;
  readonly storeBytes: Instrument<never>;
}

/** Rebuilds the gauges, so that series of what is gone do not stay. */
export function setDeliveryGauges(
  { updatePending, sourceLastSuccess, contentMissing, storeBytes }: DeliveryInstruments,
  { pending, missing, sources, storeBytes: bytes }: DeliveryGauges,
): void {
  for (const gauge of [updatePending, sourceLastSuccess, contentMissing]) gauge.reset();
  for (const labels of pending) updatePending.set(labels, 1);
  for (const module of missing) contentMissing.set({ module }, 1);
  for (const { source, lastSuccessSeconds } of sources)
    if (lastSuccessSeconds !== undefined) sourceLastSuccess.set({ source }, lastSuccessSeconds);
  storeBytes.set({}, bytes);
}
