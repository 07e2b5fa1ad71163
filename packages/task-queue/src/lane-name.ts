/** The name of the queue for one key of a queue. */
export function laneName(queue: string, key: string): string {
  return `${queue}[${key}]`;
}
