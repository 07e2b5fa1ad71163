import { encodeJsonFrame, FRAME_KINDS } from './launcher-protocol.ts';

export type Environment = Readonly<Record<string, string>>;

/** One daemon has one for its hooks; tests have several daemons beside each other. */
const MOST = 16;

/** The environments that a launcher process was sent: each at most once while it is among the last sixteen. */
export class SharedEnvironments {
  readonly #send: (frame: Buffer) => void;
  readonly #sent: (Environment | undefined)[] = Array.from({ length: MOST }, () => undefined);
  #next = 0;

  constructor(send: (frame: Buffer) => void) {
    this.#send = send;
  }

  /** The number under which the launcher process knows an environment from now on. */
  numberOf(environment: Environment): number {
    const known = this.#sent.indexOf(environment);
    if (known !== -1) return known;
    const number = this.#next;
    this.#next = (number + 1) % MOST;
    this.#sent[number] = environment;
    this.#send(encodeJsonFrame(FRAME_KINDS.environment, number, environ(environment)));
    return number;
  }
}

/** As the kernel wants it. */
export function environ(environment: Environment): string[] {
  const entries: string[] = [];
  for (const name in environment) entries.push(`${name}=${environment[name]}`);
  return entries;
}
