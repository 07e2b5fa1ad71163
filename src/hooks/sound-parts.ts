import type { ErrorObject } from 'ajv';
import { fieldsOf } from '../lib/json.ts';
import type { ConfigDocument } from './hook-config-document.ts';
import type { SnapshotSource } from './snapshot-references.ts';

type ItemOf<List> = NonNullable<List> extends readonly (infer Item)[] ? Item : never;

/**
 * The parts of a configuration in which the schema found nothing wrong: further checks of them are worth while even if
 * other parts are broken, so that a hook's author sees all problems at once. `Raw` is the shape the schema guarantees.
 */
export class SoundParts<Raw> {
  readonly #document: ConfigDocument;
  readonly #errors: readonly ErrorObject[];

  constructor(document: ConfigDocument, errors: readonly ErrorObject[]) {
    this.#document = document;
    this.#errors = errors;
  }

  /** The items of a list that have the shape the schema asks for, each with its position. */
  items<Key extends keyof Raw & string>(key: Key): readonly (readonly [number, ItemOf<Raw[Key]>])[] {
    const list = this.#document[key];
    if (!Array.isArray(list)) return [];
    return list.flatMap((item: ItemOf<Raw[Key]>, index) =>
      this.#isSound(`/${key}/${index}`) ? [[index, item]] : [],
    );
  }

  /** A property that has the shape the schema asks for. */
  property<Key extends keyof Raw & string>(key: Key): Raw[Key] | undefined {
    return this.#isSound(`/${key}`) ? (this.#document[key] as Raw[Key] | undefined) : undefined;
  }

  /** All kubernetes bindings by name and group, broken ones included: others may rightly refer to them. */
  get snapshotSources(): readonly SnapshotSource[] {
    const list = this.#document['kubernetes'];
    if (!Array.isArray(list)) return [];
    return list.map((item: unknown) => {
      const { name, group } = fieldsOf(item);
      return {
        ...(typeof name === 'string' ? { name } : {}),
        ...(typeof group === 'string' ? { group } : {}),
      };
    });
  }

  #isSound(path: string): boolean {
    return !this.#errors.some(
      ({ instancePath }) => instancePath === path || instancePath.startsWith(`${path}/`),
    );
  }
}
