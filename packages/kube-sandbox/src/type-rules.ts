import { ANY_FIELD } from './schema-structures.ts';
import type { FieldRule, Structure } from './structures.ts';

export type Structures = Readonly<Record<string, Structure>>;

const PLAIN: FieldRule = {};
const OBJECT_META: FieldRule = { type: 'ObjectMeta' };

/** How the fields of one type are merged. */
export class TypeRules {
  readonly #structures: Structures;
  readonly #type: string | undefined;
  readonly #isRoot: boolean;

  private constructor(structures: Structures, type: string | undefined, isRoot: boolean) {
    this.#structures = structures;
    this.#type = type;
    this.#isRoot = isRoot;
  }

  /** Rules of a whole object: its metadata included. */
  static ofRoot(structures: Structures, rootType: string): TypeRules {
    return new TypeRules(structures, rootType, true);
  }

  rule(field: string): FieldRule {
    if (this.#isRoot && field === 'metadata') return OBJECT_META;
    const structure = this.#type === undefined ? undefined : this.#structures[this.#type];
    if (structure === undefined) return PLAIN;
    return structure[field] ?? structure[ANY_FIELD] ?? PLAIN;
  }

  /** Rules of the value of `field`, or of the elements of the list there. */
  below(field: string): TypeRules {
    return new TypeRules(this.#structures, this.rule(field).type, false);
  }
}
