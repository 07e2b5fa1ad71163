import { describeCommands } from './differential/command-suite.ts';
import { HELM_SEQUENCES } from './differential/commands.ts';

describeCommands('helm', HELM_SEQUENCES);
