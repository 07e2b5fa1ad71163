import { Argument, Option } from 'commander';

/** The kind of names that an argument or an option takes. */
export type NameKind = 'module' | 'queue' | 'run' | 'hook' | 'running hook';

const KINDS = new WeakMap<Argument | Option, NameKind>();

/** An argument whose values a shell completes with names that the running operator knows. */
export function nameArgument(kind: NameKind, declaration: string, description: string): Argument {
  const argument = new Argument(declaration, description);
  KINDS.set(argument, kind);
  return argument;
}

/** An option whose values a shell completes in the same way. */
export function nameOption(kind: NameKind, flags: string, description: string): Option {
  const option = new Option(flags, description);
  KINDS.set(option, kind);
  return option;
}

/** The kind that was given; undefined for other arguments and options. */
export function nameKindOf(taken: Argument | Option): NameKind | undefined {
  return KINDS.get(taken);
}
