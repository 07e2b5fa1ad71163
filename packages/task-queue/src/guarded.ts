export const nothing = (): void => undefined;
export const unchanged = <T>(value: T): T => value;

/** The function, but what it throws goes to `onError`, and the result is that of `otherwise`. */
export function guarded<Args extends readonly unknown[], Result>(
  act: (...args: Args) => Result,
  otherwise: (...args: Args) => Result,
  onError: (error: unknown) => void,
): (...args: Args) => Result {
  return (...args) => {
    try {
      return act(...args);
    } catch (error) {
      onError(error);
      return otherwise(...args);
    }
  };
}
