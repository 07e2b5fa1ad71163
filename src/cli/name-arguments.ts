import { Argument } from 'commander';

/** What the names are of that an argument takes. */
export type NameKind = 'module' | 'queue' | 'run' | 'hook' | 'running hook';

const KINDS = new WeakMap<Argument, NameKind>();

/** An argument whose values a shell completes with names that the running operator knows. */
export function nameArgument(kind: NameKind, declaration: string, description: string): Argument {
  const argument = new Argument(declaration, description);
  KINDS.set(argument, kind);
  return argument;
}

/** The kind given to {@link nameArgument}; undefined for other arguments. */
export function nameKindOf(argument: Argument): NameKind | undefined {
  return KINDS.get(argument);
}
