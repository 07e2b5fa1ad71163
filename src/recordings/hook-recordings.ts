/** The parts of this room for commands and tests; the recorder itself is imported by the operator directly. */

export { type RecordRequest, receiveRecordings } from './receive.ts';
export {
  fullNameOf,
  RECORDING_SCHEMA,
  type RecordedOutputs,
  type Recording,
  readRecording,
} from './recording.ts';
export { findRecordings, writeRecording } from './recording-files.ts';
export {
  countReplays,
  type ReplayAttempt,
  type ReplayedHook,
  type ReplayResult,
  replayOne,
} from './replay.ts';
export { bySeries, type RunEffects, sameEffects } from './run-effects.ts';
export { testFileOf } from './test-case.ts';
