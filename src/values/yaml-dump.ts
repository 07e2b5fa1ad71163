import { dump } from 'js-yaml';
import type { Json } from '../lib/json.ts';

/**
 * YAML with sorted keys and without anchors. Texts that any YAML version reads as something else are quoted, so every
 * reader gets the same data back.
 *
 * @param indent spaces per level
 */
export function dumpYaml(value: Json, indent: number): string {
  return dump(value, { indent, sortKeys: true, noRefs: true, lineWidth: -1 });
}
