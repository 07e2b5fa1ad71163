/** A message as it goes over a stream: JSON in one line. */
export function messageLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}

/** Cuts a stream of text into the messages in it. */
export class MessageReader {
  readonly #onMessage: (message: unknown) => void;
  #rest = '';

  constructor(onMessage: (message: unknown) => void) {
    this.#onMessage = onMessage;
  }

  /** How many characters wait for the end of their message. */
  get restLength(): number {
    return this.#rest.length;
  }

  push(text: string): void {
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const line = this.#rest + text.slice(start, end);
      this.#rest = '';
      start = end + 1;
      this.#onMessage(JSON.parse(line));
    }
    this.#rest += text.slice(start);
  }
}
