/**
 * Counts the members of types that are parts, by the type checker: the objects and functions that a type joins. What has many
 * of them knows everything, and every function that receives it can reach everything. Members that are data are not limited, and neither
 * are the methods of an object: they are what it does itself.
 */
import {
  isClassDeclaration,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  ModifierFlags,
  type Node,
  SyntaxKind,
} from 'typescript/unstable/ast';
import type { FileSystem } from 'typescript/unstable/fs';
import {
  API,
  type Checker,
  type Project,
  SignatureKind,
  type Symbol,
  type Type,
} from 'typescript/unstable/sync';

export interface CountedType {
  /** Relative to the directory of the configuration. */
  readonly file: string;
  /** Of a type; `f()` is what the function returns, and `f(a)` what it takes as `a`. */
  readonly name: string;
  /** All that others can use. */
  readonly members: number;
  readonly parts: number;
}

/** Where a file of the program lies; for tests in memory. */
interface Place {
  readonly root: string;
  readonly fs?: FileSystem;
}

type Kind = 'data' | 'function' | 'part';
type Subject = Pick<CountedType, 'name'> & { readonly type: Type };

/** An exported type has at most so many members that are parts. */
export const MAX_PARTS = 12;

/** Types of the language and of Node are data, but for the types in them: `Map<string, Part>` is a part. */
const STANDARD = /^bundled:|\/node_modules\/(?:@types\/node|undici-types|typescript|@typescript)\//;
/** Packages of others decide how large their types are. */
const FOREIGN = /^bundled:|\/node_modules\//;

/**
 * The types that the files export, and others that their exported functions and classes return or take. `isMeant` gets paths
 * relative to `root`, where tsconfig.json is.
 */
export function countParts({ root, fs }: Place, isMeant: (file: string) => boolean): readonly CountedType[] {
  const api = new API({ cwd: root, ...(fs === undefined ? {} : { fs }) });
  try {
    const snapshot = api.updateSnapshot({ openProjects: [`${root}/tsconfig.json`] });
    return snapshot.getProjects().flatMap((project) => {
      const files = project.program
        .getSourceFileNames()
        .filter((name) => name.startsWith(`${root}/`) && isMeant(name.slice(root.length + 1)));
      return new PartCounter(project).count(files, root);
    });
  } finally {
    api.close();
  }
}

class PartCounter {
  readonly #project: Project;
  readonly #checker: Checker;
  readonly #members = new Map<number, readonly (readonly [Symbol, Type | undefined])[]>();
  readonly #kinds = new Map<number, Kind>();

  constructor(project: Project) {
    this.#project = project;
    this.#checker = project.checker;
  }

  count(files: readonly string[], root: string): readonly CountedType[] {
    const named = files.map((file) => [file, this.#declared(file)] as const);
    const known = new Set(named.flatMap(([, subjects]) => subjects.map(({ type }) => type.id)));
    return named.flatMap(([file, subjects]) => {
      const nameless = this.#inSignatures(file).filter(({ type }) => {
        const isKnown = known.has(type.id);
        known.add(type.id);
        return !isKnown;
      });
      return [...subjects, ...nameless].flatMap(({ name, type }) =>
        this.#objectsIn(type).map((one) => {
          const members = this.#membersOf(one);
          const parts = members.filter((member) => this.#isPart(...member)).length;
          return { file: file.slice(root.length + 1), name, members: members.length, parts };
        }),
      );
    });
  }

  #declared(file: string): readonly Subject[] {
    return this.#exported(file).flatMap((node) => {
      if (!isInterfaceDeclaration(node) && !isTypeAliasDeclaration(node) && !isClassDeclaration(node))
        return [];
      const symbol = node.name === undefined ? undefined : this.#checker.getSymbolAtLocation(node.name);
      if (symbol === undefined) return [];
      return [{ name: symbol.name, type: this.#checker.getDeclaredTypeOfSymbol(symbol) }];
    });
  }

  #inSignatures(file: string): readonly Subject[] {
    return this.#exported(file).flatMap((node) => {
      if (isFunctionDeclaration(node)) return this.#inSignature(node, node.name?.text ?? '');
      if (!isClassDeclaration(node)) return [];
      const constructor = node.members.find((member) => isConstructorDeclaration(member));
      return constructor === undefined ? [] : this.#inSignature(constructor, `new ${node.name?.text}`);
    });
  }

  #inSignature(node: Node, name: string): readonly Subject[] {
    const signature = this.#checker.getSignatureFromDeclaration(node);
    if (signature === undefined) return [];
    const returned = this.#checker.getReturnTypeOfSignature(signature);
    const taken = signature.getParameters().map((parameter, index) => ({
      name: `${name}(${parameter.name})`,
      type: this.#checker.getParameterType(signature, index),
    }));
    return [{ name: `${name}()`, type: returned && this.#settled(returned) }, ...taken].flatMap((one) =>
      one.type === undefined ? [] : [{ name: one.name, type: one.type }],
    );
  }

  #exported(file: string): readonly Node[] {
    const statements: readonly Node[] = this.#project.program.getSourceFile(file)?.statements ?? [];
    return statements.filter(
      (node) => 'modifierFlags' in node && (Number(node.modifierFlags) & ModifierFlags.Export) !== 0,
    );
  }

  /** What a promise resolves to. */
  #settled(type: Type): Type {
    const [value] =
      type.getSymbol()?.name === 'Promise' && type.isObjectType() && type.isTypeReference()
        ? this.#checker.getTypeArguments(type)
        : [];
    return value ?? type;
  }

  /** The type itself, or each object of a union; nothing for what is no object of ours. */
  #objectsIn(type: Type): readonly Type[] {
    if (type.isUnionType()) return type.getTypes().flatMap((one) => this.#objectsIn(one));
    const isObject = type.isIntersectionType() || type.isObjectType();
    return isObject && !this.#isDeclaredIn(FOREIGN, type) && !this.#isBrand(type) ? [type] : [];
  }

  /** `string & { … }`: a string that is distinguished from others. */
  #isBrand(type: Type): boolean {
    return type.isIntersectionType() && type.getTypes().some((one) => !one.isObjectType());
  }

  #isPart(symbol: Symbol, type: Type | undefined): boolean {
    const kind = this.#kindOf(type);
    return kind === 'part' || (kind === 'function' && !isMethod(symbol));
  }

  #kindOf(type: Type | undefined): Kind {
    if (type === undefined) return 'data';
    const known = this.#kinds.get(type.id);
    if (known !== undefined) return known;
    // A type that holds itself is what its other members make of it.
    this.#kinds.set(type.id, 'data');
    const kind = this.#computeKind(type);
    this.#kinds.set(type.id, kind);
    return kind;
  }

  #computeKind(type: Type): Kind {
    if (this.#isBrand(type)) return 'data';
    if (type.isUnionType() || type.isIntersectionType()) {
      const kinds = type.getTypes().map((one) => this.#kindOf(one));
      return kinds.find((kind) => kind !== 'data') ?? 'data';
    }
    if (!type.isObjectType()) return 'data';
    if (this.#isDeclaredIn(STANDARD, type)) {
      const values = type.isTypeReference() ? this.#checker.getTypeArguments(type) : [];
      return values.some((one) => this.#kindOf(one) !== 'data') ? 'part' : 'data';
    }
    if (this.#isFunction(type)) return 'function';
    return this.#membersOf(type).some(([, member]) => this.#kindOf(member) !== 'data') ? 'part' : 'data';
  }

  #isFunction(type: Type): boolean {
    return [SignatureKind.Call, SignatureKind.Construct].some(
      (kind) => this.#checker.getSignaturesOfType(type, kind).length > 0,
    );
  }

  #isDeclaredIn(places: RegExp, type: Type): boolean {
    if (this.#checker.isArrayType(type) || this.#checker.isTupleType(type)) return true;
    const declarations = type.getSymbol()?.declarations ?? [];
    return declarations.length > 0 && declarations.every(({ path }) => places.test(path));
  }

  /** With their types; private members are not among them. */
  #membersOf(type: Type): readonly (readonly [Symbol, Type | undefined])[] {
    const known = this.#members.get(type.id);
    if (known !== undefined) return known;
    const symbols = this.#checker.getPropertiesOfType(type).filter(({ name }) => !/#|^__@/.test(name));
    const types = symbols.length === 0 ? [] : this.#checker.getTypeOfSymbol(symbols);
    const members = symbols.map((symbol, index) => [symbol, types[index]] as const);
    this.#members.set(type.id, members);
    return members;
  }
}

function isMethod({ declarations }: Symbol): boolean {
  return declarations.some(
    ({ kind }) => kind === SyntaxKind.MethodSignature || kind === SyntaxKind.MethodDeclaration,
  );
}

/**
 * One sentence for each type that has too many parts, unless its number is in `accepted`, by file and name. An entry there that
 * is not needed any more, or that its type exceeds, is a sentence too: the list can only shrink.
 */
export function partProblems(
  types: readonly CountedType[],
  accepted: Readonly<Record<string, number>> = {},
): readonly string[] {
  const large: ReadonlyMap<string, number> = new Map(
    types
      .filter(({ parts }) => parts > MAX_PARTS)
      .map(({ file, name, parts }) => [`${file} ${name}`, parts] as const),
  );
  const unneeded = Object.keys(accepted).filter((key) => !large.has(key));
  const problems = [...large].filter(([key, parts]) => parts > (accepted[key] ?? MAX_PARTS));
  return [
    ...problems.map(([key, parts]) => {
      const limit = accepted[key] ?? MAX_PARTS;
      return `${key} has ${parts} members that are parts, at most ${limit} may be: pass what is used, or join what belongs together`;
    }),
    ...unneeded.map((key) => `${key} has no more than ${MAX_PARTS} parts: remove it from the list`),
  ];
}
