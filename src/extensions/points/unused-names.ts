import { fieldsOf, type Json, stringsOf } from '@addon-operator/json';
import { didYouMean, similarWord } from '@addon-operator/json/similar-word';
import type { ApiResource } from '@addon-operator/kube-client/kube-object';
import { POINT_METHODS, type PointMethod } from '@addon-operator/sdk/host';

/** A kind from the name of a host file: the group is empty for the core group, the kind is in lower case. */
interface NamedKind {
  readonly group: string;
  readonly kind: string;
}

/** The problem of a host whose kind is not served. */
export function unservedKindProblem(wanted: NamedKind, served: readonly ApiResource[]): string {
  const meant = similarKind(wanted, served);
  const question = meant === undefined ? '' : ` (did you mean "${placeOf(meant)}"?)`;
  return `the API server does not serve a kind ${placeOf(wanted)}${question}; the extension has no effect until it does`;
}

/**
 * The kind that was probably meant: named by its plural or short name, misspelt, or of another
 * group. Aliases and spelling within the group come first, since a name may exist in several
 * groups.
 */
function similarKind({ group, kind }: NamedKind, served: readonly ApiResource[]): ApiResource | undefined {
  const isNamed = (resource: ApiResource): boolean =>
    [resource.kind, resource.plural, resource.singular, ...resource.shortNames].some(
      (name) => name.toLowerCase() === kind,
    );
  const ofGroup = served.filter((resource) => resource.group === group);
  const similar = similarWord(
    kind,
    ofGroup.map((resource) => resource.kind),
  );
  return (
    ofGroup.find(isNamed) ?? ofGroup.find((resource) => resource.kind === similar) ?? served.find(isNamed)
  );
}

/** The name of its file without the extension. */
function placeOf({ group, kind }: NamedKind): string {
  return `${group === '' ? 'core' : group}/${kind.toLowerCase()}`;
}

/**
 * One problem for each member of a host that resembles a method of a point but is never called.
 * Other members count as helpers, and so do those near a method that the host has too.
 *
 * @param description of the definition; older copies of the SDK do not list members
 */
export function unusedMethodProblems(description: Json, methods: readonly PointMethod[]): readonly string[] {
  const absent = POINT_METHODS.filter((method) => !methods.includes(method));
  return stringsOf(fieldsOf(description)['unused']).flatMap((name) => {
    if (POINT_METHODS.some((method) => method === name))
      return [`the member ${name} is not a function and is ignored`];
    const question = didYouMean(name, absent);
    return question === ''
      ? []
      : [`the method ${name} is never called: it is not an extension point${question}`];
  });
}
