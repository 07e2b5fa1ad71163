import { isObject } from '@addon-operator/json';

/** A part of a patch, and the member of a copy that it is for. */
interface Step {
  readonly merged: Record<string, unknown>;
  readonly key: string;
  readonly patch: unknown;
}

/** Applies a JSON merge patch (RFC 7386) of any depth and returns the changed copy. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  const root: Record<string, unknown> = { value: target };
  const left: Step[] = [{ merged: root, key: 'value', patch }];
  for (let step = left.pop(); step !== undefined; step = left.pop()) {
    const { merged, key, patch } = step;
    if (!isObject(patch)) {
      merged[key] = patch;
      continue;
    }
    const target = merged[key];
    const copy = isObject(target) ? { ...target } : {};
    merged[key] = copy;
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) delete copy[key];
      else left.push({ merged: copy, key, patch: value });
    }
  }
  return root['value'];
}
