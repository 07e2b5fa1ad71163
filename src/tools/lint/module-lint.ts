export { lintModule, type ModuleReport, ruleOf } from './lint.ts';
export type { LintFacts, ParsedModule } from './lint-facts.ts';
export type { LoadedModule, OperatorParsers } from './parse-module.ts';
export { type LintReportFormat, lintReportText, REPORT_FORMATS, ruleText } from './report.ts';
export { RULES } from './rules.ts';
export { type LintOptions, runLint, type WithParsers } from './run-lint.ts';
