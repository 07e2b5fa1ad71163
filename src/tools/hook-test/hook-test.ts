export { DEPLOY_BINDINGS } from '@addon-operator/sdk/host';
export { type Mismatch, mismatches, type RunJq } from './match.ts';
export { type TestReportFormat, testReportText } from './report-formats.ts';
export { caseFailureText, countResults, type FileResult, impureText } from './report-text.ts';
export { type CaseFailure, type CaseOptions, type CaseResult, runCase } from './run-case.ts';
export { SnapshotFile } from './snapshot-file.ts';
export {
  type Action,
  type AdmissionStep,
  type ApiState,
  type CaseSetting,
  type ConvertStep,
  type DeployStep,
  type ObjectOrFile,
  type ReadTestFile,
  readTestFile,
  TEST_FILE_SCHEMA,
  type TestCase,
  type TestFile,
} from './test-file.ts';
export type {
  AdmissionFacts,
  ChangeFacts,
  ConversionFacts,
  ObjectName,
  ObservedRun,
  OutputLine,
  ReplayFacts,
  StepFacts,
  TestWorld,
} from './test-world.ts';
