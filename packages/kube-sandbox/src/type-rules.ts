import { ANY_FIELD } from './schema-structures.ts';
import type { FieldRule, Structure } from './structures.ts';

export type Structures = Readonly<Record<string, Structure>>;

const PLAIN: FieldRule = {};
const OBJECT_META: FieldRule = { type: 'ObjectMeta' };
const ATOMIC: FieldRule = { atomic: true };
/** A path of a managed field is one text: with each level, all texts below it grow. */
const MAX_LEVELS = 100;

/** How the fields of one type are merged. What is nested deeper than 100 levels is merged and owned as a whole. */
export class TypeRules {
  readonly #structures: Structures;
  readonly #type: string | undefined;
  /** How many levels the type is below the object. */
  readonly #level: number;

  private constructor(structures: Structures, type: string | undefined, level: number) {
    this.#structures = structures;
    this.#type = type;
    this.#level = level;
  }

  /** Rules of a whole object: its metadata included. */
  static ofRoot(structures: Structures, rootType: string): TypeRules {
    return new TypeRules(structures, rootType, 0);
  }

  rule(field: string): FieldRule {
    if (this.#level >= MAX_LEVELS) return ATOMIC;
    if (this.#level === 0 && field === 'metadata') return OBJECT_META;
    const structure = this.#type === undefined ? undefined : this.#structures[this.#type];
    if (structure === undefined) return PLAIN;
    return structure[field] ?? structure[ANY_FIELD] ?? PLAIN;
  }

  /** Rules of the value of `field`, or of the elements of the list there. */
  below(field: string): TypeRules {
    return new TypeRules(this.#structures, this.rule(field).type, this.#level + 1);
  }
}
