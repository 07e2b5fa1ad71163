import type { Run } from './cell.ts';

/** The meaning of a name at compile time; `depth` counts the names that exist at run time, this one included. */
export type Binding =
  | { readonly type: 'variable' | 'label' | 'closure'; readonly name: string; readonly depth: number }
  | {
      readonly type: 'function';
      readonly name: string;
      readonly depth: number;
      readonly function: FunctionBinding;
    };

/** A function that the program defines. */
export interface FunctionBinding {
  readonly parameters: readonly { readonly name: string; readonly isValue: boolean }[];
  /** Set once the body is compiled, which may call itself. */
  body: Run;
}

/** The names an expression can see at compile time. */
export class Scope {
  readonly #parent: Scope | undefined;
  readonly #binding: Binding | undefined;
  readonly depth: number;

  private constructor(parent: Scope | undefined, binding: Binding | undefined, depth: number) {
    this.#parent = parent;
    this.#binding = binding;
    this.depth = depth;
  }

  /** The scope of the whole program. */
  static empty(): Scope {
    return new Scope(undefined, undefined, 0);
  }

  /** With one name more, which takes a place at run time. */
  with(type: 'variable' | 'label' | 'closure', name: string): Scope {
    const depth = this.depth + 1;
    return new Scope(this, { type, name, depth }, depth);
  }

  /** With a function, which takes no place at run time. */
  withFunction(name: string, binding: FunctionBinding): Scope {
    return new Scope(this, { type: 'function', name, depth: this.depth, function: binding }, this.depth);
  }

  /** The innermost binding that fits. */
  find(fits: (binding: Binding) => boolean): Binding | undefined {
    if (this.#binding !== undefined && fits(this.#binding)) return this.#binding;
    return this.#parent?.find(fits);
  }
}
