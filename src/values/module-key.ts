/** Name of a module: its directory's name without the number, in kebab-case. */
export type ModuleName = string & { readonly brand: 'ModuleName' };
/** The camelCase form of a module name: the key of its values, flags and patches. */
export type ModuleKey = string & { readonly brand: 'ModuleKey' };

/** The section of values that belongs to no module. */
export const GLOBAL_SECTION = 'global';
/** A top-level key of values: `global` or the key of a module. */
export type SectionKey = typeof GLOBAL_SECTION | ModuleKey;
/** Whose values: those of all modules or of one. */
export type ValuesOwner = typeof GLOBAL_SECTION | ModuleName;

/** The camelCase key of a name in any spelling: `l2-load-balancer` gives `l2LoadBalancer`. */
export function keyOfName(name: string): ModuleKey {
  const [first = '', ...others] = wordsOf(name);
  const key = first.toLowerCase() + others.map(capitalize).join('');
  return key as ModuleKey;
}

/** The kebab-case name of a key in any spelling: `l2LoadBalancer` gives `l2-load-balancer`. */
export function nameOfKey(key: string): string {
  return wordsOf(key)
    .map((word) => word.toLowerCase())
    .join('-');
}

/** The key if it is spelled as a module key must be, so that name and key can be distinguished. */
export function asModuleKey(spelling: string): ModuleKey | undefined {
  return spelling !== '' && keyOfName(nameOfKey(spelling)) === spelling ? (spelling as ModuleKey) : undefined;
}

/** The name if it is in kebab-case and can be restored from its key. `global` is no module name. */
export function asModuleName(spelling: string): ModuleName | undefined {
  const isName =
    spelling !== '' && spelling !== GLOBAL_SECTION && nameOfKey(keyOfName(spelling)) === spelling;
  return isName ? (spelling as ModuleName) : undefined;
}

/** The top-level key of an owner's values. */
export function sectionOf(owner: ValuesOwner): SectionKey {
  return owner === GLOBAL_SECTION ? GLOBAL_SECTION : keyOfName(owner);
}

/** Where letters alone end a word. A number never starts a word, and never ends one before a lower-case letter. */
const LETTER_BOUNDARY = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{Nd})(?=\p{Lu})/u;
const SEPARATOR = /[-_ ]|(?<!\p{Nd})\.|\.(?!\p{Nd})/u;

function wordsOf(spelling: string): string[] {
  return spelling
    .split(SEPARATOR)
    .flatMap((part) => part.split(LETTER_BOUNDARY))
    .filter((word) => word !== '');
}

function capitalize(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1).toLowerCase();
}
