import { type Setting, setting } from './setting.ts';
import { textType, wordType } from './setting-type.ts';

/** Settings of extension points. */
export const EXTENSION_SETTINGS = {
  customizationsDir: setting(
    'customizations-dir',
    'ADDON_OPERATOR_CUSTOMIZATIONS_DIR',
    textType,
    '',
    'Directory with extensions for kinds of objects; empty means customizations next to the directory of global hooks.',
  ),
  flowHooksDir: setting(
    'flow-hooks-dir',
    'ADDON_OPERATOR_FLOW_HOOKS_DIR',
    textType,
    '',
    'Directory with flow hooks; empty means flow-hooks next to the directory of global hooks.',
  ),
  fatalDeployErrors: setting(
    'fatal-deploy-errors',
    'ADDON_OPERATOR_FATAL_DEPLOY_ERRORS',
    wordType(['retry', 'stop']),
    'retry',
    'What to do after the API server permanently rejects objects: retry, or stop until something changes.',
  ),
} satisfies Readonly<Record<string, Setting<unknown>>>;
