/**
 * Calls the handler of a hook and waits for it.
 *
 * @throws TypeError when it returns something: what it meant to change that way would be lost
 * @throws what the handler throws
 */
export async function callHandler<I>(handler: (input: I) => unknown, input: I): Promise<void> {
  const returned = await handler(input);
  if (returned === undefined) return;
  throw new TypeError(
    `the handler returned a value (${typeof returned}): it must return nothing and make changes through the methods of its input`,
  );
}
