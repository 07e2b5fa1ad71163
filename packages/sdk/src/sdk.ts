/** The face of the package for hook authors: `addon-operator/sdk`. */
export type { Json, JsonObject } from '@addon-operator/json';
export type {
  AdmissionRequest,
  BindingContext,
  ConversionRequest,
  KubernetesObject,
  SnapshotOf,
} from './binding-contexts.ts';
export { defineExtensions } from './define-extensions.ts';
export { defineFlowHooks } from './define-flow-hooks.ts';
export { defineHook, type HookDefinition } from './define-hook.ts';
export type { AuthorizationFailure, DeployBinding, DeployedModule, DeployFacts } from './deploy-facts.ts';
export type {
  Deleter,
  DeployError,
  ErrorClassifier,
  ExtensionHost,
  ManifestModifier,
  PostReconcileChecker,
  PreReconcileChecker,
  SuccessHandler,
} from './extension-points.ts';
export {
  block,
  type Classification,
  type ErrorDetails,
  errorDetails,
  notReady,
  type PostReconcileResult,
  type PreReconcileResult,
  proceed,
  ready,
} from './extension-results.ts';
export type {
  FlowHook,
  FlowHookInput,
  FlowHookSetup,
  FlowHooks,
  FlowHookType,
  FlowModule,
  FlowPhase,
  FlowTarget,
  HookResult,
} from './flow-hooks.ts';
export type {
  AdmissionBinding,
  ConversionBinding,
  HookConfig,
  HookSettings,
  KeyedQueue,
  KubernetesBinding,
  LifecycleBinding,
  OutcomeCodes,
  RetryBudget,
  ScheduleBinding,
} from './hook-config-types.ts';
export type {
  AdmissionResponse,
  ConversionResponse,
  HookHandler,
  HookInput,
  HookLog,
  HookMetrics,
  HookValues,
  JsonPatchOperation,
  KubernetesOperations,
  ObjectManifest,
  ObjectReference,
  ValuesPatchOperation,
} from './hook-input.ts';
export { PermanentError, TemporaryError } from './run-outcomes.ts';
