import type { ResourceAccess } from './policy-rules.ts';

/**
 * Collects what was used of the API, fit to be granted: what was used in one namespace only is meant for that one, and
 * what was used in several for all there are, and will be.
 */
export class SeenAccess {
  readonly #seen = new Map<string, { access: ResourceAccess; readonly verbs: Set<string> }>();

  note(access: ResourceAccess): void {
    const key = `${access.group}/${access.resource}`;
    const known = this.#seen.get(key);
    if (known === undefined) {
      this.#seen.set(key, { access, verbs: new Set(access.verbs) });
      return;
    }
    for (const verb of access.verbs) known.verbs.add(verb);
    if (known.access.namespace === access.namespace) return;
    const { namespace: _, ...everywhere } = known.access;
    known.access = everywhere;
  }

  /** One entry for each resource. */
  get all(): readonly ResourceAccess[] {
    return [...this.#seen.values()].map(({ access, verbs }) => ({ ...access, verbs: [...verbs] }));
  }
}
