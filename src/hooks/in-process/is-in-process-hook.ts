const SCRIPT_NAME = /\.(?:ts|mts|js|mjs)$/;
const DEFINE_HOOK = /\bimport\s*\{[^}]*\bdefineHook\b[^}]*\}\s*from\s*(['"])addon-operator\/sdk\1/;
const DEFAULT_EXPORT = /\bexport\s+default\b|\bas\s+default\b/;

/** Whether a file of this name may hold an in-process hook. */
export function isScriptName(name: string): boolean {
  return SCRIPT_NAME.test(name);
}

/**
 * Whether the text of a script is that of an in-process hook: it imports `defineHook` from `addon-operator/sdk`, and has
 * a default export. The text decides, since running a file to find out what it is would run executables by mistake.
 */
export function isInProcessHook(text: string): boolean {
  return DEFINE_HOOK.test(text) && DEFAULT_EXPORT.test(text);
}
