/** What the process of the built-in engine is asked. */
export interface BuiltinRequest {
  readonly program: string;
  /** JSON text of the input; without it the program is only compiled, and the outputs are none. */
  readonly input: string | undefined;
}

/** A tab stands in no JSON text: it is escaped in strings, and nobody writes it between them. */
const SEPARATOR = '\t';

/** One line for the process: the program as JSON string, then the input as it is. */
export function requestLine({ program, input }: BuiltinRequest): string {
  const encoded = JSON.stringify(program);
  return input === undefined ? encoded : `${encoded}${SEPARATOR}${input}`;
}

/** The request that {@link requestLine} wrote. */
export function splitRequest(line: string): BuiltinRequest {
  const end = line.indexOf(SEPARATOR);
  const program: unknown = JSON.parse(end === -1 ? line : line.slice(0, end));
  return { program: String(program), input: end === -1 ? undefined : line.slice(end + 1) };
}
