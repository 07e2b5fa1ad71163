import { expect, test } from 'vitest';
import type { TestProject } from 'vitest/node';
import { EndedProjectsReporter, whenProjectEnds } from './ended-projects.ts';

test('the end of the last test file of a project is reported, each time its tests run', () => {
  const ended: string[] = [];
  const names = ['one', 'other'].map((name) => `ended-projects-test-${name}`);
  const [one, other] = names.map((name) => ({ project: { name } as TestProject }));
  if (one === undefined || other === undefined) throw new Error('there are two');
  const stops = names.map((name) => whenProjectEnds(name, () => ended.push(name)));
  const reporter = new EndedProjectsReporter();
  reporter.onTestRunStart([one, other, one]);
  reporter.onTestModuleEnd(one);
  expect(ended).toEqual([]);
  reporter.onTestModuleEnd(other);
  expect(ended).toEqual([names[1]]);
  reporter.onTestModuleEnd(one);
  expect(ended).toEqual([names[1], names[0]]);
  reporter.onTestRunStart([one]);
  reporter.onTestModuleEnd(one);
  expect(ended).toEqual([names[1], names[0], names[0]]);
  for (const stop of stops) stop();
  reporter.onTestRunStart([one]);
  reporter.onTestModuleEnd(one);
  expect(ended).toHaveLength(3);
});
