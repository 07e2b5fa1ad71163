import { describeExampleCommands } from './example-commands-suite.ts';

describeExampleCommands('extensions');
