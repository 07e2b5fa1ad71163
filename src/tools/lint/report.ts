import { readableLine } from '@addon-operator/strings/escape-controls';
import { xmlText } from '@addon-operator/strings/xml-text';
import { annotation } from '../annotation.ts';
import { countFindings, type LintFinding, type ModuleReport } from './lint.ts';
import { onlyWithText, type Rule } from './rule.ts';
import { RULES } from './rules.ts';

export const REPORT_FORMATS = ['text', 'json', 'sarif', 'junit', 'github'] as const;
export type LintReportFormat = (typeof REPORT_FORMATS)[number];

/** The reports as one text: lines that end with a line end. */
export function lintReportText(format: LintReportFormat, reports: readonly ModuleReport[]): string {
  switch (format) {
    case 'text':
      return plainText(reports);
    case 'json':
      return `${JSON.stringify(jsonOf(reports), null, 2)}\n`;
    case 'sarif':
      return `${JSON.stringify(sarifOf(reports), null, 2)}\n`;
    case 'junit':
      return junitOf(reports);
    case 'github':
      return reports.flatMap(annotations).join('');
  }
}

/** What a rule demands, and why. */
export function ruleText(rule: Rule): string {
  const { code, level, summary, explanation } = rule;
  return `${code} (${level}${onlyWithText(rule)})\n${summary}\n${explanation.replaceAll('`', '')}\n`;
}

function plainText(reports: readonly ModuleReport[]): string {
  const blocks = reports
    .filter(({ findings }) => findings.length > 0)
    .map(
      ({ directory, findings }) =>
        `${directory}\n${findings.map((finding) => `  ${findingLines(finding)}\n`).join('')}`,
    );
  const { error, warning } = countFindings(reports);
  const modules = counted(reports.length, 'module');
  const excluded = reports.reduce((sum, report) => sum + report.excluded, 0);
  const notes = excluded === 0 ? '' : `, ${excluded} excluded`;
  const total = `${modules}: ${counted(error, 'error')}, ${counted(warning, 'warning')}${notes}\n`;
  return `${blocks.join('')}${total}`;
}

function findingLines(finding: LintFinding): string {
  const { rule, level } = finding;
  const [first = '', ...others] = placedMessage(finding).split('\n').map(readableLine);
  return [
    `${level.padEnd('warning'.length)} ${first} (${rule})`,
    ...others.map((line) => `    ${line}`),
  ].join('\n');
}

function placedMessage({ path, object, message }: LintFinding): string {
  const place = [path, object].filter((part) => part !== undefined && part !== '').join(' ');
  return place === '' ? message : `${place}: ${message}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function jsonOf(reports: readonly ModuleReport[]): object {
  const { error, warning } = countFindings(reports);
  return {
    errors: error,
    warnings: warning,
    modules: reports.map(({ directory, findings, excluded }) => ({
      directory,
      excluded,
      findings: findings.map(({ rule, level, path, object, message, fix }) => ({
        rule,
        level,
        path,
        ...(object === undefined ? {} : { object }),
        message,
        isFixable: fix !== undefined,
      })),
    })),
  };
}

function pathOf({ directory }: ModuleReport, { path }: LintFinding): string {
  return path === '' ? directory : `${directory}/${path}`;
}

function sarifOf(reports: readonly ModuleReport[]): object {
  const rules = RULES.map(({ code, summary, explanation, level }) => ({
    id: code,
    shortDescription: { text: summary },
    help: { text: explanation },
    defaultConfiguration: { level },
  }));
  const results = reports.flatMap((report) =>
    report.findings.map((finding) => ({
      ruleId: finding.rule,
      level: finding.level,
      message: { text: placedMessage({ ...finding, path: '' }) },
      locations: [{ physicalLocation: { artifactLocation: { uri: encodeURI(pathOf(report, finding)) } } }],
    })),
  );
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [{ tool: { driver: { name: 'addon-operator module lint', rules } }, results }],
  };
}

function junitOf(reports: readonly ModuleReport[]): string {
  const suites = reports.map((report) => {
    const { directory, findings } = report;
    const tests = Math.max(1, findings.length);
    const cases = findings.map((finding) => {
      const message = xml(finding.message);
      const start = `    <testcase classname="${xml(pathOf(report, finding))}" name="${xml(finding.rule)}">`;
      return `${start}\n      <failure type="${finding.level}" message="${message}"/>\n    </testcase>\n`;
    });
    const clean = `    <testcase classname="${xml(directory)}" name="module lint"/>\n`;
    return `  <testsuite name="${xml(directory)}" tests="${tests}" failures="${findings.length}">\n${cases.length === 0 ? clean : cases.join('')}  </testsuite>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join('')}</testsuites>\n`;
}

function xml(text: string): string {
  return xmlText(text.split('\n').map(readableLine).join('\n'));
}

/** One for each finding. */
function annotations(report: ModuleReport): readonly string[] {
  return report.findings.map((finding) =>
    annotation(
      finding.level,
      { file: pathOf(report, finding), title: finding.rule },
      placedMessage({ ...finding, path: '' }),
    ),
  );
}
