import { isObject } from '../lib/json.ts';

const ACTION = /\{\{[\s\S]*?\}\}/g;
/** A literal without an action in it, or one of the functions, which is neither a field nor a variable. */
const TOKEN = /"(?:\\.|(?!\{\{)[^"\\\n])*"|`(?:(?!\{\{)[^`])*`|(?<![\w.$-])(?:now|ago|randInt)(?!\w)/g;

/**
 * What stands in for functions whose result may well be the same twice in a row. Without quotes: an action may stand in
 * a literal.
 */
const STAND_INS: ReadonlyMap<string, string> = new Map([
  // Another year, month, day, weekday, hour, minute and second.
  ['now', '(((now).AddDate 1 1 4).Add 47843000000000)'],
  ['ago', 'kindOf'],
  // The upper bound, which is never drawn.
  ['randInt', 'max'],
]);

/**
 * The same template, rendered at a quite different time: dates differ even where they are written without the time of
 * day, and small random numbers differ for certain.
 */
export function asOtherRendering(template: string): string {
  return template.replace(ACTION, (action) =>
    action.replace(TOKEN, (token) => STAND_INS.get(token) ?? token),
  );
}

/** The same for every text in the values of a chart, which may make templates of them (`tpl`). */
export function asOtherValues(values: unknown): unknown {
  if (typeof values === 'string') return asOtherRendering(values);
  if (Array.isArray(values)) return values.map(asOtherValues);
  if (!isObject(values)) return values;
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, asOtherValues(value)]));
}
