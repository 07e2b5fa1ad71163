import { fieldsOf, isObject } from '@addon-operator/json';
import type { Fields } from './json-access.ts';

/** Separates the elements of a path; no element holds it, for they are names or JSON texts. */
const SEPARATOR = '\n';
const SELF = '.';

/** Path below `parent` (empty for the root); elements are written as in FieldsV1: `f:name`, `k:{…}`, `v:…`. */
export function childPath(parent: string, element: string): string {
  return parent === '' ? element : `${parent}${SEPARATOR}${element}`;
}

/** Elements of a path, outermost first. */
export function pathElements(path: string): readonly string[] {
  return path.split(SEPARATOR);
}

/** A set of field paths, as managed fields record them. Never changed in place. */
export class FieldSet {
  static readonly empty = new FieldSet(new Set());
  readonly #paths: ReadonlySet<string>;

  constructor(paths: ReadonlySet<string>) {
    this.#paths = paths;
  }

  /** Reads the FieldsV1 form. */
  static parse(fields: unknown): FieldSet {
    const paths = new Set<string>();
    collectPaths(fields, '', paths);
    return new FieldSet(paths);
  }

  get isEmpty(): boolean {
    return this.#paths.size === 0;
  }

  get paths(): Iterable<string> {
    return this.#paths;
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  union(other: FieldSet): FieldSet {
    return new FieldSet(new Set([...this.#paths, ...other.#paths]));
  }

  difference(other: FieldSet): FieldSet {
    return this.#filter((path) => !other.has(path));
  }

  intersection(other: FieldSet): FieldSet {
    return this.#filter((path) => other.has(path));
  }

  equals(other: FieldSet): boolean {
    return this.#paths.size === other.#paths.size && this.difference(other).isEmpty;
  }

  #filter(isKept: (path: string) => boolean): FieldSet {
    return new FieldSet(new Set([...this.#paths].filter(isKept)));
  }

  /** The set with every named field above its paths: the owner of a field owns the path to it. */
  withNamedParents(): FieldSet {
    const paths = new Set(this.#paths);
    for (const path of this.#paths) {
      let parent = '';
      for (const element of pathElements(path).slice(0, -1)) {
        parent = childPath(parent, element);
        if (element.startsWith('f:')) paths.add(parent);
      }
    }
    return new FieldSet(paths);
  }

  /** The FieldsV1 form, keys sorted. */
  toFieldsV1(): Fields {
    const root: FieldNode = { isMember: false, children: new Map() };
    for (const path of this.#paths) {
      let node = root;
      for (const element of pathElements(path)) {
        const child = node.children.get(element) ?? { isMember: false, children: new Map() };
        node.children.set(element, child);
        node = child;
      }
      node.isMember = true;
    }
    return encodeNode(root);
  }
}

interface FieldNode {
  isMember: boolean;
  readonly children: Map<string, FieldNode>;
}

function collectPaths(fields: unknown, path: string, paths: Set<string>): void {
  if (!isObject(fields)) return;
  const entries = Object.entries(fields);
  if (entries.length === 0 && path !== '') paths.add(path);
  for (const [element, children] of entries) {
    if (element === SELF) paths.add(path);
    else collectPaths(children, childPath(path, element), paths);
  }
}

function encodeNode(node: FieldNode): Fields {
  const encoded: Record<string, Fields> = {};
  if (node.isMember && node.children.size > 0) encoded[SELF] = {};
  for (const element of [...node.children.keys()].toSorted()) {
    const child = node.children.get(element);
    if (child !== undefined) encoded[element] = encodeNode(child);
  }
  return encoded;
}

/** A path as conflict messages show it: `.spec.containers[name="a"].image`. */
export function pathString(path: string): string {
  return pathElements(path)
    .map((element) => {
      const content = element.slice(2);
      if (element.startsWith('f:')) return `.${content}`;
      if (element.startsWith('k:')) return `[${keyString(content)}]`;
      return `[=${content}]`;
    })
    .join('');
}

function keyString(content: string): string {
  const keys: unknown = JSON.parse(content);
  return Object.entries(fieldsOf(keys))
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',');
}
