/**
 * What a hook sees as `filterResult`: null for no output, the value itself for one, an array for several
 * (hook contract 4.4).
 */
export function filterResult(outputs: readonly unknown[]): unknown {
  return outputs.length > 1 ? outputs : (outputs[0] ?? null);
}
