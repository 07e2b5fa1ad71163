/**
 * What `map` makes of each item, in the order of the items, with so many calls under way at once at most. After a failure
 * no further call is made.
 *
 * @throws of several failures that of the first item, once the calls under way are over
 */
export async function mapParallel<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const left = items.entries();
  const results: R[] = [];
  const failures = new Map<number, unknown>();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) {
      try {
        results[index] = await map(item);
      } catch (error) {
        failures.set(index, error);
      }
      if (failures.size > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  if (failures.size > 0) throw failures.get(Math.min(...failures.keys()));
  return results;
}
