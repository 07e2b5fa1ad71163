import { setMember } from '@addon-operator/json/set-member';
import { valueAt } from './access.ts';
import { getPath, type Path, withValueAt } from './paths.ts';
import { isArray, isNumber, isObject, toDouble, type Value } from './value.ts';

/**
 * A value that is changed at many places. Each array and object on the way is copied once and then written to, unless
 * a reference to it was handed out in the meantime: otherwise many small changes of a large one would copy it each time.
 */
export class Draft {
  #value: Value;
  readonly #arrays = new Map<Value, Value[]>();
  readonly #objects = new Map<Value, Record<string, Value>>();

  constructor(value: Value) {
    this.#value = value;
  }

  /** The value as it is now; it changes with the draft, until something is taken out of it. */
  get value(): Value {
    return this.#value;
  }

  /** The value at a path, which the caller may keep. */
  take(path: Path): Value {
    const value = getPath(this.#value, path);
    // A value inside of one of our copies may be such a copy too, so no copy may be written to from here on.
    if (this.#arrays.has(value) || this.#objects.has(value)) {
      this.#arrays.clear();
      this.#objects.clear();
    }
    return value;
  }

  /** Throws JqError where the path does not fit, as `setPath` does. */
  set(path: Path, replacement: Value): void {
    this.#value = this.#with(this.#value, path, replacement, 0);
  }

  #with(target: Value, path: Path, replacement: Value, depth: number): Value {
    const key = path[depth];
    if (key === undefined) return replacement;
    const child = this.#with(valueAt(target, key), path, replacement, depth + 1);
    if (typeof key === 'string' && isObject(target)) {
      const object = this.#objects.get(target) ?? { ...target };
      setMember(object, key, child);
      this.#objects.set(object, object);
      return object;
    }
    if (!isNumber(key) || !isArray(target)) return withValueAt(target, key, child);
    const index = Math.floor(toDouble(key));
    if (!(index >= 0 && index < target.length)) return withValueAt(target, key, child);
    const array = this.#arrays.get(target) ?? [...target];
    array[index] = child;
    this.#arrays.set(array, array);
    return array;
  }
}
