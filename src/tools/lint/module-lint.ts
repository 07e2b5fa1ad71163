export { lintModule, type ModuleReport, ruleOf } from './lint.ts';
export type { ModuleFacts, ParsedModule } from './lint-facts.ts';
export type { LoadedModule, OperatorParsers } from './parse-module.ts';
export { REPORT_FORMATS, type ReportFormat, reportText, ruleText } from './report.ts';
export { RULES } from './rules.ts';
export { type LintOptions, runLint, type WithParsers } from './run-lint.ts';
