import type { KindRegistry } from './kind-registry.ts';
import type { SandboxClock } from './sandbox-clock.ts';
import type { ObjectStore } from './sandbox-store.ts';

/** The state that every request and controller works on. */
export interface ApiState {
  readonly store: ObjectStore;
  readonly kinds: KindRegistry;
  readonly clock: SandboxClock;
  readonly newUid: () => string;
  /** A number in [0, 1). */
  readonly random: () => number;
}

/** Who writes, and whether it is for real. */
export interface WriteOptions {
  /** Field manager. */
  readonly manager: string;
  readonly isDryRun: boolean;
}

/** The present as the API writes it: RFC 3339 with seconds. */
export function timestamp(clock: SandboxClock): string {
  return `${new Date(clock.wallMs()).toISOString().slice(0, 19)}Z`;
}
