import { describeCommands } from './differential/command-suite.ts';
import { KUBECTL_SEQUENCES } from './differential/commands.ts';

describeCommands('kubectl', KUBECTL_SEQUENCES);
