const SCRIPT_NAME = /\.(?:ts|mts|js|mjs)$/;
/** No list goes on over a brace, so that no part of a text is looked through twice. */
const SDK_IMPORT = /\bimport\s*\{([^{}]*)\}\s*from\s*(['"])addon-operator\/sdk\2/g;
const DEFINE_HOOK = /\bdefineHook\b/;
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
  const imports = [...text.matchAll(SDK_IMPORT)];
  return imports.some(([, names = '']) => DEFINE_HOOK.test(names)) && DEFAULT_EXPORT.test(text);
}
