export { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
export { type Mismatch, mismatches, type RunJq } from './match.ts';
export { type ReportFormat, reportText } from './report-formats.ts';
export { countResults, type FileResult, failureText, impureText } from './report-text.ts';
export { type CaseFailure, type CaseOptions, type CaseResult, runCase } from './run-case.ts';
export { SnapshotFile } from './snapshot-file.ts';
export {
  type Action,
  type AdmissionStep,
  type ApiState,
  type ConversionStep,
  type DeployStep,
  type ObjectOrFile,
  type ReadTestFile,
  readTestFile,
  type Setting,
  TEST_FILE_SCHEMA,
  type TestCase,
  type TestFile,
} from './test-file.ts';
export type {
  AdmissionFacts,
  ChangeFacts,
  ConversionFacts,
  ObjectName,
  OutputLine,
  ReplayFacts,
  RunFacts,
  StepFacts,
  TestWorld,
} from './test-world.ts';
