/** No list goes on over a brace, so that no part of a text is looked through twice. */
const DEFAULT_EXPORT =
  /^\s*(?:export\s+default\b|export\s*\{[^{}]*\bas\s+default\b|module\.exports\b|exports\.default\b)/m;
/** Scripts of any sort, also those whose ending makes them no extension files. */
const SCRIPT = /\.[cm]?[jt]sx?$/;
const TEST_OR_TYPES = /\.(?:test|spec|d)\.[^.]+$/;
const CALLS = { defineExtensions: /\bdefineExtensions\s*\(/, defineFlowHooks: /\bdefineFlowHooks\s*\(/ };

/** Whether a file of this name may be a script that exports a definition, without being one that is loaded. */
export function mayExportDefinition(name: string): boolean {
  return SCRIPT.test(name) && !TEST_OR_TYPES.test(name);
}

/** Whether the text of a script probably has a definition made by this function as its default export. */
export function exportsDefinition(text: string, definer: keyof typeof CALLS): boolean {
  return CALLS[definer].test(text) && DEFAULT_EXPORT.test(text);
}
