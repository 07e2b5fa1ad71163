export { JqError } from './jq-error.ts';
export { compilePlain, type PlainProgram } from './plain-program.ts';
