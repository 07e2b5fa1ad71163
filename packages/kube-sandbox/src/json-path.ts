import { isObject } from '@addon-operator/json';
import { scalarString } from './json-access.ts';

type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | {
      readonly type: 'filter';
      readonly path: readonly string[];
      readonly value: string;
      readonly isWanted: boolean;
    };

const STEP =
  /\.((?:\\.|[^.[\]\\])+)|\[(-?\d+)\]|\[\*\]|\[\?\(\s*@\.([\w.-]+)\s*(==|!=)\s*["']([^"']*)["']\s*\)\]|\[["']([^"']+)["']\]/gy;

/** Values at a path as printer columns use it: fields, indexes, `[*]` and `[?(@.a=="b")]`; empty if it is not understood. */
export function jsonPathValues(value: unknown, path: string): readonly unknown[] {
  const steps = parseSteps(path.replace(/^\$/, ''));
  if (steps === undefined) return [];
  return steps.reduce<readonly unknown[]>(
    (values, step) => values.flatMap((item) => follow(item, step)),
    [value],
  );
}

function parseSteps(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let end = 0;
  for (const match of path.matchAll(STEP)) {
    const [text, field, index, filterPath, operator, filterValue, quoted] = match;
    end = match.index + text.length;
    if (field === '*' || text === '[*]') steps.push({ type: 'all' });
    else if (field !== undefined) steps.push({ type: 'field', name: field.replaceAll(/\\(.)/g, '$1') });
    else if (quoted !== undefined) steps.push({ type: 'field', name: quoted });
    else if (index !== undefined) steps.push({ type: 'index', index: Number(index) });
    else
      steps.push({
        type: 'filter',
        path: (filterPath ?? '').split('.'),
        value: filterValue ?? '',
        isWanted: operator === '==',
      });
  }
  return end === path.length ? steps : undefined;
}

function follow(value: unknown, step: Step): readonly unknown[] {
  switch (step.type) {
    case 'field':
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index':
      return Array.isArray(value) && value.at(step.index) !== undefined ? [value.at(step.index)] : [];
    case 'all':
      if (Array.isArray(value)) return value;
      return isObject(value) ? Object.values(value) : [];
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(item, step)) : [];
  }
}

function passes(item: unknown, step: Extract<Step, { type: 'filter' }>): boolean {
  let current = item;
  for (const name of step.path) current = isObject(current) ? current[name] : undefined;
  return (current !== undefined && scalarString(current) === step.value) === step.isWanted;
}
