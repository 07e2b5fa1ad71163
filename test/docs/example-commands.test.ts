import { describeExampleCommands } from './example-commands-suite.ts';

describeExampleCommands('hooks and modules');
