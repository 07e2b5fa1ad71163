export { isEqual } from './compare.ts';
export { Engine, type Program } from './engine.ts';
export { LimitError } from './flow.ts';
export { JqError } from './jq-error.ts';
export { parseValue } from './json-parser.ts';
export { toJson } from './json-text.ts';
export { JqSyntaxError } from './lexer.ts';
export type { Value } from './value.ts';
