/**
 * Parameters that can be changed at run time, for ever or for a limited time. The debug endpoint calls `set`; a loop ends
 * temporary values. A value that cannot be applied leaves the old one in use and shows its error in the list.
 */

import type { Clock } from '@addon-operator/base/clock';
import { messageOf } from '@addon-operator/base/errors';
import { parseGoDuration } from '@addon-operator/strings/go-duration';

/** A setting that can be changed while the daemon runs. */
export interface RuntimeParameter {
  readonly name: string;
  readonly description: string;
  readonly default: string;
  /** Throws with what is accepted when the value is wrong. */
  readonly validate: (value: string) => void;
  /** Throws when the value cannot be applied; the previous value stays in use. */
  readonly apply: (value: string) => void;
  /** How long a value holds when no duration is given, in milliseconds; without it, or `undefined`: for ever. */
  readonly holdsMs?: (value: string) => number | undefined;
}

/** A runtime parameter as `config list` shows it. */
export interface RuntimeParameterView {
  readonly name: string;
  readonly description: string;
  readonly default: string;
  readonly value: string;
  /** When the previous value returns, in milliseconds since the epoch. */
  readonly expiresAtMs?: number;
  /** Why another value could not be put into force; absent once one was. */
  readonly lastError?: string;
}

interface Temporary {
  readonly value: string;
  /** On the steady clock. */
  readonly untilMs: number;
  /** The same on the wall clock, as it was set then: what is shown. */
  readonly expiresAtMs: number;
}

interface State {
  permanent: string;
  temporary?: Temporary | undefined;
  lastError?: string | undefined;
}

/** A temporary value may last this much longer than requested. */
const EXPIRY_CHECK_MS = 15_000;

/** The runtime parameters with their present values. */
export class RuntimeParameters {
  readonly #clock: Clock;
  readonly #parameters: ReadonlyMap<string, RuntimeParameter>;
  readonly #states: ReadonlyMap<string, State>;

  constructor(parameters: readonly RuntimeParameter[], clock: Clock) {
    this.#clock = clock;
    const sorted = parameters.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#parameters = new Map(sorted.map((parameter) => [parameter.name, parameter]));
    this.#states = new Map(sorted.map(({ name, default: value }) => [name, { permanent: value }]));
  }

  /** All parameters, sorted by name. */
  list(): readonly RuntimeParameterView[] {
    return [...this.#parameters.values()].map(({ name, description, default: initial }) => {
      const state = this.#states.get(name);
      const temporary = state?.temporary;
      const value = temporary?.value ?? state?.permanent ?? initial;
      return {
        name,
        description,
        default: initial,
        value,
        ...(temporary && { expiresAtMs: temporary.expiresAtMs }),
        ...(state?.lastError !== undefined && { lastError: state.lastError }),
      };
    });
  }

  /**
   * Changes a parameter, for ever or for a Go duration; an empty duration is none.
   *
   * @throws Error saying which of name, value and duration is wrong, or why the value cannot be put into force; nothing
   * has changed then
   */
  set(name: string, value: string, duration: string): void {
    const parameter = this.#parameters.get(name);
    const state = this.#states.get(name);
    if (parameter === undefined || state === undefined)
      throw new Error(`unknown runtime parameter "${name}"`);
    try {
      parameter.validate(value);
    } catch (error) {
      throw new Error(`'value' parameter is invalid: ${messageOf(error)}`, { cause: error });
    }
    const holdsMs = duration === '' ? parameter.holdsMs?.(value) : parseGoDuration(duration);
    if (duration !== '' && (holdsMs === undefined || holdsMs <= 0))
      throw new Error(`parse duration "${duration}" failed: use a positive duration such as 30m`);
    // Applied first: if it fails, neither the permanent nor the temporary value has changed.
    putInForce(parameter, state, value);
    state.temporary =
      holdsMs === undefined
        ? undefined
        : { value, untilMs: this.#clock.steadyMs() + holdsMs, expiresAtMs: this.#clock.wallMs() + holdsMs };
    if (holdsMs === undefined) state.permanent = value;
  }

  /** Brings back permanent values when temporary ones expire, looking every 15 seconds. Ends when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(EXPIRY_CHECK_MS, signal).catch(() => undefined);
      this.#expire();
    }
  }

  #expire(): void {
    for (const [name, state] of this.#states) {
      const parameter = this.#parameters.get(name);
      if (parameter === undefined || state.temporary === undefined) continue;
      if (state.temporary.untilMs > this.#clock.steadyMs()) continue;
      try {
        putInForce(parameter, state, state.permanent);
        state.temporary = undefined;
      } catch {
        // The list says why; the next check tries again.
      }
    }
  }
}

function putInForce({ apply }: RuntimeParameter, state: State, value: string): void {
  try {
    apply(value);
    state.lastError = undefined;
  } catch (error) {
    state.lastError = messageOf(error);
    throw error;
  }
}

/** Runtime parameters; those that were set for a while return to their old value in time, until the daemon ends. */
export function startParameters(
  parameters: readonly RuntimeParameter[],
  clock: Clock,
  running: AsyncDisposableStack,
): RuntimeParameters {
  const started = new RuntimeParameters(parameters, clock);
  const end = new AbortController();
  const ended = started.run(end.signal);
  running.defer(async () => {
    end.abort();
    await ended;
  });
  return started;
}
