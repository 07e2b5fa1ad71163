/** The API for programs that load and run hooks and extensions: the operator and its threads. */
export { callExtension } from './call-extension.ts';
export { callHandler } from './call-handler.ts';
export { EXTENSIONS } from './define-extensions.ts';
export { FLOW_HOOKS } from './define-flow-hooks.ts';
export { isHookDefinition } from './define-hook.ts';
export { DEPLOY_BINDINGS } from './deploy-facts.ts';
export {
  type ExtensionDefinition,
  extensionDefinition,
  isExtensionDefinition,
} from './extension-definition.ts';
export { POINT_METHODS, type PointMethod } from './extension-points.ts';
export { FLOW_HOOK_TYPES, FlowHooks } from './flow-hooks.ts';
export { FrozenDocuments } from './frozen-documents.ts';
export { type HookOutputContents, type HookRunContents, recordHookRun } from './record-hook-run.ts';
export { type RunOutcome, runOutcomeOf } from './run-outcomes.ts';
