/** One server-sent event; `event` is `message` where the server gives no name. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
  /** The id that holds from this event on; empty before the first one. */
  readonly id: string;
}

/**
 * Reads `text/event-stream`, whose lines end with LF or CRLF. In a browser it replaces `EventSource`, which cannot send the
 * token in a header.
 */
export class EventStreamParser {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #id = '';

  /** Adds text as it arrives, and returns the events that are complete now. */
  push(text: string): readonly StreamEvent[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    const events: StreamEvent[] = [];
    for (const line of lines) {
      const event = this.#line(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #line(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    // A comment, such as a heartbeat.
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id') this.#id = value;
    return undefined;
  }

  #dispatch(): StreamEvent | undefined {
    const [event, data] = [this.#event, this.#data];
    this.#event = '';
    this.#data = [];
    if (data.length === 0) return undefined;
    return { event: event === '' ? 'message' : event, data: data.join('\n'), id: this.#id };
  }
}
