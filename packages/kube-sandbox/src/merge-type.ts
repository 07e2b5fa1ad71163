import { isObject } from '@addon-operator/json';
import { resolvedSchema, schemaOfKind } from './built-in-types.ts';
import { type Fields, fieldsAt, listAt, stringAt, valueAt } from './json-access.ts';
import type { ServedKind } from './kinds.ts';

/** The path of a managed field is one string: with each level, all strings below it grow. */
const MAX_LEVELS = 100;

const roots = new WeakMap<ServedKind, MergeType>();

/**
 * How a value is merged by a strategic merge patch and owned after a server-side apply, as its OpenAPI schema says: that of
 * the API server for built-in kinds, that of the definition for custom resources. Patches, applies and the bookkeeping of
 * managed fields walk through an object and its type side by side. A value without a schema is merged field by field, and
 * what is nested deeper than 100 levels is merged and owned as a whole.
 */
export class MergeType {
  /** The value is owned as a whole. */
  readonly isAtomic: boolean;
  /** The value is a list whose elements have these fields as keys. */
  readonly keys: readonly string[] | undefined;
  /** The value is a list of scalars, each of which occurs once. */
  readonly isSet: boolean;
  /** A strategic merge patch merges this list by that field of its elements; empty: a set of scalars. */
  readonly mergeKey: string | undefined;
  /** A strategic merge patch replaces this object. */
  readonly isReplaced: boolean;
  readonly #schema: Fields;
  readonly #level: number;
  readonly #fields = new Map<string, MergeType>();
  #item: MergeType | undefined;

  private constructor(schema: Fields, level: number) {
    this.#schema = resolvedSchema(schema);
    this.#level = level;
    const listType = this.#extension('list-type');
    const strategies = this.#extension('patch-strategy').split(',');
    this.isAtomic = level > MAX_LEVELS || this.#extension('map-type') === 'atomic';
    this.keys =
      listType === 'map' ? listAt(this.#schema, 'x-kubernetes-list-map-keys').map(String) : undefined;
    this.isSet = listType === 'set';
    this.mergeKey = strategies.includes('merge') ? this.#extension('patch-merge-key') : undefined;
    this.isReplaced = strategies.includes('replace');
  }

  /** The type of whole objects, their metadata included. */
  static ofKind(kind: ServedKind): MergeType {
    const known = roots.get(kind) ?? new MergeType(schemaOfKind(kind), 0);
    roots.set(kind, known);
    return known;
  }

  /** Whether the elements of the list have owners of their own. */
  get isMergedList(): boolean {
    return this.keys !== undefined || this.isSet;
  }

  /** The type of a field of the object. */
  field(name: string): MergeType {
    const property = fieldsAt(this.#schema, 'properties')[name];
    // One type serves all fields that the schema does not name: their names come from users.
    const key = isObject(property) ? name : '';
    let type = this.#fields.get(key);
    if (type === undefined) {
      const schema = isObject(property) ? property : fieldsAt(this.#schema, 'additionalProperties');
      type = new MergeType(schema, this.#level + 1);
      this.#fields.set(key, type);
    }
    return type;
  }

  /** The type of the elements of the list. */
  get item(): MergeType {
    return (this.#item ??= new MergeType(fieldsAt(this.#schema, 'items'), this.#level));
  }

  /** The value of a key in an element that does not name it. */
  keyDefault(key: string): unknown {
    return valueAt(this.item.field(key).#schema, 'default');
  }

  #extension(name: string): string {
    return stringAt(this.#schema, `x-kubernetes-${name}`);
  }
}
