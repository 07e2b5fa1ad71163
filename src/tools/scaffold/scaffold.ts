export { type NewFile, writeNewFiles } from './files.ts';
export { LANGUAGES, type Language } from './languages.ts';
export { type NewHookOptions, newHook } from './new-hook.ts';
export { MODULE_PARTS, type NewModuleOptions, newModule } from './new-module.ts';
