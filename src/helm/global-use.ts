/** Where global values may be read: templates, and what decides about subcharts or checks values. */
const READERS =
  /(^|\/)(templates\/.*|Chart\.yaml|requirements\.yaml|values\.yaml|values\.schema\.json)$|\.tgz$/;
/** `.Values` in any form but that of one named field; methods of the Go type that hand out everything. */
const ALL_VALUES = /(?<!\.)Values|Values(?!\.[A-Za-z_])|Values\.(AsMap|Encode|PathValue|Table|YAML)\b/;
/** Names the global values, or evaluates texts that nobody has seen yet. */
const OTHER_WAYS = /global|\btpl\b|Subcharts/i;
const ACTION = /\{\{[\s\S]*?\}\}/g;
const COMMENT = /^\{\{-?\s*\/\*/;
const STRING = /"(?:\\.|[^"\\])*"|`[^`]*`/g;
/** Hands the context on to a named template, whose own text is looked at as well. */
const INCLUDE = /\b(?:include|template)\s+(?:""|\([^()]*\))\s+[.$](?=[\s)|}])/g;
/** `.` or `$` by itself, which may be the whole context: who prints it prints all values. */
const WHOLE_CONTEXT = /(?<![\w.$])\.(?![\w.])|\$(?!\w|\.[A-Za-z])/;

/** One file of a chart as text. */
export interface ChartText {
  readonly path: string;
  readonly text: string;
}

/**
 * Whether what a chart renders to may depend on global values. Only a chart that plainly takes single fields of
 * `.Values`, and never the whole of them or of its context, cannot; in any doubt the answer is yes.
 */
export function mayUseGlobals(files: readonly ChartText[]): boolean {
  return files.some(({ path, text }) => {
    if (!READERS.test(path)) return false;
    return OTHER_WAYS.test(text) || ALL_VALUES.test(text) || hasWholeContext(text);
  });
}

function hasWholeContext(text: string): boolean {
  for (const [action] of text.matchAll(ACTION)) {
    if (COMMENT.test(action)) continue;
    if (WHOLE_CONTEXT.test(action.replaceAll(STRING, '""').replaceAll(INCLUDE, ''))) return true;
  }
  return false;
}
