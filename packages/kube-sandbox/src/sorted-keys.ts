/** A set of strings in code-unit order. */
export class SortedKeys {
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  add(key: string): void {
    const index = this.#lowerBound(key);
    if (this.#keys[index] !== key) this.#keys.splice(index, 0, key);
  }

  delete(key: string): void {
    const index = this.#lowerBound(key);
    if (this.#keys[index] === key) this.#keys.splice(index, 1);
  }

  countPrefix(prefix: string): number {
    return this.#lowerBound(endOfPrefix(prefix)) - this.#lowerBound(prefix);
  }

  /** The keys that start with `prefix` and follow `after`, in order. */
  from(prefix: string, after?: string): readonly string[] {
    let start = this.#lowerBound(prefix);
    if (after !== undefined && after >= prefix) {
      start = this.#lowerBound(after);
      if (this.#keys[start] === after) start += 1;
    }
    return this.#keys.slice(start, this.#lowerBound(endOfPrefix(prefix)));
  }

  /** Index of the first key that is not smaller than `key`. */
  #lowerBound(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A text behind every text that starts with `prefix`: keys hold no code unit of that size. */
function endOfPrefix(prefix: string): string {
  return `${prefix}\uffff`;
}
