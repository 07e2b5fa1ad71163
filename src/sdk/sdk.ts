/** The face of the package for hook authors: `addon-operator/sdk`. */
export type { Json, JsonObject } from '../lib/json.ts';
export type {
  AdmissionRequest,
  BindingContext,
  ConversionRequest,
  KubernetesObject,
  SnapshotOf,
} from './binding-contexts.ts';
export { defineHook, type HookDefinition } from './define-hook.ts';
export type {
  AdmissionBinding,
  ConversionBinding,
  HookConfig,
  HookSettings,
  KubernetesBinding,
  ScheduleBinding,
} from './hook-config.ts';
export type {
  AdmissionAnswer,
  ConversionAnswer,
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
