/** The same value, frozen with everything in it, at any depth. */
export function frozen<T>(value: T): T {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null || Object.isFrozen(next)) continue;
    for (const inner of Object.values(next)) left.push(inner);
    Object.freeze(next);
  }
  return value;
}
